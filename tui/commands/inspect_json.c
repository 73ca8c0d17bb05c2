/* automap inspect --json: one object, keys as documented in tui/README.md. */
#include "engine/decide/classes.h"
#include "engine/decide/names.h"
#include "hlo/meaning/program.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/support/mem.h"
#include "hlo/text/write_text.h"
#include "tui/commands/inspect.h"
#include "tui/commands/inspect_kernels.h"

#include <math.h>
#include <string.h>

static void add_string(struct str *out, const char *text)
{
    str_add_char(out, '"');
    while (*text) { /* control characters were cleaned away at load */
        size_t plain = strcspn(text, "\"\\");
        str_add_bytes(out, text, plain);
        text += plain;
        if (*text) {
            str_add_char(out, '\\');
            str_add_char(out, *text++);
        }
    }
    str_add_char(out, '"');
}

static void add_key(struct str *out, const char *key)
{
    str_add(out, "  ");
    add_string(out, key);
    str_add(out, ": ");
}

static void add_count(struct str *out, const char *key, uint64_t value)
{
    add_key(out, key);
    str_format(out, "%llu,\n", (unsigned long long)value);
}

/* Whole numbers in full up to 2^53. */
static void add_figure(struct str *out, const char *key, double value)
{
    add_key(out, key);
    str_format(out, fabs(value) < 9e15 ? "%.0f,\n" : "%.17g,\n", value);
}

static void add_value(const struct inspection *in, hlo_value v, struct str *out)
{
    hlo_id id = in->m->value_instruction[v];

    str_add(out, "{\"name\": ");
    add_string(out, hlo_name(in->m, id));
    str_format(out, ", \"leaf\": %u", (unsigned)(v - in->m->leaf_base[id]));
}

static void add_loss(const struct inspection *in, struct str *out)
{
    add_key(out, "loss");
    if (in->roles.loss == HLO_NONE) {
        str_add(out, "null,\n");
        return;
    }
    add_value(in, in->roles.loss, out);
    str_format(out, ", \"evidence\": \"%s\", \"confidence\": \"%s\"},\n", in->roles.loss_source,
               hlo_confidence_names[in->roles.loss_confidence]);
}

static void add_params(const struct inspection *in, enum hlo_role role, const char *key,
                       struct str *out)
{
    const char *comma = "";

    add_key(out, key);
    str_add(out, "[");
    for (uint32_t p = 0; p < in->roles.param_count; p++) {
        const struct hlo_param_role *r = &in->roles.params[p];
        if (r->role != role)
            continue;
        str_format(out, "%s\n    {\"parameter\": %u, \"name\": ", comma, (unsigned)r->parameter);
        add_string(out, r->name);
        str_add(out, ", \"shape\": \"");
        hlo_write_shape(in->m, in->m->value_shape[r->value], false, out);
        str_add(out, "\", \"source\": \"");
        str_add(out, hlo_role_source_names[r->source]);
        str_add(out, "\", \"confidence\": \"");
        str_add(out, hlo_confidence_names[r->confidence]);
        str_add(out, "\", \"evidence\": \"");
        str_add(out, r->evidence);
        str_add(out, "\"}");
        comma = ",";
    }
    str_add(out, *comma ? "\n  ],\n" : "],\n");
}

static void add_opcodes(const struct inspection *in, struct str *out)
{
    const char *comma = "";

    add_key(out, "opcodes");
    str_add(out, "{");
    for (int op = 0; op < HLO_OP_COUNT; op++) {
        if (!in->m->opcode_count[op])
            continue;
        str_add(out, comma);
        add_string(out, op == HLO_OP_UNKNOWN ? "unknown" : hlo_op_info[op].name);
        str_format(out, ": %u", (unsigned)in->m->opcode_count[op]);
        comma = ", ";
    }
    str_add(out, "},\n");
}

static void add_phases(const struct inspection *in, struct str *out)
{
    add_key(out, "phases");
    for (int p = 0; p < HLO_PHASE_COUNT; p++)
        str_format(out, "%s\"%s\": %u", p ? ", " : "{", hlo_phase_names[p],
                   (unsigned)in->phases[p]);
    str_add(out, "},\n");
}

static void add_layers(const struct inspection *in, struct str *out)
{
    add_key(out, "layers");
    str_add(out, "[");
    for (uint32_t n = 1; n < in->roles.layer_count; n++) {
        str_add(out, n > 1 ? ",\n    {\"name\": " : "\n    {\"name\": ");
        add_string(out, in->roles.layer_names[n]);
        str_format(out, ", \"instructions\": %u, \"flops\": %.0f, \"times\": %u}",
                   (unsigned)in->layers[n], in->layer_flops[n], (unsigned)in->roles.layer_times[n]);
    }
    str_add(out, in->roles.layer_count > 1 ? "\n  ],\n" : "],\n");
    add_key(out, "layer_coverage");
    str_format(out, "%.4f,\n", in->roles.layer_coverage);
}

static void add_groups(const struct inspection *in, struct str *out)
{
    char name[NAME_ROOM];
    const char *comma = "";

    if (!in->show_groups)
        return;
    add_key(out, "groups");
    str_add(out, "[");
    for (class_id k = 0; k < in->classes.count; k++) {
        const struct class_info *info = &in->classes.info[k];
        if (!info->var_dims && !info->input_dims)
            continue;
        str_format(out, "%s\n    ", comma);
        add_string(out, class_name(&in->names, k, name));
        comma = ",";
    }
    str_add(out, *comma ? "\n  ],\n" : "],\n");
}

static void add_warnings(const struct inspection *in, struct str *out)
{
    add_key(out, "warnings");
    str_add(out, "[");
    for (uint32_t n = 0; n < in->m->warning_count; n++) {
        const struct hlo_warning *w = &in->m->warnings[n];
        str_add(out, n ? ",\n    {\"what\": " : "\n    {\"what\": ");
        add_string(out, w->what);
        str_format(out, ", \"line\": %u, \"col\": %u, \"count\": %u}", (unsigned)w->line,
                   (unsigned)w->col, (unsigned)w->count);
    }
    str_add(out, in->m->warning_count ? "\n  ]\n" : "]\n");
}

void inspect_json(const struct inspection *in, struct str *out)
{
    static const char *const formats[] = {[HLO_FORMAT_TEXT] = "text",
                                          [HLO_FORMAT_JSON] = "json",
                                          [HLO_FORMAT_PROTO] = "proto",
                                          [HLO_FORMAT_PROTO_TEXT] = "proto text",
                                          [HLO_FORMAT_STABLEHLO] = "stablehlo"};
    const struct hlo_module *m = in->m;

    str_add(out, "{\n");
    add_key(out, "schema");
    str_add(out, "\"automap.inspect/1\",\n");
    add_key(out, "format");
    str_format(out, "\"%s\",\n", formats[m->format]);
    add_key(out, "module");
    add_string(out, m->name);
    str_add(out, ",\n");
    add_key(out, "kind");
    add_string(out, hlo_program_names[in->program.kind]);
    str_add(out, ",\n");
    add_count(out, "collectives", in->program.collectives);
    if (in->sent.ms > 0) {
        add_figure(out, "communication_bytes", in->sent.bytes);
        add_key(out, "communication_ms");
        str_format(out, "%.9g,\n", in->sent.ms);
    }
    add_count(out, "computations", m->computation_count);
    add_count(out, "instructions", m->count);
    add_count(out, "parameters", m->computations[m->entry].param_count);
    add_opcodes(in, out);
    inspect_kernels_json(in, out);
    add_figure(out, "flops", in->costs.total_trips.flops);
    add_figure(out, "transcendentals", in->costs.total_trips.transcendentals);
    add_figure(out, "bytes", in->costs.total_trips.bytes);
    add_figure(out, "flops_loops_once", in->costs.total.flops);
    add_loss(in, out);
    add_params(in, HLO_ROLE_VARIABLE, "variables", out);
    add_params(in, HLO_ROLE_INPUT, "inputs", out);
    add_params(in, HLO_ROLE_OPTIMIZER_STATE, "optimizer_state", out);
    add_params(in, HLO_ROLE_HYPER, "hyper_parameters", out);
    add_params(in, HLO_ROLE_OTHER_STATE, "other_state", out);
    add_phases(in, out);
    add_layers(in, out);
    add_groups(in, out);
    add_warnings(in, out);
    str_add(out, "}\n");
}
