#include "tui/commands/fewer_print.h"

#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <stdio.h>

static bool find_fewer(const struct problem *p, const struct fewer_question *q, struct fewer *out)
{
    struct err e;

    return !fewer_devices(p, q, out, &e) && out->found;
}

void fewer_print(const struct problem *p, const struct fewer_question *q)
{
    struct str text = {0};
    struct fewer f;

    if (!find_fewer(p, q, &f))
        return;
    fewer_write(&f, &text);
    if (!text.failed)
        printf("  fewer devices   %s\n", text.text);
    str_release(&text);
}

static cJSON *as_json(const struct fewer *f)
{
    cJSON *o = cJSON_CreateObject();

    cJSON_AddNumberToObject(o, "step_time_ms", f->step_ms);
    cJSON_AddNumberToObject(o, "devices", f->devices);
    cJSON_AddStringToObject(o, "servers", f->servers);
    cJSON_AddItemToObject(o, "mesh", f->mesh[0] ? cJSON_CreateString(f->mesh) : cJSON_CreateNull());
    cJSON_AddStringToObject(o, "plan", fewer_names[f->kind]);
    cJSON_AddBoolToObject(o, "proven", f->proven);
    if (f->proven)
        cJSON_AddStringToObject(o, "proven_scope",
                                "strict plans on these devices and this mesh, within their memory");
    return o;
}

void fewer_add_json(const struct problem *p, const struct fewer_question *q, cJSON *out)
{
    struct fewer f;
    bool found = find_fewer(p, q, &f);

    cJSON_AddItemToObject(out, "fewer_devices", found ? as_json(&f) : cJSON_CreateNull());
}
