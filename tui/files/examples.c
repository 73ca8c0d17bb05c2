#include "tui/files/examples.h"

#include "engine/cluster/cluster.h"
#include "engine/text/yaml.h"
#include "hlo/support/mem.h"
#include "tui/files/user_files.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static int read_count(const struct yaml_doc *d, const struct yaml *map, const char *key,
                      int64_t *out, struct err *e)
{
    const struct yaml *node = yaml_get(map, key);
    char *end = NULL;

    *out = node && node->text ? strtoll(node->text, &end, 10) : -1;
    if (!end || *end || *out < 0)
        return yaml_wrong(d, node ? node->mark : map->mark, e, "%s: a count expected", key);
    return 0;
}

static int read_model(const struct yaml_doc *d, const struct yaml *value, struct example_model *m,
                      struct err *e)
{
    const struct yaml *about = yaml_get(value, "about");

    if (!about || !about->text ||
        snprintf(m->name, sizeof m->name, "%s", value->key) >= (int)sizeof m->name)
        return yaml_wrong(d, value->key_mark, e,
                          "NAME: {about, instructions, variables, dims} expected");
    snprintf(m->about, sizeof m->about, "%s", about->text);
    if (read_count(d, value, "instructions", &m->instructions, e) ||
        read_count(d, value, "variables", &m->variables, e))
        return e->code;
    return read_count(d, value, "dims", &m->dims, e);
}

int examples_models(struct example_model *out, int *count, const char *data_dir, struct err *e)
{
    char path[PATH_MAX], *text = NULL;
    struct yaml_doc d;
    size_t size = 0;
    int rc = 0;

    *count = 0;
    snprintf(path, sizeof path, "%s/examples/models/index.yaml", data_dir);
    if (file_read(&text, &size, path, SETTINGS_MOST, e))
        return e->code;
    if (yaml_read(&d, text, size, e)) {
        free(text);
        return err_in_file(e, path);
    }
    const struct yaml *v = d.root && d.root->kind == YAML_MAP ? d.root->first : NULL;
    for (; *count < EXAMPLES_MOST && v; v = v->next) {
        rc = read_model(&d, v, &out[*count], e);
        *count += rc == 0;
        if (rc)
            goto out;
    }
out:
    yaml_release(&d);
    free(text);
    return rc ? err_in_file(e, path) : 0;
}

static int by_size(const void *a, const void *b)
{
    const struct example_cluster *x = a, *y = b;
    struct cluster first;
    cluster_default(&first);
    int xf = !strcmp(x->name, first.name), yf = !strcmp(y->name, first.name);
    if (xf != yf)
        return yf - xf;
    return strcmp(x->name, y->name);
}

int examples_clusters(struct example_cluster *out, const char *data_dir)
{
    char path[PATH_MAX];
    int count = 0;

    snprintf(path, sizeof path, "%s/examples/clusters", data_dir);
    DIR *dir = opendir(path);
    if (!dir)
        return 0;
    struct cluster *c = mem_alloc(sizeof *c);
    for (struct dirent *entry; count < EXAMPLES_MOST && (entry = readdir(dir));) {
        size_t size = strlen(entry->d_name);
        struct err ignored = {0};
        if (size < 6 || strcmp(entry->d_name + size - 5, ".yaml") != 0)
            continue;
        snprintf(path, sizeof path, "%s/examples/clusters/%s", data_dir, entry->d_name);
        if (cluster_load(c, path, &ignored))
            continue; /* opening it by name says what is wrong with it */
        struct example_cluster *e = &out[count++];
        snprintf(e->name, sizeof e->name, "%.*s", (int)(size - 5), entry->d_name);
        cluster_label(c, e->label, sizeof e->label);
        cluster_label_link(c, e->link, sizeof e->link);
        e->devices = c->devices;
    }
    free(c);
    closedir(dir);
    qsort(out, (size_t)count, sizeof *out, by_size);
    return count;
}

static bool is_plain_name(const char *name)
{
    return name[0] && name[0] != '.' && !strchr(name, '/');
}

static bool resolve_example(char *out, size_t room, const char *name, const char *shipped)
{
    const char *path = file_is_there(name) || !shipped ? name : shipped;
    if (!file_is_there(path) || strlen(path) >= room)
        return false;
    memcpy(out, path, strlen(path) + 1);
    return true;
}

bool examples_model_path(char *out, size_t room, const char *data_dir, const char *name)
{
    char shipped[PATH_MAX];
    bool plain = data_dir && is_plain_name(name);

    if (plain)
        snprintf(shipped, sizeof shipped, "%s/examples/models/%s.meta.hlo.txt.gz", data_dir, name);
    return resolve_example(out, room, name, plain ? shipped : NULL);
}

bool examples_cluster_path(char *out, size_t room, const char *data_dir, const char *name)
{
    char shipped[PATH_MAX];
    bool plain = data_dir && is_plain_name(name);

    if (plain)
        snprintf(shipped, sizeof shipped, "%s/examples/clusters/%s.yaml", data_dir, name);
    return resolve_example(out, room, name, plain ? shipped : NULL);
}
