#include "engine/kernels/kernel_rules.h"

#include "engine/kernels/kernel_builtin.h"
#include "engine/kernels/kernel_carried.h"
#include "engine/kernels/kernel_check.h"
#include "engine/kernels/kernel_like.h"
#include "engine/kernels/kernel_match.h"
#include "engine/kernels/kernel_text.h"
#include "engine/text/yaml.h"
#include "hlo/meaning/factors.h"
#include "hlo/meaning/kernels.h"
#include "hlo/module/attr.h"
#include "hlo/module/flows.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/module/special.h"
#include "hlo/support/file.h"
#include "hlo/support/mem.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FILE_MOST = 1 << 20, NAME_ROOM = 2048 };

/* ---- rules ---- */

struct rule_file {
    struct yaml_doc doc;
    const char *from; /* for messages */
};

struct kernel_rules {
    struct rule_file file[2]; /* a person's, the built-in one: the first that fits wins */
    uint32_t count;
    char *path; /* of the first; NULL: it is built in */
};

static int evaluate(struct kernel_match *k, const struct rule_file *f, const struct yaml *y,
                    struct kernel_value *out, struct err *e)
{
    struct kernel_scope scope = kernel_scope_of(k);

    k->wrong = NULL;
    int rc = kernel_evaluate(y->text, &scope, out, e);
    return rc ? yaml_at(&f->doc, k->wrong ? k->wrong->mark : y->mark, e) : 0;
}

/* The kernel's own name: in its configuration, op_name, or what its frontend says of it. */
static bool has_name(const struct kernel_match *k, const char *pattern)
{
    char name[NAME_ROOM];
    const struct hlo_attr *a = kernel_config_of(k),
                          *said = hlo_attr(k->m, k->id, HLO_ATTR_FRONTEND_ATTRIBUTES);

    if (a && kernel_config(a->text, a->size, "name", name, sizeof name) &&
        kernel_glob(pattern, name))
        return true;
    if (kernel_glob(pattern, hlo_meta(k->m, k->id)->op_name))
        return true;
    snprintf(name, sizeof name, "%.*s", said ? (int)said->size : 0, said ? said->text : "");
    return said && kernel_glob(pattern, name);
}

static bool fits_count(const char *wanted, uint32_t count)
{
    char *end;
    unsigned long least = strtoul(wanted, &end, 10);

    return *end == '.' ? count >= least : count == least;
}

static bool fits_when(const struct kernel_match *k, const struct yaml *when)
{
    const struct hlo_attr *a = kernel_config_of(k);
    char word[KERNEL_WORD];

    for (const struct yaml *y = when ? when->first : NULL; y; y = y->next) {
        bool ok = !strcmp(y->key, "operands")  ? fits_count(y->text, k->operands)
                  : !strcmp(y->key, "results") ? fits_count(y->text, k->leaves - k->operands)
                  : !strncmp(y->key, "config.", 7)
                      ? a && kernel_config(a->text, a->size, y->key + 7, word, sizeof word) &&
                            kernel_glob(y->text, word)
                      : false;
        if (!ok)
            return false;
    }
    return true;
}

static bool fits_target(const struct kernel_match *k, const char *target)
{
    size_t size;
    const char *text = hlo_attr_string(k->m, k->id, HLO_ATTR_CUSTOM_CALL_TARGET, &size);
    uint16_t opcode = hlo_at(k->m, k->id)->opcode;
    char name[256];

    if (!strncmp(target, "opcode:", 7))
        return opcode < HLO_OP_UNKNOWN && kernel_glob(target + 7, hlo_op_info[opcode].name);
    if (opcode != HLO_OP_CUSTOM_CALL || !text || size >= sizeof name)
        return false;
    snprintf(name, sizeof name, "%.*s", (int)size, text);
    return kernel_glob(target, name);
}

/* k, or k..: all of the indices k.0, k.1 .. */
static bool is_called(const struct kernel_index *i, const char *name, size_t size)
{
    if (size > 2 && !strncmp(name + size - 2, "..", 2))
        return !strncmp(i->name, name, size - 1) && i->is_leading;
    return strlen(i->name) == size && !strncmp(i->name, name, size);
}

static void mark_partial(struct kernel_match *k, const struct yaml *partial)
{
    for (const struct yaml *y = partial ? partial->first : NULL; y; y = y->next) {
        for (uint32_t n = 0; n < k->count; n++) {
            if (is_called(&k->items[n], y->key, strlen(y->key)))
                k->items[n].combiner = (uint8_t)kernel_combiner(y->text);
        }
    }
}

static int mark_whole(struct kernel_match *k, const struct rule_file *f, const struct yaml *list,
                      struct err *e)
{
    for (const struct yaml *y = list ? list->first : NULL; y; y = y->next) {
        const char *condition = strstr(y->text, " if ");
        size_t size = condition ? (size_t)(condition - y->text) : strlen(y->text);
        struct kernel_value on = {.is_number = true, .number = 1};
        struct yaml only = *y;
        only.text = condition ? condition + 4 : NULL;
        int rc = condition ? evaluate(k, f, &only, &on, e) : 0;
        if (rc)
            return rc;
        for (uint32_t n = 0; n < k->count && kernel_is_true(&on); n++)
            k->items[n].is_whole |= is_called(&k->items[n], y->text, size);
    }
    return 0;
}

/* h: g * r: where h is a multiple of g's size, h's dims go with g's index. */
static void tie_sizes(struct kernel_match *k, const struct yaml *sizes)
{
    for (const struct yaml *y = sizes ? sizes->first : NULL; y; y = y->next) {
        struct kernel_index *h = kernel_index_of(k, y->key, strlen(y->key));
        size_t size = strcspn(y->text, " *");
        struct kernel_index *g = kernel_index_of(k, y->text, size);
        if (!h || !g || !h->size || !g->size || h->size % g->size)
            continue;
        for (uint32_t leaf = 0; leaf < k->leaves; leaf++) {
            if (g->dims[leaf] < 0)
                g->dims[leaf] = h->dims[leaf];
        }
        g->in_operand |= h->in_operand;
        g->in_result |= h->in_result;
        h->is_whole = true; /* it is g that is split */
    }
}

static bool write_factors(const struct kernel_match *k, struct arena *a, struct hlo_kernel *out)
{
    struct hlo_kernel_factor *list = arena_get(a, k->count + 1, sizeof *list);

    for (uint32_t n = 0; n < k->count && list; n++) {
        const struct kernel_index *i = &k->items[n];
        bool passes = i->in_result && (i->in_operand || !k->operands);
        bool sums = i->combiner != HLO_COMBINE_NONE && i->in_operand && !i->in_result;
        bool is_summed_inside = i->combiner != HLO_COMBINE_NONE && i->in_operand && i->in_result;
        if (i->is_whole || i->size < 2 || (!passes && !sums))
            continue;
        struct hlo_kernel_factor *f = &list[out->factor_count++];
        f->size = i->size;
        f->kind = sums ? HLO_FACTOR_REDUCE : is_summed_inside ? HLO_FACTOR_INSIDE : HLO_FACTOR_PASS;
        f->combiner = sums || is_summed_inside ? i->combiner : HLO_COMBINE_NONE;
        memcpy(f->dims, i->dims, sizeof f->dims);
    }
    out->factors = list;
    return list != NULL;
}

/* inplace: {0: 0}, each result in the place of an operand. */
static bool write_places(const struct kernel_match *k, const struct yaml *inplace, struct arena *a,
                         struct hlo_kernel *out)
{
    uint32_t results = k->leaves - k->operands;
    int8_t *list = inplace ? arena_get(a, results + 1, 1) : NULL;

    if (list)
        memset(list, -1, results + 1);
    for (const struct yaml *y = inplace ? inplace->first : NULL; y && list; y = y->next) {
        unsigned long result = strtoul(y->key, NULL, 10), operand = strtoul(y->text, NULL, 10);
        if (result < results && operand < k->operands)
            list[result] = (int8_t)operand;
    }
    out->place = list;
    return !inplace || list;
}

static int write_reach(const struct yaml *y, struct arena *a, struct hlo_kernel *out, struct err *e)
{
    uint32_t count = y ? y->kind == YAML_MAP ? y->count : 1 : 0;
    struct hlo_kernel_reach *list = arena_get(a, count + 1, sizeof *list);
    const struct yaml *at = y && y->kind == YAML_MAP ? y->first : y;

    if (!list)
        return err_no_memory(e, "for kernel rules");
    for (uint32_t n = 0; n < count; n++, at = at->next) {
        bool other = y->kind != YAML_MAP || !strcmp(at->key, "default");
        list[n].device = other ? "" : arena_text(a, at->key, strlen(at->key));
        list[n].part = strtod(at->text, NULL);
        if (!list[n].device)
            return err_no_memory(e, "for kernel rules");
    }
    out->reach = count ? list : NULL;
    out->reach_count = count;
    return 0;
}

/* A number of 0 or more; `without` where the rule has no such key. */
static int number_of(struct kernel_match *k, const struct rule_file *f, const struct yaml *y,
                     double without, double *out, struct err *e)
{
    struct kernel_value value = {0};
    int rc = y ? evaluate(k, f, y, &value, e) : 0;

    *out = y && value.number >= 0 && isfinite(value.number) ? value.number : without;
    return rc;
}

/* The indices of the rule's dims, or of what it is like. A rule without both keeps all whole. */
static bool fit(struct kernel_match *k, const struct yaml *rule, struct kernel_like *like)
{
    const struct yaml *dims = yaml_get(rule, "dims"), *is_like = yaml_get(rule, "like"),
                      *numbers = yaml_get(rule, "numbers");
    const char *path = numbers ? numbers->text : NULL;

    k->count = 0;
    k->dims = dims ? dims->text : "";
    if (!is_like)
        return !dims || kernel_fit(k, k->dims);
    if (path && !strncmp(path, "config.", 7))
        path += 7;
    if (!kernel_like_of(k, is_like->text, path, like))
        return false;
    k->dims = like->dims;
    if (!kernel_fit(k, k->dims))
        return false;
    for (uint32_t n = 0; n < k->count; n++) {
        if (k->items[n].name[0] == like->summed)
            k->items[n].combiner = HLO_COMBINE_ADD;
    }
    return true;
}

static int write_kernel(struct kernel_match *k, const struct rule_file *f, const struct yaml *rule,
                        const struct kernel_like *like, struct arena *a, struct hlo_kernel *out,
                        struct err *e)
{
    const struct yaml *effect = yaml_get(rule, "effect");
    int rc = mark_whole(k, f, yaml_get(rule, "whole"), e);

    if (rc)
        return rc;
    rc = number_of(k, f, yaml_get(rule, "flops"), like->flops, &out->flops, e);
    if (rc)
        return rc;
    rc = number_of(k, f, yaml_get(rule, "bytes"), -1, &out->bytes, e);
    if (rc)
        return rc;
    rc = number_of(k, f, yaml_get(rule, "workspace"), 0, &out->workspace, e);
    if (rc)
        return rc;
    mark_partial(k, yaml_get(rule, "partial"));
    tie_sizes(k, yaml_get(rule, "sizes"));
    out->effect = (uint8_t)(effect ? kernel_effect(effect->text) : KERNEL_COMPUTES);
    if (!write_factors(k, a, out) || !write_places(k, yaml_get(rule, "inplace"), a, out))
        return err_no_memory(e, "for kernel rules");
    return write_reach(yaml_get(rule, "reach"), a, out, e);
}

/* Asks one rule; *out stays NULL when it does not fit. */
static int ask_rule(struct kernel_match *k, const struct rule_file *f, const struct yaml *rule,
                    struct arena *a, const struct hlo_kernel **out, struct err *e)
{
    const struct yaml *name = yaml_get(rule, "name");
    struct kernel_like like = {.flops = 0};

    k->lets = yaml_get(rule, "let");
    if (!fits_target(k, yaml_get(rule, "target")->text) || (name && !has_name(k, name->text)) ||
        !fits_when(k, yaml_get(rule, "when")) || !fit(k, rule, &like))
        return 0;
    struct hlo_kernel *made = arena_get(a, 1, sizeof *made);
    if (!made)
        return err_no_memory(e, "for kernel rules");
    made->rule = f->from;
    made->leaves = k->leaves;
    int rc = write_kernel(k, f, rule, &like, a, made, e);
    if (!rc)
        *out = made;
    return rc;
}

/* The rule that the module itself carries. */
static int ask_module(struct kernel_match *k, struct arena *a, const struct hlo_kernel **out,
                      struct err *e)
{
    if (!kernel_carried(k))
        return 0;
    struct hlo_kernel *made = arena_get(a, 1, sizeof *made);
    if (!made)
        return err_no_memory(e, "for kernel rules");
    *made = (struct hlo_kernel){.rule = "the module", .leaves = k->leaves, .bytes = -1};
    if (!write_factors(k, a, made))
        return err_no_memory(e, "for kernel rules");
    *out = made;
    return 0;
}

/* ---- files ---- */

static int read_rules(const char *text, size_t size, const char *from, struct rule_file *out,
                      struct err *e)
{
    int rc = yaml_read(&out->doc, text, size, e);

    if (rc)
        return rc;
    out->from = from;
    const struct yaml *list = yaml_get(out->doc.root, "kernels"),
                      *attention = yaml_get(out->doc.root, "attention");
    if ((!list && !attention) || (list && list->kind != YAML_LIST))
        rc = yaml_wrong(&out->doc, out->doc.root->mark, e, "expected a list kernels:");
    if (!rc && attention)
        rc = kernel_attention_check(&out->doc, attention, e);
    for (const struct yaml *y = rc || !list ? NULL : list->first; y && !rc; y = y->next)
        rc = kernel_rule_check(&out->doc, y, e);
    if (rc)
        yaml_release(&out->doc);
    return rc;
}

static bool is_opaque(uint16_t opcode)
{
    return opcode == HLO_OP_CUSTOM_CALL || opcode == HLO_OP_TOPK || opcode == HLO_OP_RAGGED_DOT;
}

/* What passes its operand on is a flow, what moves it to another memory is none. Where nothing is
 * offloaded, nothing is fetched either. */
static void mark_flows(struct hlo_module *m, const struct hlo_kernel *const *of)
{
    bool offloads = false;

    for (hlo_id id = 0; id < m->count; id++)
        offloads |= of[id] && of[id]->effect == KERNEL_TO_HOST;
    for (hlo_id id = 0; id < m->count; id++) {
        uint8_t effect = of[id] ? of[id]->effect : (uint8_t)KERNEL_COMPUTES;
        m->instructions[id].is_moved =
            effect == KERNEL_TO_HOST || (effect == KERNEL_TO_DEVICE && offloads);
        m->instructions[id].is_identity =
            effect == KERNEL_IDENTITY || (effect == KERNEL_TO_DEVICE && !offloads);
    }
}

static int ask_all(const struct rule_file *files, uint32_t count, struct hlo_module *m,
                   const struct hlo_kernel **of, struct err *e)
{
    struct kernel_match *k = mem_alloc(sizeof *k);
    int rc = 0;

    for (hlo_id id = 0; id < m->count && !rc; id++) {
        if (!is_opaque(hlo_at(m, id)->opcode) || hlo_special_of(m, id))
            continue;
        *k = (struct kernel_match){.m = m, .id = id, .operands = hlo_at(m, id)->operand_count};
        k->leaves = k->operands + (m->leaf_base[id + 1] - m->leaf_base[id]);
        bool arrays = k->leaves <= KERNEL_LEAVES_MOST;
        for (uint32_t n = 0; n < k->operands; n++)
            arrays &= hlo_shape(m, hlo_operand(m, id, n))->type != HLO_TUPLE;
        for (uint32_t n = 0; n < count && arrays && !rc && !of[id]; n++) {
            const struct yaml *list = yaml_get(files[n].doc.root, "kernels");
            for (const struct yaml *y = list ? list->first : NULL; y && !rc && !of[id]; y = y->next)
                rc = ask_rule(k, &files[n], y, &m->arena, &of[id], e);
        }
        if (arrays && !rc && !of[id])
            rc = ask_module(k, &m->arena, &of[id], e);
    }
    free(k);
    return rc;
}

static bool has_opaque(const struct hlo_module *m)
{
    for (uint16_t opcode = 0; opcode < HLO_OP_COUNT; opcode++) {
        if (m->opcode_count[opcode] && is_opaque(opcode))
            return true;
    }
    return false;
}

static int read_file(struct kernel_rules *r, const char *path, struct err *e)
{
    struct str text = {0};
    size_t size = strlen(path) + 1;
    int rc = 0;

    r->path = mem_try(size, 1);
    if (!r->path)
        return err_no_memory(e, "for kernel rules");
    memcpy(r->path, path, size);
    rc = hlo_file_read(path, FILE_MOST, &text, e);
    if (rc)
        goto out;
    rc = read_rules(text.text ? text.text : "", text.size, "a rule file", &r->file[0], e);
    r->count = !rc;
out:
    if (rc)
        err_in_file(e, path);
    str_release(&text);
    return rc;
}

int kernel_rules_read(const char *path, struct kernel_rules **out, struct err *e)
{
    struct kernel_rules *r = mem_try(1, sizeof *r);

    *out = r;
    if (!r)
        return err_no_memory(e, "for kernel rules");
    int rc = path ? read_file(r, path, e) : 0;
    if (rc)
        goto out;
    rc = read_rules(kernel_builtin, strlen(kernel_builtin), "built in", &r->file[r->count], e);
    r->count += !rc;
out:
    if (rc) {
        kernel_rules_free(r);
        *out = NULL;
    }
    return rc;
}

void kernel_rules_free(struct kernel_rules *r)
{
    for (uint32_t k = 0; r && k < r->count; k++)
        yaml_release(&r->file[k].doc);
    if (r)
        free(r->path);
    free(r);
}

int kernel_rules_apply(const struct kernel_rules *r, struct hlo_module *m, struct err *e)
{
    if (!has_opaque(m))
        return 0;
    const struct hlo_kernel **of = arena_get(&m->arena, (size_t)m->count + 1, sizeof *of);
    int rc = of ? ask_all(r->file, r->count, m, of, e) : err_no_memory(e, "for kernel rules");
    if (rc && r->path)
        err_in_file(e, r->path);
    m->kernels = rc ? NULL : of;
    if (!rc)
        mark_flows(m, of);
    return rc;
}

int kernel_rules_attention(const struct kernel_rules *r, struct arena *a, struct hlo_kernel out[2],
                           struct err *e)
{
    static const char *const passes[2] = {"forward", "backward"};
    int rc = 0;

    for (int n = 0; n < 2 && !rc; n++) {
        const struct yaml *reach = NULL;
        for (uint32_t k = 0; k < r->count && !reach; k++)
            reach = yaml_get(yaml_get(r->file[k].doc.root, "attention"), passes[n]);
        out[n] = (struct hlo_kernel){.bytes = -1};
        rc = write_reach(reach, a, &out[n], e);
    }
    return rc;
}
