/* Kinds of fields that are messages with a text of their own. */
#include "hlo/proto/convert.h"
#include "hlo/proto/convert_kind.h"
#include "hlo/proto/hlo.pb-c.h"
#include "hlo/proto/reflect.h"
#include "hlo/support/mem.h"

#include <string.h>

/* ---- shapes, literals, shardings, and others with a file of their own ---- */

static void print_shape_field(const struct convert_value *v, struct str *out)
{
    const Xla__ShapeProto *p = *(Xla__ShapeProto **)hlo_reflect_at(v->m, v->f, 0);

    if (p)
        hlo_print_shape(p, out);
}
static bool take_shape_field(const struct convert_value *v, struct scan *s)
{
    Xla__ShapeProto **slot = hlo_reflect_slot(v->c->arena, v->m, v->f);

    return slot && (*slot = hlo_take_shape(v->c->arena, s));
}

static void print_layouts(const struct convert_value *v, struct str *out)
{
    const Xla__HloInstructionProto *p = convert_instruction(v);

    if (!p->constrain_layout)
        return;
    str_add_char(out, '{');
    for (size_t i = 0; i < p->n_operand_shapes_with_layout; i++) {
        if (i)
            str_add(out, ", ");
        hlo_print_shape(p->operand_shapes_with_layout[i], out);
    }
    str_add_char(out, '}');
}
static bool take_layouts(const struct convert_value *v, struct scan *s)
{
    Xla__HloInstructionProto *p = convert_instruction(v);

    p->constrain_layout = true;
    return hlo_scan_char(s, '{') &&
           hlo_take_shapes(v->c->arena, s, '}', &p->operand_shapes_with_layout,
                           &p->n_operand_shapes_with_layout);
}

static void print_literal_field(const struct convert_value *v, struct str *out)
{
    const Xla__LiteralProto *p = convert_instruction(v)->literal;

    if (!p || !p->shape)
        return;
    hlo_print_shape(p->shape, out);
    str_add_char(out, ' ');
    if (!hlo_print_literal(p, v->c->arena, out))
        str_clear(out);
}
/* literal=f32[2] {1, 2} */
static bool take_literal_field(const struct convert_value *v, struct scan *s)
{
    Xla__ShapeProto *shape = hlo_take_shape(v->c->arena, s);

    return shape && (convert_instruction(v)->literal = hlo_take_literal(v->c->arena, s, shape));
}

static void print_sharding_field(const struct convert_value *v, struct str *out)
{
    const Xla__OpSharding *p = *(Xla__OpSharding **)hlo_reflect_at(v->m, v->f, 0);

    if (p)
        hlo_print_sharding(p, out);
}
static bool take_sharding_field(const struct convert_value *v, struct scan *s)
{
    Xla__OpSharding **slot = hlo_reflect_slot(v->c->arena, v->m, v->f);

    return slot && (*slot = hlo_take_sharding(v->c->arena, s));
}

static void print_domain(const struct convert_value *v, struct str *out)
{
    static Xla__OpSharding none = XLA__OP_SHARDING__INIT;
    const Xla__HloInstructionProto *p = convert_instruction(v);

    if (!p->domain_entry_sharding && !p->domain_exit_sharding)
        return;
    /* In text, entry is the side of the users; in the message, that of the operand. */
    str_add(out, "{kind=\"sharding\", entry=");
    hlo_print_sharding(p->domain_exit_sharding ? p->domain_exit_sharding : &none, out);
    str_add(out, ", exit=");
    hlo_print_sharding(p->domain_entry_sharding ? p->domain_entry_sharding : &none, out);
    str_add_char(out, '}');
}
static bool take_domain(const struct convert_value *v, struct scan *s)
{
    Xla__HloInstructionProto *p = convert_instruction(v);

    return hlo_scan_text(s, "{") && hlo_scan_text(s, "kind=\"sharding\"") &&
           hlo_scan_char(s, ',') && hlo_scan_text(s, "entry=") &&
           (p->domain_exit_sharding = hlo_take_sharding(v->c->arena, s)) && hlo_scan_char(s, ',') &&
           hlo_scan_text(s, "exit=") &&
           (p->domain_entry_sharding = hlo_take_sharding(v->c->arena, s)) && hlo_scan_char(s, '}');
}

static void print_groups_field(const struct convert_value *v, struct str *out)
{
    hlo_print_groups(convert_instruction(v), out);
}
static bool take_groups_field(const struct convert_value *v, struct scan *s)
{
    return hlo_take_groups(v->c->arena, s, convert_instruction(v));
}

static void print_metadata_field(const struct convert_value *v, struct str *out)
{
    const Xla__OpMetadata *p = convert_instruction(v)->metadata;

    if (!p)
        return;
    str_add_char(out, '{');
    hlo_print_metadata(p, out);
    if (out->size == 1)
        str_clear(out);
    else
        str_add_char(out, '}');
}
static bool take_metadata_field(const struct convert_value *v, struct scan *s)
{
    return (convert_instruction(v)->metadata = hlo_take_metadata(v->c->arena, s));
}

static void print_dict_field(const struct convert_value *v, struct str *out)
{
    const Xla__FrontendAttributes *p = convert_instruction(v)->frontend_attributes;

    if (p && p->n_map)
        hlo_print_dict(p, out);
}
static bool take_dict_field(const struct convert_value *v, struct scan *s)
{
    return (convert_instruction(v)->frontend_attributes = hlo_take_dict(v->c->arena, s));
}

static void print_origin(const struct convert_value *v, struct str *out)
{
    const Xla__HloInstructionProto *p = convert_instruction(v);

    if (p->original_value && p->shape)
        hlo_print_original(p->original_value, p->shape, out);
}
static bool take_origin(const struct convert_value *v, struct scan *s)
{
    return (convert_instruction(v)->original_value = hlo_take_original(v->c->arena, s));
}

static void print_backend_config(const struct convert_value *v, struct str *out)
{
    const Xla__HloInstructionProto *p = convert_instruction(v);
    ProtobufCBinaryData data = p->backend_config;

    if (!data.len && p->backend_config_payload)
        data = p->backend_config_payload->value;
    if (data.len)
        hlo_print_config((const char *)data.data, data.len, out);
}
static bool take_backend_config(const struct convert_value *v, struct scan *s)
{
    size_t size;
    char *text = hlo_scan_string(s, v->c->arena, &size);

    if (!text)
        return false;
    convert_instruction(v)->backend_config = (ProtobufCBinaryData){size, (uint8_t *)text};
    return true;
}

static void print_statistics(const struct convert_value *v, struct str *out)
{
    const Xla__StatisticsViz *p = convert_instruction(v)->statistics_viz;

    if (!p || !p->n_statistics)
        return;
    str_format(out, "{visualizing_index=%lld", (long long)p->stat_index_to_visualize);
    for (size_t i = 0; i < p->n_statistics; i++) {
        str_format(out, ",%s=", p->statistics[i]->stat_name);
        str_format(out, "%.6g", p->statistics[i]->stat_val);
    }
    str_add_char(out, '}');
}
static bool take_statistics(const struct convert_value *v, struct scan *s)
{
    struct arena *a = v->c->arena;
    Xla__StatisticsViz *p =
        (Xla__StatisticsViz *)hlo_reflect_new(a, &xla__statistics_viz__descriptor);
    struct scan word;

    convert_instruction(v)->statistics_viz = p;
    if (!p || !hlo_scan_char(s, '{') || !hlo_scan_key(s, "visualizing_index") ||
        !hlo_scan_int(s, &p->stat_index_to_visualize))
        return false;
    while (hlo_scan_char(s, ',')) {
        Xla__Statistic *one = (Xla__Statistic *)hlo_reflect_new(a, &xla__statistic__descriptor);
        if (!one || !hlo_scan_word(s, &word) || !hlo_scan_char(s, '=') ||
            !hlo_scan_real(s, &one->stat_val) ||
            !(one->stat_name = arena_text(a, word.at, (size_t)(word.end - word.at))) ||
            !hlo_convert_append(a, (void ***)&p->statistics, &p->n_statistics, one))
            return false;
    }
    return hlo_scan_char(s, '}');
}

static void print_accuracy(const struct convert_value *v, struct str *out)
{
    const Xla__ResultAccuracy *p = convert_instruction(v)->result_accuracy;

    if (p && p->tolerance) {
        str_add(out, "{tolerance={atol=");
        hlo_print_real(p->tolerance->atol, out);
        str_add(out, ",rtol=");
        hlo_print_real(p->tolerance->rtol, out);
        str_format(out, ",ulps=%lld}}", (long long)p->tolerance->ulps);
    } else if (p && p->mode == XLA__RESULT_ACCURACY__MODE__HIGHEST) {
        str_add(out, "{mode=highest}");
    }
}
static bool take_tolerance(struct scan *s, Xla__ResultAccuracy__Tolerance *t)
{
    if (!hlo_scan_char(s, '{'))
        return false;
    while (!hlo_scan_char(s, '}')) {
        bool done = hlo_scan_key(s, "atol")   ? hlo_scan_real(s, &t->atol)
                    : hlo_scan_key(s, "rtol") ? hlo_scan_real(s, &t->rtol)
                    : hlo_scan_key(s, "ulps") ? hlo_scan_int(s, &t->ulps)
                                              : hlo_scan_char(s, ',');
        if (!done)
            return false;
    }
    return true;
}
static bool take_accuracy(const struct convert_value *v, struct scan *s)
{
    Xla__ResultAccuracy *p =
        (Xla__ResultAccuracy *)hlo_reflect_new(v->c->arena, &xla__result_accuracy__descriptor);

    convert_instruction(v)->result_accuracy = p;
    if (!p || !hlo_scan_char(s, '{'))
        return false;
    if (hlo_scan_key(s, "mode")) {
        bool highest = hlo_scan_text(s, "highest");
        p->mode =
            highest ? XLA__RESULT_ACCURACY__MODE__HIGHEST : XLA__RESULT_ACCURACY__MODE__DEFAULT;
        return (highest || hlo_scan_text(s, "default")) && hlo_scan_char(s, '}');
    }
    p->tolerance = (Xla__ResultAccuracy__Tolerance *)hlo_reflect_new(
        v->c->arena, &xla__result_accuracy__tolerance__descriptor);
    return p->tolerance && hlo_scan_key(s, "tolerance") && take_tolerance(s, p->tolerance) &&
           hlo_scan_char(s, '}');
}

const struct convert_kind hlo_kind_shape = {print_shape_field, take_shape_field};
const struct convert_kind hlo_kind_layouts = {print_layouts, take_layouts};
const struct convert_kind hlo_kind_literal = {print_literal_field, take_literal_field};
const struct convert_kind hlo_kind_sharding = {print_sharding_field, take_sharding_field};
const struct convert_kind hlo_kind_domain = {print_domain, take_domain};
const struct convert_kind hlo_kind_groups = {print_groups_field, take_groups_field};
const struct convert_kind hlo_kind_metadata = {print_metadata_field, take_metadata_field};
const struct convert_kind hlo_kind_dict = {print_dict_field, take_dict_field};
const struct convert_kind hlo_kind_origin = {print_origin, take_origin};
const struct convert_kind hlo_kind_config = {print_backend_config, take_backend_config};
const struct convert_kind hlo_kind_statistics = {print_statistics, take_statistics};
const struct convert_kind hlo_kind_accuracy = {print_accuracy, take_accuracy};
