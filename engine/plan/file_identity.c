#include "engine/plan/file_identity.h"

#include "engine/cluster/cluster.h"
#include "engine/plan/plan_file.h"
#include "hlo/module/hlo.h"
#include "hlo/support/file.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

const struct json_field file_model_keys[] = {{"name", JSON_TEXT, NULL},
                                             {"instructions", JSON_WHOLE, NULL},
                                             {"fingerprint", JSON_TEXT, NULL},
                                             {0}};
const struct json_field file_cluster_keys[] = {{"name", JSON_TEXT, NULL},
                                               {"devices", JSON_WHOLE, NULL},
                                               {"fingerprint", JSON_TEXT, NULL},
                                               {0}};

void file_fingerprint_add(cJSON *o, uint64_t fingerprint)
{
    char text[24];

    snprintf(text, sizeof text, "%016llx", (unsigned long long)fingerprint);
    cJSON_AddStringToObject(o, "fingerprint", text);
}

void file_identity_add(const struct problem *p, cJSON *o)
{
    cJSON *model = cJSON_AddObjectToObject(o, "model"),
          *cluster = cJSON_AddObjectToObject(o, "cluster");

    cJSON_AddStringToObject(model, "name", p->file->name);
    cJSON_AddNumberToObject(model, "instructions", p->file->count);
    file_fingerprint_add(model, p->model_fingerprint);
    cJSON_AddStringToObject(cluster, "name", p->cluster.name);
    cJSON_AddNumberToObject(cluster, "devices", p->cluster.devices);
    file_fingerprint_add(cluster, cluster_fingerprint(&p->cluster));
}

static int check_one(const cJSON *root, const char *key, const char *here, uint64_t fingerprint,
                     struct err *e)
{
    uint64_t there;
    int rc = json_fingerprint(root, key, &there, e);

    if (rc || there == fingerprint)
        return rc;
    return err_set(e, ERR_INPUT, "the plan is for another %s: %.80s there, %.80s here", key,
                   json_text(json_get(root, key), "name"), here);
}

int file_identity_check(const struct problem *p, const cJSON *root, struct err *e)
{
    int rc = check_one(root, "model", p->file->name, p->model_fingerprint, e);

    return rc ? rc
              : check_one(root, "cluster", p->cluster.name, cluster_fingerprint(&p->cluster), e);
}

int file_json_save(cJSON *o, const char *path, struct err *e)
{
    char *text = o ? cJSON_Print(o) : NULL;
    int rc = text ? 0 : err_no_memory(e, "to write a plan");

    if (rc)
        goto out;
    if (hlo_file_write(path, text, strlen(text), FILE_REPLACE, e))
        rc = err_in_file(e, path);
out:
    cJSON_free(text);
    cJSON_Delete(o);
    return rc;
}

bool file_has_schema(const char *path, const char *schema)
{
    char head[256], quoted[64];
    struct stat s;
    bool is_file = strcmp(path, "-") && !stat(path, &s) && S_ISREG(s.st_mode);
    FILE *f = is_file ? fopen(path, "r") : NULL; /* a pipe cannot be read twice */
    size_t size = f ? fread(head, 1, sizeof head - 1, f) : 0;

    if (f)
        fclose(f);
    head[size] = '\0';
    snprintf(quoted, sizeof quoted, "\"%s\"", schema);
    return strstr(head, quoted);
}

int file_cluster_devices(const char *path, const char *schema, const struct json_field *fields,
                         uint32_t *devices, struct err *e)
{
    struct str text = {0};
    cJSON *root = NULL;
    int rc = hlo_file_read(path, PLAN_FILE_MOST, &text, e);

    if (rc)
        goto out;
    if (json_document(text.text ? text.text : "", text.size, schema, fields, &root, e))
        rc = err_in_file(e, path);
    if (rc)
        goto out;
    *devices =
        (uint32_t)fmin(json_number(json_get(root, "cluster"), "devices"), CLUSTER_DEVICES_MOST);
out:
    cJSON_Delete(root);
    str_release(&text);
    return rc;
}
