/* input_output_alias={ {1}: (0, {}, must-alias), ... } and buffer_donor={ (3, {}), ... }. The
 * header comes before any shape: indices wait as places in the text until the leaves are known. */
#include "hlo/module/build.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/lex.h"
#include "hlo/support/mem.h"
#include "hlo/text/parse.h"

#include <string.h>

static const char *skip_index(struct parser *p, const char *at)
{
    const char *end = *at == '{' ? hlo_lex_group_end(at) : NULL;

    if (!end)
        hlo_parse_fail(p, at, "expected an index such as {0}");
    return end;
}

/* `(param, {index}[, kind])` */
static int parse_source(struct parser *p, struct parse_alias *alias)
{
    if (parse_expect(p, '(', "before the parameter of an alias"))
        return p->e->code;
    parse_skip(p);
    const char *end = hlo_lex_int(p->at, &alias->param);
    if (!end || alias->param < 0)
        return hlo_parse_fail(p, p->at, "\"%.*s\" is not a parameter number, expected 0 or more",
                              PARSE_WORD(p->at));
    p->at = end;
    if (parse_expect(p, ',', "after the parameter of an alias"))
        return p->e->code;
    parse_skip(p);
    alias->param_index = p->at;
    p->at = skip_index(p, p->at);
    if (!p->at)
        return p->e->code;
    parse_skip(p);
    if (*p->at == ',') {
        p->at = lex_skip(p->at + 1);
        const char *word_end = lex_name_end(p->at);
        alias->must = hlo_lex_is_word(p->at, "must-alias") || hlo_lex_is_word(p->at, "must_alias");
        if (!alias->must && !hlo_lex_is_word(p->at, "may-alias") &&
            !hlo_lex_is_word(p->at, "may_alias"))
            return hlo_parse_fail(p, p->at,
                                  "\"%.*s\" is not a kind of alias, expected may-alias or "
                                  "must-alias",
                                  PARSE_WORD(p->at));
        p->at = word_end;
    }
    return parse_expect(p, ')', "after the parameter of an alias");
}

int hlo_parse_aliases(struct parser *p, const char *text, bool is_donor)
{
    bool first = true;

    p->at = text;
    if (parse_expect(p, '{', "before a list of aliases"))
        return p->e->code;
    for (parse_skip(p); *p->at != '}'; parse_skip(p), first = false) {
        struct parse_alias alias = {0};
        if (!first && parse_expect(p, ',', "between aliases"))
            return p->e->code;
        parse_skip(p);
        if (!is_donor) {
            alias.out = p->at;
            p->at = skip_index(p, p->at);
            if (!p->at || parse_expect(p, ':', "after the index of an alias"))
                return p->e->code;
        }
        if (parse_source(p, &alias))
            return p->e->code;
        if (!mem_grow(&p->aliases, &p->alias_room, p->alias_count, 1))
            return hlo_parse_memory(p);
        p->aliases[p->alias_count++] = alias;
    }
    p->at++;
    return 0;
}

/* ---- indices to leaves ---- */

enum { PREFIX_DEPTHS = 8, STEPS_MAX = 100 * 1000 * 1000 };

/* First leaf of each part of the tuple last met at each depth: modules alias thousands of parts of
 * one flat tuple. */
struct leaf_finder {
    struct parser *p;
    hlo_shape_id shape[PREFIX_DEPTHS];
    uint32_t *first[PREFIX_DEPTHS];
    size_t room[PREFIX_DEPTHS];
    uint64_t steps;
};

static int part_leaf(struct leaf_finder *f, hlo_shape_id id, uint32_t part, size_t depth,
                     uint32_t *leaf)
{
    const struct hlo_shape *s = hlo_builder_shape(f->p->b, id);
    size_t d = depth < PREFIX_DEPTHS ? depth : PREFIX_DEPTHS - 1;

    if (f->shape[d] != id) {
        uint32_t sum = 0;
        if (!mem_grow(&f->first[d], &f->room[d], 0, s->part_count))
            return hlo_parse_memory(f->p);
        for (uint32_t n = 0; n < s->part_count; n++) {
            f->first[d][n] = sum;
            sum += hlo_builder_shape(f->p->b, s->parts[n])->leaf_count;
        }
        f->shape[d] = id;
        f->steps += s->part_count;
        if (f->steps > STEPS_MAX)
            return err_set(f->p->e, ERR_LIMIT, "aliases over too many tuples");
    }
    *leaf += f->first[d][part];
    return 0;
}

/* `{1, 0}` at `at`, walked down from `id`. */
static int find_leaf(struct leaf_finder *f, const char *at, hlo_shape_id id, uint32_t *leaf)
{
    size_t depth = 0;
    const char *begin = at;

    *leaf = 0;
    for (at = lex_skip(at + 1); *at != '}'; at = lex_skip(at), depth++) {
        const struct hlo_shape *s = hlo_builder_shape(f->p->b, id);
        int64_t part;
        if (depth) {
            if (*at != ',')
                return hlo_parse_fail(f->p, at, "expected , or } in an index");
            at = lex_skip(at + 1);
        }
        const char *end = hlo_lex_int(at, &part);
        if (!end || part < 0 || (s->type != HLO_TUPLE) || part >= s->part_count)
            return hlo_parse_fail(f->p, at,
                                  "\"%.*s\" is not an element, expected a number below %u",
                                  PARSE_WORD(at), s->part_count);
        if (part_leaf(f, id, (uint32_t)part, depth, leaf))
            return f->p->e->code;
        id = s->parts[part];
        at = end;
    }
    if (hlo_builder_shape(f->p->b, id)->type == HLO_TUPLE)
        return hlo_parse_fail(f->p, begin, "index names a tuple, expected that of an array");
    return 0;
}

struct entry_shapes {
    hlo_shape_id root;
    hlo_shape_id *params;
    uint32_t count;
};

static int collect_entry(struct parser *p, struct entry_shapes *s)
{
    uint32_t total = hlo_builder_count(p->b);
    size_t room = 0;

    s->root = HLO_NONE;
    for (hlo_id id = p->entry_begin; id < total; id++) {
        const struct hlo_instruction *i = hlo_builder_at(p->b, id);
        if (i->computation != p->entry)
            continue;
        if (i->is_root)
            s->root = i->shape;
        if (i->opcode != HLO_OP_PARAMETER || i->number >= total)
            continue;
        if (i->number >= s->count) {
            if (!mem_grow(&s->params, &room, s->count, i->number + 1 - s->count))
                return hlo_parse_memory(p);
            while (s->count <= i->number)
                s->params[s->count++] = HLO_NONE;
        }
        s->params[i->number] = i->shape;
    }
    return 0;
}

static int resolve(struct leaf_finder *f, const struct entry_shapes *s,
                   const struct parse_alias *alias, struct hlo_alias *out)
{
    *out = (struct hlo_alias){.must = alias->must};
    if (alias->param >= s->count || s->params[alias->param] == HLO_NONE)
        return hlo_parse_fail(f->p, alias->param_index,
                              "no parameter %lld in the entry computation, "
                              "expected a number below %u",
                              (long long)alias->param, s->count);
    out->param = (uint32_t)alias->param;
    if (alias->out && find_leaf(f, alias->out, s->root, &out->out))
        return f->p->e->code;
    /* A second walker: the tuples of the two sides would push each other out of the cache. */
    return find_leaf(f + 1, alias->param_index, s->params[alias->param], &out->param_leaf);
}

static int resolve_all(struct parser *p, struct leaf_finder *f, const struct entry_shapes *s)
{
    struct hlo_alias *list = arena_get(&p->m->arena, p->alias_count, 2 * sizeof *list);
    struct hlo_alias *donors = list + p->alias_count;

    if (!list)
        return hlo_parse_memory(p);
    p->m->aliases = list;
    p->m->donors = donors;
    for (size_t n = 0; n < p->alias_count; n++) {
        struct hlo_alias alias;
        if (resolve(f, s, &p->aliases[n], &alias))
            return p->e->code;
        if (p->aliases[n].out)
            list[p->m->alias_count++] = alias;
        else
            donors[p->m->donor_count++] = alias;
    }
    return 0;
}

int hlo_parse_aliases_done(struct parser *p)
{
    struct leaf_finder finders[2] = {{.p = p}, {.p = p}};
    struct entry_shapes shapes = {0};

    if (!p->alias_count)
        return 0;
    for (int n = 0; n < 2; n++)
        memset(finders[n].shape, 0xff, sizeof finders[n].shape);
    int rc = collect_entry(p, &shapes);
    if (rc)
        goto out;
    rc = resolve_all(p, finders, &shapes);
out:
    for (int n = 0; n < PREFIX_DEPTHS; n++) {
        free(finders[0].first[n]);
        free(finders[1].first[n]);
    }
    free(shapes.params);
    return rc;
}
