/* What to call parameters that the file only numbers, state/0/12 or p37: the module that reads them
 * and what they are there, conv2_block1_1_conv/kernel. */
#include "hlo/meaning/roles.h"
#include "hlo/meaning/roles_internal.h"
#include "hlo/meaning/scope.h"
#include "hlo/module/graph.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <stdlib.h>
#include <string.h>

static const char MEMORY_FOR[] = "for the names of the parameters";

enum { READERS_MAX = 64 }; /* values looked at from one parameter */

static bool is_numbered_only(const struct hlo_roles_work *w, uint32_t p)
{
    const char *path = w->paths[p], *rest = strchr(path, '/');

    return !*path || !path[strspn(path, "0123456789/")] ||
           (rest && !rest[strspn(rest, "0123456789/")]);
}

static bool is_view(uint16_t opcode)
{
    return opcode == HLO_OP_RESHAPE || opcode == HLO_OP_TRANSPOSE || opcode == HLO_OP_CONVERT ||
           opcode == HLO_OP_COPY || opcode == HLO_OP_BITCAST || opcode == HLO_OP_BROADCAST ||
           opcode == HLO_OP_DYNAMIC_SLICE || opcode == HLO_OP_SLICE;
}

/* The first instruction of the forward pass that does more with the parameter than to look at it in
 * another way; one with a scope before one without. HLO_NONE: none. */
static hlo_id first_reader(struct hlo_roles_work *w, uint32_t p)
{
    struct hlo_reach *r = &w->scratch;
    hlo_id best = HLO_NONE;

    hlo_reach_clear(r);
    hlo_reach_add(r, w->params[p].value);
    for (uint32_t n = 0; n < r->count && n < READERS_MAX; n++) {
        for (uint32_t k = w->g.succ_first[r->queue[n]]; k < w->g.succ_first[r->queue[n] + 1]; k++) {
            hlo_value u = w->g.succs[k];
            hlo_id id = w->m->value_instruction[u];
            if (w->g.is_flow[u] || is_view(hlo_at(w->m, id)->opcode)) {
                hlo_reach_add(r, u);
            } else if (w->phase[id] == HLO_PHASE_FORWARD && w->g.position[id] != HLO_NONE &&
                       (best == HLO_NONE || w->g.position[id] < w->g.position[best])) {
                best = id;
            }
        }
    }
    return best;
}

/* Which operand of a batch norm the parameter is, behind the views that first_reader followed. */
static const char *kind_in_batch_norm(const struct hlo_roles_work *w, hlo_id reader)
{
    static const char *const kinds[] = {"input", "scale", "bias", "mean", "variance"};

    for (uint32_t k = 0; k < hlo_at(w->m, reader)->operand_count && k < 5; k++) {
        if (w->scratch.has[hlo_value_of(w->m, hlo_operand(w->m, reader, k), 0)])
            return kinds[k];
    }
    return "vector";
}

/* What an array is to the instruction that reads it. */
static const char *kind_of(const struct hlo_roles_work *w, uint32_t p, hlo_id reader)
{
    uint8_t rank = hlo_value_shape(w->m, w->params[p].value)->rank;

    if (w->params[p].role != HLO_ROLE_VARIABLE)
        return "input";
    switch (hlo_at(w->m, reader)->opcode) {
    case HLO_OP_GATHER:
        return "table";
    case HLO_OP_DOT:
    case HLO_OP_CONVOLUTION:
        return "kernel";
    case HLO_OP_ADD:
    case HLO_OP_SUBTRACT:
        return rank > 1 ? "table" : "bias";
    case HLO_OP_MULTIPLY:
    case HLO_OP_DIVIDE:
        return "scale";
    case HLO_OP_BATCH_NORM_TRAINING:
    case HLO_OP_BATCH_NORM_INFERENCE:
        return kind_in_batch_norm(w, reader);
    default:
        return rank > 1 ? "kernel" : "vector";
    }
}

/* The modules of a scope; formulas, such as the "bqd,dhk->bqhk" of an einsum, name none. */
static void add_modules(struct str *s, const char *scope)
{
    for (size_t size; *scope; scope += size + (scope[size] == '/')) {
        size = strcspn(scope, "/");
        if (memchr(scope, '>', size))
            continue;
        if (s->size)
            str_add_char(s, '/');
        str_format(s, "%.*s", (int)size, scope);
    }
}

static bool name_param(struct hlo_roles_work *w, uint32_t p, struct str *s)
{
    hlo_id reader = first_reader(w, p);

    if (reader == HLO_NONE)
        return true;
    str_clear(s);
    add_modules(s, hlo_scope_of(&w->scopes, hlo_at(w->m, reader)->meta));
    if (!s->size && w->layer[reader])
        str_add(s, w->layer_names[w->layer[reader]]);
    if (s->size)
        str_add_char(s, '/');
    str_add(s, kind_of(w, p, reader));
    w->params[p].module = s->failed ? NULL : arena_text(w->arena, s->text, s->size);
    return w->params[p].module != NULL;
}

/* ---- namesakes ---- */

struct named {
    const char *name;
    uint32_t param;
};

static int by_name(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    int order = strcmp(x->name, y->name);

    return order ? order : (x->param > y->param) - (x->param < y->param);
}

/* The matrices that one cell reads, the scales of one block: kernel, kernel_2, .. in the order of
 * the parameters. */
static bool number_namesakes(struct hlo_roles_work *w, struct str *s)
{
    struct named *all = mem_try(w->param_count ? w->param_count : 1, sizeof *all);
    uint32_t count = 0, alike = 1;
    bool ok = all != NULL;

    for (uint32_t p = 0; ok && p < w->param_count; p++) {
        if (w->params[p].module)
            all[count++] = (struct named){w->params[p].module, p};
    }
    if (ok)
        qsort(all, count, sizeof *all, by_name);
    for (uint32_t n = 1; ok && n < count; n++) {
        alike = strcmp(all[n].name, all[n - 1].name) ? 1 : alike + 1;
        if (alike == 1)
            continue;
        str_clear(s);
        str_format(s, "%s_%u", all[n].name, alike);
        w->params[all[n].param].module = s->failed ? NULL : arena_text(w->arena, s->text, s->size);
        ok = w->params[all[n].param].module != NULL;
    }
    free(all);
    return ok;
}

int hlo_roles_modules(struct hlo_roles_work *w, struct err *e)
{
    struct str s = {0};
    bool ok = true;

    for (uint32_t p = 0; p < w->param_count && ok; p++) {
        uint8_t role = w->params[p].role;
        if ((role == HLO_ROLE_VARIABLE || role == HLO_ROLE_INPUT) && is_numbered_only(w, p))
            ok = name_param(w, p, &s);
    }
    ok = ok && number_namesakes(w, &s);
    str_release(&s);
    return ok ? 0 : err_no_memory(e, MEMORY_FOR);
}
