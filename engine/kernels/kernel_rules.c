#include "engine/kernels/kernel_rules.h"

#include "engine/kernels/kernel_builtin.h"
#include "engine/kernels/kernel_check.h"
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

enum { FILE_MOST = 1 << 20 };

/* ---- one instruction under one rule ---- */

struct index {
    char name[KERNEL_NAME_ROOM]; /* "b.0": the first of leading dims b.. */
    int64_t size;                /* 0: not seen */
    int8_t dims[KERNEL_LEAVES_MOST];
    bool in_operand, in_result, is_whole, is_leading;
};

struct match {
    const struct hlo_module *m;
    hlo_id id;
    uint32_t operands, leaves;
    struct index items[KERNEL_NAMES_MOST];
    uint32_t count;
    const char *dims;
    const struct yaml *lets, *wrong; /* wrong: the let that an error is in */
    int depth;
};

static const struct hlo_shape *leaf_shape(const struct match *k, uint32_t leaf)
{
    if (leaf < k->operands)
        return hlo_shape(k->m, hlo_operand(k->m, k->id, leaf));
    return hlo_value_shape(k->m, k->m->leaf_base[k->id] + leaf - k->operands);
}

static struct index *index_of(struct match *k, const char *name, size_t size)
{
    for (uint32_t n = 0; n < k->count; n++) {
        if (strlen(k->items[n].name) == size && !strncmp(k->items[n].name, name, size))
            return &k->items[n];
    }
    if (k->count == KERNEL_NAMES_MOST || size >= KERNEL_NAME_ROOM)
        return NULL;
    struct index *i = &k->items[k->count++];
    *i = (struct index){0};
    memcpy(i->name, name, size);
    memset(i->dims, -1, sizeof i->dims);
    return i;
}

static bool bind(struct match *k, const char *name, size_t size, uint32_t leaf, uint32_t dim,
                 bool is_leading)
{
    int64_t wanted = leaf_shape(k, leaf)->dims[dim];
    struct index *i = index_of(k, name, size);

    if (!i || (i->size && i->size != wanted) || i->dims[leaf] >= 0)
        return false;
    i->size = wanted;
    i->dims[leaf] = (int8_t)dim;
    i->is_leading = is_leading;
    *(leaf < k->operands ? &i->in_operand : &i->in_result) = true;
    return true;
}

static bool is_leading(const char *word, size_t size)
{
    return size >= 2 && !strncmp(word + size - 2, "..", 2);
}

/* Fits one pattern onto a leaf; names bound on the way stay bound only when all fits. */
static bool fit_leaf(struct match *k, const char *pattern, const char *end, uint32_t leaf)
{
    const struct hlo_shape *s = leaf_shape(k, leaf);
    const char *at = pattern, *word;
    uint32_t words = 0, dim = 0, leading;
    size_t size;
    uint32_t has_leading = 0;

    for (at = pattern; (word = kernel_word(&at, end, &size)); words++)
        has_leading += is_leading(word, size);
    at = pattern;
    word = kernel_word(&at, end, &size);
    if (words == 1 && size == 1 && (*word == '_' || (*word == '1' && s->elements <= 1)))
        return true;
    if (has_leading > 1 || s->rank + has_leading < words || (!has_leading && s->rank != words))
        return false;
    leading = s->rank + has_leading - words;
    for (at = pattern; (word = kernel_word(&at, end, &size));) {
        if (is_leading(word, size)) {
            for (uint32_t n = 0; n < leading; n++) {
                char name[KERNEL_NAME_ROOM];
                int used = snprintf(name, sizeof name, "%.*s.%u", (int)(size - 2), word, n);
                if (used >= (int)sizeof name || !bind(k, name, (size_t)used, leaf, dim++, true))
                    return false;
            }
        } else if (size == 1 && *word == '1') {
            if (s->dims[dim++] != 1)
                return false;
        } else if (size == 1 && *word == '_') {
            dim++;
        } else if (!bind(k, word, size, leaf, dim++, false)) {
            return false;
        }
    }
    return true;
}

/* Fits patterns between `at` and `end` onto leaves first .. last - 1, skipping those that may be
 * missing where they do not fit. */
static bool fit_side(struct match *k, const char *at, const char *end, uint32_t first,
                     uint32_t last)
{
    uint32_t leaf = first;

    while (at < end) {
        const char *comma = memchr(at, ',', (size_t)(end - at)), *stop = comma ? comma : end,
                   *tail = stop;
        while (tail > at && isspace((unsigned char)tail[-1]))
            tail--;
        bool optional = tail > at && tail[-1] == '?';
        struct match before = *k;
        bool fits = leaf < last && fit_leaf(k, at, tail - optional, leaf);
        if (!fits)
            *k = before;
        if (!fits && !optional)
            return false;
        leaf += fits;
        at = comma ? comma + 1 : end;
    }
    return leaf == last;
}

static bool fit_dims(struct match *k, const char *dims)
{
    const char *arrow = strstr(dims, "->");

    return arrow && fit_side(k, dims, arrow, 0, k->operands) &&
           fit_side(k, arrow + 2, dims + strlen(dims), k->operands, k->leaves);
}

/* ---- what expressions ask ---- */

static const struct hlo_attr *config_of(const struct match *k)
{
    return hlo_attr(k->m, k->id, HLO_ATTR_BACKEND_CONFIG);
}

static struct kernel_scope scope_of(struct match *k);

static enum kernel_found look_up(void *context, const char *name, struct kernel_value *out,
                                 struct err *e)
{
    struct match *k = context;

    if (!strncmp(name, "config.", 7)) {
        const struct hlo_attr *a = config_of(k);
        char *end;
        out->is_config = true;
        out->is_missing = !a || !kernel_config(a->text, a->size, name + 7, out->word, KERNEL_WORD);
        out->number = out->is_missing ? 0 : strtod(out->word, &end);
        out->is_number = out->is_missing || (end != out->word && !*end);
        return KERNEL_FOUND;
    }
    for (uint32_t n = 0; n < k->count; n++) {
        if (!strcmp(k->items[n].name, name)) {
            *out = (struct kernel_value){.is_number = true, .number = (double)k->items[n].size};
            return KERNEL_FOUND;
        }
    }
    if (kernel_dims_have(k->dims, name)) { /* of a leaf that this one does not have */
        *out = (struct kernel_value){.is_number = true, .is_missing = true};
        return KERNEL_FOUND;
    }
    const struct yaml *let = yaml_get(k->lets, name);
    if (!let || k->depth == KERNEL_LETS_MOST) /* kernel_rule_check: no let goes deeper */
        return KERNEL_UNKNOWN;
    struct kernel_scope scope = scope_of(k);
    k->depth++;
    int rc = kernel_evaluate(let->text, &scope, out, e);
    k->depth--;
    k->wrong = rc && !k->wrong ? let : k->wrong;
    return rc ? KERNEL_WRONG : KERNEL_FOUND;
}

static bool call(void *context, const char *name, const char *of, double *out)
{
    struct match *k = context;
    unsigned n;

    *out = 1;
    if (!strcmp(name, "product")) {
        size_t size = strlen(of);
        for (uint32_t i = 0; i < k->count; i++) {
            if (!strncmp(k->items[i].name, of, size) && k->items[i].name[size] == '.')
                *out *= (double)k->items[i].size;
        }
        return true;
    }
    bool operand = sscanf(of, " operand %u", &n) == 1, result = sscanf(of, " result %u", &n) == 1;
    if ((!operand && !result) || n >= (operand ? k->operands : k->leaves - k->operands))
        return false;
    const struct hlo_shape *s = leaf_shape(k, operand ? n : k->operands + n);
    *out = (double)(!strcmp(name, "bytes") ? s->bytes : s->elements);
    return !strcmp(name, "bytes") || !strcmp(name, "elements");
}

static struct kernel_scope scope_of(struct match *k)
{
    return (struct kernel_scope){look_up, call, k};
}

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

static int evaluate(struct match *k, const struct rule_file *f, const struct yaml *y,
                    struct kernel_value *out, struct err *e)
{
    struct kernel_scope scope = scope_of(k);

    k->wrong = NULL;
    int rc = kernel_evaluate(y->text, &scope, out, e);
    return rc ? yaml_at(&f->doc, k->wrong ? k->wrong->mark : y->mark, e) : 0;
}

/* The kernel's own name: in its configuration, else op_name. */
static bool has_name(const struct match *k, const char *pattern)
{
    char name[256];
    const struct hlo_attr *a = config_of(k);

    if (a && kernel_config(a->text, a->size, "name", name, sizeof name) &&
        kernel_glob(pattern, name))
        return true;
    return kernel_glob(pattern, hlo_meta(k->m, k->id)->op_name);
}

static bool fits_count(const char *wanted, uint32_t count)
{
    char *end;
    unsigned long least = strtoul(wanted, &end, 10);

    return *end == '.' ? count >= least : count == least;
}

static bool fits_when(const struct match *k, const struct yaml *when)
{
    const struct hlo_attr *a = config_of(k);
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

static bool fits_target(const struct match *k, const char *target)
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

static int mark_whole(struct match *k, const struct rule_file *f, const struct yaml *list,
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
        for (uint32_t n = 0; n < k->count && kernel_is_true(&on); n++) {
            if (strlen(k->items[n].name) == size && !strncmp(k->items[n].name, y->text, size))
                k->items[n].is_whole = true;
        }
    }
    return 0;
}

/* h: g * r: where h is a multiple of g's size, h's dims go with g's index. */
static void tie_sizes(struct match *k, const struct yaml *sizes)
{
    for (const struct yaml *y = sizes ? sizes->first : NULL; y; y = y->next) {
        struct index *h = index_of(k, y->key, strlen(y->key));
        size_t size = strcspn(y->text, " *");
        struct index *g = index_of(k, y->text, size);
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

static bool write_factors(const struct match *k, const struct yaml *partial, struct arena *a,
                          struct hlo_kernel *out)
{
    struct hlo_kernel_factor *list = arena_get(a, k->count + 1, sizeof *list);

    for (uint32_t n = 0; n < k->count && list; n++) {
        const struct index *i = &k->items[n];
        const struct yaml *sum = yaml_get(partial, i->name);
        enum hlo_combiner combiner = sum ? kernel_combiner(sum->text) : HLO_COMBINE_NONE;
        bool passes = i->in_operand && i->in_result;
        if (i->is_whole || i->size < 2 || (!passes && combiner == HLO_COMBINE_NONE))
            continue;
        struct hlo_kernel_factor *f = &list[out->factor_count++];
        f->size = i->size;
        f->kind = combiner == HLO_COMBINE_NONE ? HLO_FACTOR_PASS : HLO_FACTOR_REDUCE;
        f->combiner = (uint8_t)combiner;
        memcpy(f->dims, i->dims, sizeof f->dims);
    }
    out->factors = list;
    return list != NULL;
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

/* Asks one rule; *out stays NULL when it does not fit. */
static int ask(struct match *k, const struct rule_file *f, const struct yaml *rule, struct arena *a,
               const struct hlo_kernel **out, struct err *e)
{
    const struct yaml *name = yaml_get(rule, "name"), *flops = yaml_get(rule, "flops"),
                      *bytes = yaml_get(rule, "bytes");
    struct kernel_value value = {0};

    k->count = 0;
    k->lets = yaml_get(rule, "let");
    k->dims = yaml_get(rule, "dims")->text;
    if (!fits_target(k, yaml_get(rule, "target")->text) || (name && !has_name(k, name->text)) ||
        !fits_when(k, yaml_get(rule, "when")) || !fit_dims(k, k->dims))
        return 0;
    struct hlo_kernel *made = arena_get(a, 1, sizeof *made);
    if (!made)
        return err_no_memory(e, "for kernel rules");
    made->rule = f->from;
    made->leaves = k->leaves;
    int rc = mark_whole(k, f, yaml_get(rule, "whole"), e);
    if (!rc && flops)
        rc = evaluate(k, f, flops, &value, e);
    made->flops = value.number > 0 && isfinite(value.number) ? value.number : 0;
    if (!rc && bytes)
        rc = evaluate(k, f, bytes, &value, e);
    made->bytes = bytes && value.number >= 0 && isfinite(value.number) ? value.number : -1;
    tie_sizes(k, yaml_get(rule, "sizes"));
    if (!rc && !write_factors(k, yaml_get(rule, "partial"), a, made))
        rc = err_no_memory(e, "for kernel rules");
    if (!rc)
        rc = write_reach(yaml_get(rule, "reach"), a, made, e);
    if (!rc)
        *out = made;
    return rc;
}

/* ---- files ---- */

static int read_rules(const char *text, size_t size, const char *from, struct rule_file *out,
                      struct err *e)
{
    int rc = yaml_read(&out->doc, text, size, e);

    if (rc)
        return rc;
    out->from = from;
    const struct yaml *list = yaml_get(out->doc.root, "kernels");
    if (!list || list->kind != YAML_LIST)
        rc = yaml_wrong(&out->doc, out->doc.root->mark, e, "expected a list kernels:");
    for (const struct yaml *y = rc ? NULL : list->first; y && !rc; y = y->next)
        rc = kernel_rule_check(&out->doc, y, e);
    if (rc)
        yaml_release(&out->doc);
    return rc;
}

static bool is_opaque(const struct hlo_module *m, hlo_id id)
{
    uint16_t opcode = hlo_at(m, id)->opcode;

    return opcode == HLO_OP_CUSTOM_CALL || opcode == HLO_OP_TOPK || opcode == HLO_OP_RAGGED_DOT;
}

static int ask_all(const struct rule_file *files, uint32_t count, struct hlo_module *m,
                   const struct hlo_kernel **of, struct err *e)
{
    struct match *k = mem_alloc(sizeof *k);
    int rc = 0;

    for (hlo_id id = 0; id < m->count && !rc; id++) {
        if (!is_opaque(m, id) || hlo_special_of(m, id))
            continue;
        *k = (struct match){.m = m, .id = id, .operands = hlo_at(m, id)->operand_count};
        k->leaves = k->operands + (m->leaf_base[id + 1] - m->leaf_base[id]);
        bool arrays = k->leaves <= KERNEL_LEAVES_MOST;
        for (uint32_t n = 0; n < k->operands; n++)
            arrays &= hlo_shape(m, hlo_operand(m, id, n))->type != HLO_TUPLE;
        for (uint32_t n = 0; n < count && arrays && !rc && !of[id]; n++) {
            const struct yaml *list = yaml_get(files[n].doc.root, "kernels");
            for (const struct yaml *y = list->first; y && !rc && !of[id]; y = y->next)
                rc = ask(k, &files[n], y, &m->arena, &of[id], e);
        }
    }
    free(k);
    return rc;
}

static bool has_opaque(const struct hlo_module *m)
{
    for (hlo_id id = 0; id < m->count; id++) {
        if (is_opaque(m, id))
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
    return rc;
}

/* ---- without a rule ---- */

bool kernel_is_unknown(const struct hlo_module *m, hlo_id id)
{
    struct hlo_factors f = {0};
    struct err lost;

    if (hlo_at(m, id)->opcode != HLO_OP_CUSTOM_CALL || hlo_kernel_of(m, id) ||
        hlo_special_of(m, id) || !hlo_at(m, id)->operand_count || hlo_is_flow(m, id))
        return false;
    bool known = hlo_factors_of(m, id, &f, &lost) == 0 && f.count > 0;
    hlo_factors_release(&f);
    return !known;
}

static void write_pattern(const struct hlo_shape *s, uint32_t *letter, struct str *out)
{
    if (s->rank == 0)
        str_add(out, "1");
    for (uint32_t d = 0; d < s->rank; d++, ++*letter)
        str_format(out, "%s%c%s", d ? " " : "", 'a' + (char)(*letter % 26),
                   *letter < 26 ? "" : "2");
}

void kernel_rule_write(const struct hlo_module *m, hlo_id id, struct str *out)
{
    size_t size;
    const char *target = hlo_attr_string(m, id, HLO_ATTR_CUSTOM_CALL_TARGET, &size);
    uint32_t letter = 0, operands = hlo_at(m, id)->operand_count;

    str_format(out, "kernels:\n  - target: '%.*s'\n    dims: '", (int)size, target ? target : "");
    for (uint32_t n = 0; n < operands; n++) {
        str_add(out, n ? ", " : "");
        write_pattern(hlo_shape(m, hlo_operand(m, id, n)), &letter, out);
    }
    str_add(out, " -> ");
    for (hlo_value v = m->leaf_base[id]; v < m->leaf_base[id + 1]; v++) {
        str_add(out, v > m->leaf_base[id] ? ", " : "");
        write_pattern(hlo_value_shape(m, v), &letter, out);
    }
    str_add(out, "'  # one name for dims that go together\n    flops: 0  # of sizes by name\n");
}
