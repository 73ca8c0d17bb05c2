#include "engine/hybrid/by_value_text.h"

#include "engine/hybrid/by_value.h"
#include "engine/hybrid/hybrid.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/problem/problem.h"
#include "engine/text/units.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/support/mem.h"

#include <math.h>

enum { ROWS_SHOWN = 8 };

static const char *opcode_of(const struct hlo_module *m, hlo_id id)
{
    uint16_t opcode = hlo_at(m, id)->opcode;

    return opcode < HLO_OP_UNKNOWN ? hlo_op_info[opcode].name : "operation";
}

static const char *source_of(const struct hlo_module *m, hlo_id id, char *out, size_t room)
{
    const struct hlo_meta *meta = hlo_meta(m, id);

    if (!meta->source_file || !meta->source_file[0])
        return "";
    snprintf(out, room, "%.100s:%u", meta->source_file, meta->source_line);
    return out;
}

static void write_row(const struct hybrid *h, const struct by_value_row *r, struct str *out)
{
    const struct hlo_module *m = h->problem->m;
    char a[UNITS_ROOM], b[UNITS_ROOM], source[128];

    str_format(out, "    %5u x %-22s %10s %10s  %s  %s\n", r->again, opcode_of(m, r->id),
               units_bytes(a, r->bytes), units_ms(b, r->ms), r->scope,
               source_of(m, r->id, source, sizeof source));
}

/* The least of what is computed again counts the copies too, so with them it stands here. */
static void write_host(const struct by_value *v, struct str *out)
{
    char a[UNITS_ROOM], b[UNITS_ROOM], c[UNITS_ROOM];

    if (v->host_bytes > 0)
        str_format(out,
                   "    on the host %s of a micro-batch; its copies show %s (least of all that is "
                   "added %s)\n",
                   units_bytes(a, v->host_bytes), units_ms(b, v->host_ms),
                   units_ms(c, v->bound_ms));
}

static void write_stage(const struct hybrid *h, uint32_t n, struct str *out)
{
    const struct hybrid_stage *s = &h->stage[n];
    const struct by_value *v = &s->by_value;
    char a[UNITS_ROOM], b[UNITS_ROOM];

    str_format(out, "  stage %u: %s of %s with %u micro-batches in flight; ", n,
               units_bytes(a, v->memory_bytes),
               isfinite(s->limit_bytes) ? units_bytes(b, s->limit_bytes) : "any", v->in_flight);
    if (v->point.recompute) {
        str_add(out, "its forward passes run again\n");
        return;
    }
    if (!v->row_count) {
        str_add(out, "keeps everything\n");
        write_host(v, out);
        return;
    }
    str_format(out, "its backward pass of %s computes again, in %s",
               units_ms(a, v->point.both_ms - v->point.forward_ms),
               units_ms(b, v->added_ms - v->host_ms));
    if (!(v->host_bytes > 0))
        str_format(out, " (least %s)", units_ms(a, v->bound_ms));
    str_add(out, ":\n");
    for (uint32_t r = 0; r < v->row_count && r < ROWS_SHOWN; r++)
        write_row(h, &v->rows[r], out);
    if (v->row_count > ROWS_SHOWN)
        str_format(out, "    and %u kinds more\n", v->row_count - ROWS_SHOWN);
    write_host(v, out);
}

void by_value_write(const struct hybrid *h, struct str *out)
{
    char a[UNITS_ROOM];

    if (!(h->by_value_ms > 0))
        return;
    if (!isfinite(h->by_value_ms)) {
        str_add(out, "  by value: some stage does not fit, whatever it computes again\n");
        return;
    }
    str_format(out, "  kept by value: a step of %s, schedule %s", units_ms(a, h->by_value_ms),
               h->chunks > 1 ? "1f1b, interleaved: stages of one group share its memory"
                             : pipe_schedule_names[h->by_value_schedule]);
    str_add(out, "; of each stage what it computes again\n");
    for (uint32_t n = 0; n < h->stages; n++)
        write_stage(h, n, out);
}

cJSON *by_value_json(const struct hybrid *h, const struct hybrid_stage *s)
{
    const struct hlo_module *m = h->problem->m;
    const struct by_value *v = &s->by_value;
    cJSON *o = cJSON_CreateObject();
    char source[128];

    cJSON_AddBoolToObject(o, "recompute", v->point.recompute);
    cJSON_AddNumberToObject(o, "backward_ms", v->point.both_ms - v->point.forward_ms);
    cJSON_AddNumberToObject(o, "in_flight", v->in_flight);
    cJSON_AddNumberToObject(o, "fixed_bytes", v->point.fixed_bytes);
    cJSON_AddNumberToObject(o, "stash_bytes", v->point.stash_bytes);
    cJSON_AddNumberToObject(o, "memory_bytes", v->memory_bytes);
    if (v->host_bytes > 0) {
        cJSON_AddNumberToObject(o, "host_bytes", v->host_bytes);
        cJSON_AddNumberToObject(o, "host_ms", v->host_ms);
    }
    cJSON *all = cJSON_AddArrayToObject(o, "again");
    for (uint32_t r = 0; r < v->row_count; r++) {
        cJSON *row = cJSON_CreateObject();
        cJSON_AddStringToObject(row, "scope", v->rows[r].scope);
        cJSON_AddStringToObject(row, "operation", opcode_of(m, v->rows[r].id));
        cJSON_AddStringToObject(row, "source", source_of(m, v->rows[r].id, source, sizeof source));
        cJSON_AddNumberToObject(row, "values", v->rows[r].again);
        cJSON_AddNumberToObject(row, "bytes", v->rows[r].bytes);
        cJSON_AddNumberToObject(row, "ms", v->rows[r].ms);
        cJSON_AddItemToArray(all, row);
    }
    return o;
}
