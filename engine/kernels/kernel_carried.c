#include "engine/kernels/kernel_carried.h"

#include "engine/kernels/kernel_match.h"
#include "hlo/meaning/factors.h"
#include "hlo/meaning/kernels.h"
#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"

#include <ctype.h>
#include <string.h>

struct rule {
    const char *at, *end;
};

static bool take_sign(struct rule *r, const char *sign)
{
    size_t size = strlen(sign);

    while (r->at < r->end && isspace((unsigned char)*r->at))
        r->at++;
    if ((size_t)(r->end - r->at) < size || memcmp(r->at, sign, size) != 0)
        return false;
    r->at += size;
    return true;
}

/* The size of the factor name at r->at: j, z_12; 0: none is there. */
static size_t factor_size(const struct rule *r)
{
    const char *p = r->at;

    if (p >= r->end || !islower((unsigned char)*p))
        return 0;
    if (++p < r->end && *p == '_') {
        const char *digits = ++p;
        while (p < r->end && isdigit((unsigned char)*p))
            p++;
        if (p == digits)
            return 0;
    }
    return (size_t)(p - r->at);
}

static struct kernel_index *factor_index(struct kernel_match *k, struct rule *r)
{
    (void)take_sign(r, ""); /* past blanks */
    size_t size = factor_size(r);
    struct kernel_index *i = size ? kernel_index_of(k, r->at, size) : NULL;

    r->at += size;
    return i;
}

/* One dim: "j", or "jk", of which the first factor is the major one. */
static bool read_dim(struct kernel_match *k, struct rule *r, uint32_t leaf, uint8_t dim)
{
    struct kernel_index *major = factor_index(k, r);

    if (!major || major->dims[leaf] >= 0)
        return false;
    major->dims[leaf] = (int8_t)dim;
    *(leaf < k->operands ? &major->in_operand : &major->in_result) = true;
    while (factor_size(r)) {
        struct kernel_index *minor = factor_index(k, r);
        if (!minor)
            return false;
        minor->is_whole = true;
    }
    return true;
}

/* ([i, j], [j])  or  (): one list a leaf; an absent leaf of size 0 has none of its dims. */
static bool read_leaves(struct kernel_match *k, struct rule *r, uint32_t first, uint32_t last)
{
    uint32_t leaf = first;

    if (!take_sign(r, "("))
        return false;
    while (take_sign(r, "[")) {
        uint8_t dim = 0;
        if (leaf == last)
            return false;
        while (!take_sign(r, "]")) {
            if (dim == kernel_leaf_shape(k, leaf)->rank || !read_dim(k, r, leaf, dim++))
                return false;
            (void)take_sign(r, ",");
        }
        if (dim != kernel_leaf_shape(k, leaf++)->rank)
            return false;
        (void)take_sign(r, ",");
    }
    return take_sign(r, ")") && leaf == last;
}

/* {i=8, j=4} */
static bool read_sizes(struct kernel_match *k, struct rule *r)
{
    if (!take_sign(r, "{"))
        return false;
    while (!take_sign(r, "}")) {
        struct kernel_index *i = factor_index(k, r);
        int64_t size = 0;
        if (!i || !take_sign(r, "="))
            return false;
        for (; r->at < r->end && isdigit((unsigned char)*r->at); r->at++) {
            if (size > INT64_MAX / 16)
                return false;
            size = size * 10 + (*r->at - '0');
        }
        i->size = size;
        (void)take_sign(r, ",");
    }
    return true;
}

/* reduction={k} need_replication={l} .. , custom> */
static bool read_kinds(struct kernel_match *k, struct rule *r)
{
    static const struct {
        const char *name;
        enum hlo_combiner combiner;
        bool is_whole;
    } kinds[] = {{"reduction={", HLO_COMBINE_ADD, false},
                 {"need_replication={", HLO_COMBINE_NONE, true},
                 {"permutation={", HLO_COMBINE_NONE, true},
                 {"blocked_propagation={", HLO_COMBINE_NONE, false}};

    while (!take_sign(r, ">")) {
        size_t n = 0;
        (void)take_sign(r, ",");
        if (take_sign(r, "custom"))
            continue;
        while (n < sizeof kinds / sizeof *kinds && !take_sign(r, kinds[n].name))
            n++;
        if (n == sizeof kinds / sizeof *kinds)
            return false;
        while (!take_sign(r, "}")) {
            struct kernel_index *i = factor_index(k, r);
            if (!i)
                return false;
            i->is_whole |= kinds[n].is_whole;
            if (kinds[n].combiner != HLO_COMBINE_NONE)
                i->combiner = (uint8_t)kinds[n].combiner;
            (void)take_sign(r, ",");
        }
    }
    return true;
}

/* A dim is a whole number of its major factors. */
static bool sizes_fit(const struct kernel_match *k)
{
    for (uint32_t n = 0; n < k->count; n++) {
        const struct kernel_index *i = &k->items[n];
        for (uint32_t leaf = 0; leaf < k->leaves; leaf++) {
            if (i->dims[leaf] < 0)
                continue;
            int64_t dim = kernel_leaf_shape(k, leaf)->dims[i->dims[leaf]];
            if (dim && (i->size < 1 || dim % i->size))
                return false;
        }
    }
    return true;
}

bool kernel_carried(struct kernel_match *k)
{
    static const char name[] = "#sdy.op_sharding_rule<";
    const struct hlo_attr *a = hlo_attr(k->m, k->id, HLO_ATTR_FRONTEND_ATTRIBUTES);
    struct rule r = {0};

    k->count = 0;
    for (uint32_t n = 0; a && n + sizeof name - 1 <= a->size && !r.at; n++) {
        if (!memcmp(a->text + n, name, sizeof name - 1))
            r = (struct rule){a->text + n + sizeof name - 1, a->text + a->size};
    }
    bool ok = r.at && read_leaves(k, &r, 0, k->operands) && take_sign(&r, "->") &&
              read_leaves(k, &r, k->operands, k->leaves) && read_sizes(k, &r) &&
              read_kinds(k, &r) && sizes_fit(k);
    return ok;
}
