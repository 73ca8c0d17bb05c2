#include "engine/decide/partitioner.h"

#include "engine/decide/partitioner_builtin.h"
#include "engine/kernels/kernel_text.h"
#include "engine/text/yaml.h"
#include "hlo/module/attr.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/file.h"

#include <stdio.h>
#include <string.h>

enum { FILE_MOST = 1 << 20, TARGET_ROOM = 256 };
enum { RUNS_WHOLE, SUMS_EVERYWHERE, LOSES_PARTS };

static const char *const deeds[] = {[RUNS_WHOLE] = "runs whole",
                                    [SUMS_EVERYWHERE] = "sums over all devices",
                                    [LOSES_PARTS] = "loses parts"};

/* ---- conditions ---- */

static bool always(const struct hlo_module *m, hlo_id id)
{
    (void)m;
    (void)id;
    return true;
}

/* Features of a group; 0: the convolution has no feature groups. */
static int64_t features_a_group(const struct hlo_module *m, hlo_id id, struct hlo_conv_dims *d)
{
    const struct hlo_attr *a = hlo_attr(m, id, HLO_ATTR_DIM_LABELS);

    if (hlo_attr_int(m, id, HLO_ATTR_FEATURE_GROUP_COUNT, 1) < 2 || !a ||
        hlo_at(m, id)->operand_count < 2 || !hlo_parse_conv_dims(a->text, a->size, d))
        return 0;
    return hlo_shape(m, hlo_operand(m, id, 1))->dims[d->kernel_in];
}

/* Groups of several features each; one feature a group (depthwise) it splits. */
static bool has_wide_groups(const struct hlo_module *m, hlo_id id)
{
    struct hlo_conv_dims d;

    return features_a_group(m, id, &d) > 1;
}

/* One feature a group, and the dims of the result permute those of the input in a way that its
 * inverse takes the features elsewhere: XLA uses the one for the other. Parts of the result are
 * zeros then (f01b_i01o->01bf, as the gradient of each example alone has it; run on CPU). */
static bool has_turned_groups(const struct hlo_module *m, hlo_id id)
{
    struct hlo_conv_dims d;
    uint8_t to[HLO_RANK_MAX + 2] = {0};

    if (features_a_group(m, id, &d) != 1)
        return false;
    to[d.in_batch] = d.out_batch;
    to[d.in_feature] = d.out_feature;
    for (uint8_t k = 0; k < d.spatial_count; k++)
        to[d.in_spatial[k]] = d.out_spatial[k];
    return to[d.out_feature] != d.in_feature;
}

static bool has_batch_groups(const struct hlo_module *m, hlo_id id)
{
    return hlo_attr_int(m, id, HLO_ATTR_BATCH_GROUP_COUNT, 1) > 1;
}

/* XLA pads windows that do not end with a part by infinities, and knows only for some choices which
 * one is never taken: of f32 and bf16, the larger or the smaller of the two elements itself. */
static bool has_odd_choice(const struct hlo_module *m, hlo_id id)
{
    static const char *const ordered[] = {"GE", "GT", "LE", "LT"};
    uint8_t type = hlo_shape(m, id)->type;

    if ((type != HLO_F32 && type != HLO_BF16) || !hlo_at(m, id)->called_count)
        return true;
    hlo_id root = m->computations[hlo_called(m, id, 0)].root;
    if (hlo_at(m, root)->opcode != HLO_OP_COMPARE ||
        hlo_operand(m, root, 0) == hlo_operand(m, root, 1))
        return true;
    for (uint32_t k = 0; k < 2; k++)
        if (hlo_at(m, hlo_operand(m, root, k))->opcode != HLO_OP_PARAMETER)
            return true;
    for (size_t k = 0; k < sizeof ordered / sizeof *ordered; k++)
        if (hlo_attr_is(m, root, HLO_ATTR_DIRECTION, ordered[k]))
            return false;
    return true;
}

static const struct {
    const char *name;
    bool (*holds)(const struct hlo_module *m, hlo_id id);
} conditions[] = {{"always", always},
                  {"wide groups", has_wide_groups},
                  {"turned groups", has_turned_groups},
                  {"batch groups", has_batch_groups},
                  {"odd choice", has_odd_choice}};

enum {
    CONDITION_COUNT = sizeof conditions / sizeof *conditions,
    DEED_COUNT = sizeof deeds / sizeof *deeds
};

/* ---- reading ---- */

static int copy_text(struct partitioner *p, const struct yaml *y, const char **out, struct err *e)
{
    *out = y ? arena_text(&p->arena, y->text, strlen(y->text)) : NULL;
    return y && !*out ? err_no_memory(e, "for the partitioner's table") : 0;
}

static int check_row(const struct yaml_doc *d, const struct yaml *row, struct err *e)
{
    static const char *const known[] = {"opcode", "target", "when", "does", "why"};

    if (row->kind != YAML_MAP)
        return yaml_wrong(d, row->mark, e, "%s, expected a row: opcode or target, does, why",
                          yaml_kind_name(row->kind));
    for (const struct yaml *y = row->first; y; y = y->next) {
        bool is_known = false;
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            is_known |= !strcmp(known[k], y->key);
        if (!is_known)
            return yaml_wrong(d, y->key_mark, e,
                              "unknown key %.40s, expected opcode, target, when, does or why",
                              y->key);
        if (!y->text)
            return yaml_wrong(d, y->mark, e, "%s, expected words", yaml_kind_name(y->kind));
    }
    if (!yaml_get(row, "opcode") == !yaml_get(row, "target"))
        return yaml_wrong(d, row->mark, e, "a row of %s, expected one of opcode and target",
                          yaml_get(row, "opcode") ? "both" : "neither");
    if (!yaml_get(row, "does") || !yaml_get(row, "why"))
        return yaml_wrong(d, row->mark, e, "a row without %s",
                          yaml_get(row, "does") ? "why" : "does");
    return 0;
}

/* Which opcodes the row is of; none of them is a mistake. */
static int mark_opcodes(struct partitioner *p, const struct yaml_doc *d, const struct yaml *row,
                        struct err *e)
{
    const struct partitioner_row *r = &p->rows[p->row_count];
    bool fits = false;

    for (uint32_t k = 0; k < HLO_OP_COUNT; k++) {
        bool is_of = r->target ? k == HLO_OP_CUSTOM_CALL
                               : k < HLO_OP_UNKNOWN && kernel_glob(r->opcode, hlo_op_info[k].name);
        p->rows_of[k] |= (uint64_t)is_of << p->row_count;
        fits |= is_of;
    }
    return fits ? 0
                : yaml_wrong(d, yaml_get(row, "opcode")->mark, e, "no opcode is called %.40s",
                             r->opcode);
}

static int read_row(struct partitioner *p, const struct yaml_doc *d, const struct yaml *row,
                    struct err *e)
{
    struct partitioner_row *r = &p->rows[p->row_count];
    const struct yaml *when = yaml_get(row, "when"), *does = yaml_get(row, "does");

    while (when && r->when < CONDITION_COUNT && strcmp(conditions[r->when].name, when->text) != 0)
        r->when++;
    if (r->when == CONDITION_COUNT)
        return yaml_wrong(d, when->mark, e,
                          "when %.40s, expected wide, turned or batch groups, or odd choice",
                          when->text);
    while (r->does < DEED_COUNT && strcmp(deeds[r->does], does->text) != 0)
        r->does++;
    if (r->does == DEED_COUNT)
        return yaml_wrong(d, does->mark, e,
                          "does %.40s, expected runs whole, sums over all devices or loses parts",
                          does->text);
    int rc = copy_text(p, yaml_get(row, "opcode"), &r->opcode, e);
    rc = rc ? rc : copy_text(p, yaml_get(row, "target"), &r->target, e);
    rc = rc ? rc : copy_text(p, yaml_get(row, "why"), &r->why, e);
    rc = rc ? rc : mark_opcodes(p, d, row, e);
    p->row_count++;
    return rc;
}

static int read_table(struct partitioner *p, const struct yaml_doc *d, struct err *e)
{
    const struct yaml *root = d->root, *name = yaml_get(root, "partitioner"),
                      *version = yaml_get(root, "version"), *rows = yaml_get(root, "rows");
    int rc = 0;

    if (!name || !name->text || !version || !version->text || !rows || rows->kind != YAML_LIST)
        return yaml_wrong(d, root ? root->mark : 0, e,
                          "no table, expected partitioner: NAME, version: TEXT and a list rows:");
    if (rows->count > PARTITIONER_ROWS_MOST)
        return yaml_wrong(d, rows->mark, e, "%u rows, expected at most %d", rows->count,
                          PARTITIONER_ROWS_MOST);
    rc = copy_text(p, name, &p->name, e);
    rc = rc ? rc : copy_text(p, version, &p->version, e);
    for (const struct yaml *row = rows->first; row && !rc; row = row->next) {
        rc = check_row(d, row, e);
        rc = rc ? rc : read_row(p, d, row, e);
    }
    return rc;
}

int partitioner_read(const char *which, struct partitioner *out, struct err *e)
{
    const char *built_in = !which || !strcmp(which, "gspmd") ? partitioner_gspmd
                           : !strcmp(which, "shardy")        ? partitioner_shardy
                                                             : NULL;
    struct yaml_doc d = {0};
    struct str text = {0};
    int rc = 0;

    memset(out, 0, sizeof *out);
    if (!built_in)
        rc = hlo_file_read(which, FILE_MOST, &text, e);
    if (rc)
        goto out;
    const char *table = built_in ? built_in : text.text ? text.text : "";
    rc = yaml_read(&d, table, built_in ? strlen(built_in) : text.size, e);
    rc = rc ? rc : read_table(out, &d, e);
out:
    if (rc && !built_in)
        err_in_file(e, which);
    yaml_release(&d);
    str_release(&text);
    return rc;
}

void partitioner_release(struct partitioner *p)
{
    arena_release(&p->arena);
    memset(p, 0, sizeof *p);
}

/* ---- asking ---- */

static bool has_target(const struct hlo_module *m, hlo_id id, const char *glob)
{
    size_t size;
    const char *text = hlo_attr_string(m, id, HLO_ATTR_CUSTOM_CALL_TARGET, &size);
    char name[TARGET_ROOM];

    if (!text || size >= sizeof name)
        return false;
    snprintf(name, sizeof name, "%.*s", (int)size, text);
    return kernel_glob(glob, name);
}

/* The first row that says what becomes of `id`; NULL: none does. */
static const struct partitioner_row *row_of(const struct partitioner *p, const struct hlo_module *m,
                                            hlo_id id)
{
    uint64_t left = p ? p->rows_of[hlo_at(m, id)->opcode] : 0;

    for (uint32_t k = 0; left; k++, left >>= 1) {
        const struct partitioner_row *r = &p->rows[k];
        if (left & 1 && conditions[r->when].holds(m, id) &&
            (!r->target || has_target(m, id, r->target)))
            return r;
    }
    return NULL;
}

const char *partitioner_runs_whole(const struct partitioner *p, const struct hlo_module *m,
                                   hlo_id id)
{
    const struct partitioner_row *r = row_of(p, m, id);

    return r && r->does != SUMS_EVERYWHERE ? r->why : NULL;
}

bool partitioner_sums_everywhere(const struct partitioner *p, const struct hlo_module *m, hlo_id id)
{
    const struct partitioner_row *r = row_of(p, m, id);

    return r && r->does == SUMS_EVERYWHERE;
}

bool partitioner_loses_parts(const struct partitioner *p, const struct hlo_module *m, hlo_id id)
{
    const struct partitioner_row *r = row_of(p, m, id);

    return r && r->does == LOSES_PARTS;
}
