#include "engine/cost/trace.h"
#include "engine/cost/trace_table.h"

#include "hlo/meaning/cost.h"
#include "hlo/module/ops.h"
#include "hlo/support/file.h"
#include "hlo/support/sort.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <string.h>

static const size_t FILE_MOST = (size_t)1 << 30;
static const char FOR[] = "for a trace";

struct event {
    const char *op, *run, *device;
    double process, us;
};

/* One device's part of a run: whose events of one operation add up. */
static int compare_parts(const struct event *a, const struct event *b)
{
    int order = strcmp(a->run, b->run);

    order = order ? order : (a->process > b->process) - (a->process < b->process);
    return order ? order : strcmp(a->device, b->device);
}

static int by_op_and_run(const void *x, const void *y)
{
    const struct event *a = x, *b = y;
    int order = strcmp(a->op, b->op);

    order = order ? order : compare_parts(a, b);
    return order ? order : a->us < b->us ? -1 : a->us > b->us;
}

static const char *word_of(const cJSON *args, const char *key)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(args, key);

    return cJSON_IsString(v) ? v->valuestring : NULL;
}

/* Events of HLO operations, borrowed from the tree. */
static int list_events(const cJSON *root, struct event **out, uint32_t *count, struct err *e)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(root, "traceEvents"), *at;
    size_t room = 0;

    *count = 0;
    if (!cJSON_IsArray(list))
        return err_set(e, ERR_INPUT, "no traceEvents, expected a trace of the JAX profiler");
    cJSON_ArrayForEach(at, list)
    {
        const cJSON *args = cJSON_GetObjectItemCaseSensitive(at, "args"),
                    *dur = cJSON_GetObjectItemCaseSensitive(at, "dur");
        const char *op = word_of(args, "hlo_op"), *run = word_of(args, "run_id"),
                   *device = word_of(args, "device_ordinal");
        const cJSON *process = cJSON_GetObjectItemCaseSensitive(at, "pid");
        if (!op || !cJSON_IsNumber(dur) || !(dur->valuedouble >= 0))
            continue;
        if (!mem_grow(out, &room, *count, 1))
            return err_no_memory(e, FOR);
        (*out)[(*count)++] =
            (struct event){op, run ? run : "", device ? device : "",
                           cJSON_IsNumber(process) ? process->valuedouble : 0, dur->valuedouble};
    }
    if (!*count)
        return err_set(e, ERR_INPUT, "no event of an HLO operation (args.hlo_op) in the trace");
    return 0;
}

static uint32_t count_runs(const struct event *events, uint32_t count)
{
    uint32_t most = 0, runs = 0;

    for (uint32_t k = 0; k < count; k++) {
        bool same_op = k && !strcmp(events[k].op, events[k - 1].op);
        runs = !same_op ? 1 : runs + (strcmp(events[k].run, events[k - 1].run) != 0);
        most = runs > most ? runs : most;
    }
    return most;
}

/* Median over runs and devices of the sum over one device's events of a run. */
static int sum_up(const struct event *events, uint32_t count, struct trace *t, struct err *e)
{
    double *parts = mem_try((size_t)count + 1, sizeof *parts);
    uint32_t of_op = 0;

    t->ops = mem_try((size_t)count + 1, sizeof *t->ops);
    t->runs = count_runs(events, count);
    t->events = count;
    if (!parts || !t->ops) {
        free(parts);
        return err_no_memory(e, FOR);
    }
    for (uint32_t k = 0; k < count; k++) {
        bool new_op = !k || strcmp(events[k].op, events[k - 1].op) != 0;
        bool new_part = new_op || compare_parts(&events[k], &events[k - 1]) != 0;
        bool last = k + 1 == count || strcmp(events[k].op, events[k + 1].op) != 0;
        of_op = new_op ? 0 : of_op;
        if (new_part)
            parts[of_op++] = 0;
        parts[of_op - 1] += events[k].us / 1e3;
        if (!last)
            continue;
        sort_doubles(parts, of_op);
        struct trace_op *op = &t->ops[t->count++];
        op->name = arena_text(&t->arena, events[k].op, strlen(events[k].op));
        op->ms = (parts[(of_op - 1) / 2] + parts[of_op / 2]) / 2;
        if (!op->name) {
            free(parts);
            return err_no_memory(e, FOR);
        }
    }
    free(parts);
    return 0;
}

static int read_json(const char *text, size_t size, struct trace *t, struct err *e)
{
    struct event *events = NULL;
    uint32_t count = 0;
    const char *end = NULL;
    cJSON *root = cJSON_ParseWithLengthOpts(text, size, &end, false);
    int rc = 0;

    if (!root) {
        rc = err_set(e, ERR_INPUT, "no JSON here, expected a trace of the JAX profiler");
        err_at(e, text, size, end ? (size_t)(end - text) : 0);
        goto out;
    }
    rc = list_events(root, &events, &count, e);
    if (rc)
        goto out;
    qsort(events, count, sizeof *events, by_op_and_run);
    rc = sum_up(events, count, t, e);
out:
    free(events);
    cJSON_Delete(root);
    return rc;
}

static int read_table(const char *text, size_t size, uint32_t steps, struct trace *t, struct err *e)
{
    int rc = trace_table_read(text, size, t, e);

    t->is_table = true;
    for (uint32_t k = 0; k < t->count; k++)
        t->ops[k].ms /= steps;
    return rc;
}

int trace_read(const char *path, uint32_t steps, struct trace *out, struct err *e)
{
    struct str file = {0};
    struct trace t = {0};
    int rc = hlo_file_read_plain(path, FILE_MOST, &file, e);

    if (rc)
        return rc;
    const char *text = file.text ? file.text : "";
    size_t blank = strspn(text, " \t\r\n");
    bool is_json = blank == file.size || text[blank] == '{' || text[blank] == '[';
    rc = is_json ? read_json(text, file.size, &t, e) : read_table(text, file.size, steps, &t, e);
    if (rc) {
        trace_release(&t);
        err_in_file(e, path);
    } else {
        *out = t;
    }
    str_release(&file);
    return rc;
}

void trace_release(struct trace *t)
{
    free(t->ops);
    arena_release(&t->arena);
    memset(t, 0, sizeof *t);
}

/* ---- onto a module ---- */

struct named {
    const char *name;
    hlo_id id;
};

static int by_name(const void *x, const void *y)
{
    const struct named *a = x, *b = y;
    int order = strcmp(a->name, b->name);

    return order ? order : a->id < b->id ? -1 : a->id > b->id;
}

typedef const char *name_of(const struct hlo_module *m, hlo_id id);

static const char *own_name(const struct hlo_module *m, hlo_id id)
{
    return hlo_name(m, id);
}

static const char *op_name(const struct hlo_module *m, hlo_id id)
{
    return hlo_meta(m, id)->op_name;
}

static struct named *list_names(const struct hlo_module *m, name_of *name)
{
    struct named *list = mem_try((size_t)m->count + 1, sizeof *list);

    for (hlo_id id = 0; list && id < m->count; id++)
        list[id] = (struct named){name(m, id), id};
    if (list)
        qsort(list, m->count, sizeof *list, by_name);
    return list;
}

/* The same by names as GPU kernels have them: _ for what is no letter or digit. Texts are in `a`.
 */
static struct named *list_kernel_names(const struct hlo_module *m, struct arena *a)
{
    struct named *list = mem_try((size_t)m->count + 1, sizeof *list);
    bool ok = list != NULL;

    for (hlo_id id = 0; ok && id < m->count; id++) {
        const char *name = hlo_name(m, id);
        char *text = arena_get(a, strlen(name) + 1, 1);
        ok = text != NULL;
        for (size_t n = 0; ok && name[n]; n++)
            text[n] = isalnum((unsigned char)name[n]) ? name[n] : '_';
        list[id] = (struct named){text, id};
    }
    if (ok)
        qsort(list, m->count, sizeof *list, by_name);
    else
        free(list);
    return ok ? list : NULL;
}

/* The first of those of this name; how many there are in *count. */
static const struct named *find_named(const struct named *list, uint32_t size, const char *name,
                                      uint32_t *count)
{
    uint32_t low = 0, high = size;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (strcmp(list[mid].name, name) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    for (*count = 0; low + *count < size && !strcmp(list[low + *count].name, name);)
        ++*count;
    return list + low;
}

/* Its time is that of what it calls, whose operations the trace has too. */
static bool is_around_others(const struct hlo_module *m, hlo_id id)
{
    uint16_t opcode = hlo_at(m, id)->opcode;

    return opcode == HLO_OP_WHILE || opcode == HLO_OP_CONDITIONAL || opcode == HLO_OP_CALL;
}

/* What an instruction's part of a time is: as a roofline of ten operations a byte has it. */
static double weight_of(const struct hlo_module *m, const struct hlo_costs *costs, hlo_id id)
{
    const struct hlo_cost *c = &costs->instruction[id];

    if (!(costs->times[id] > 0) || is_around_others(m, id))
        return 0;
    return 1 + costs->times[id] * (c->flops / 10 > c->bytes ? c->flops / 10 : c->bytes);
}

/* Spreads a run's time of one compiled operation over instructions of the model that run. */
static void spread_over_module(const struct hlo_module *m, const struct hlo_costs *costs,
                               const struct named *list, uint32_t count, double ms,
                               struct trace_match *out)
{
    double sum = 0;

    for (uint32_t k = 0; k < count; k++)
        sum += weight_of(m, costs, list[k].id);
    for (uint32_t k = 0; k < count; k++) {
        hlo_id id = list[k].id;
        double weight = weight_of(m, costs, id);
        if (!(weight > 0))
            continue;
        out->matched += out->ms[id] < 0;
        out->ms[id] = (out->ms[id] < 0 ? 0 : out->ms[id]) + ms * weight / sum / costs->times[id];
    }
    out->matched_ms += sum > 0 ? ms : 0;
}

/* Of an operation of the compiled module. A fusion that has none goes by what it is made of: its
 * result, or else the last before it that has one. */
static const char *compiled_name(const struct hlo_module *m, hlo_id id)
{
    const char *name = op_name(m, id);

    if (name[0] || hlo_at(m, id)->opcode != HLO_OP_FUSION || !hlo_at(m, id)->called_count)
        return name;
    hlo_comp inside = hlo_called(m, id, 0);
    const struct hlo_computation *c = &m->computations[inside];
    name = op_name(m, c->root);
    for (hlo_id n = c->first + c->count; n-- > c->first && !name[0];)
        name = op_name(m, n);
    return name;
}

/* Instructions of the model that a name of the compiled module means. */
enum { VISITS_MOST = 4096 }; /* of computations, for one name: calls may share what they call */
struct found {
    struct named *list;
    uint32_t count, visits;
    size_t room;
};

static bool add_found(struct found *f, struct named one)
{
    if (!mem_grow(&f->list, &f->room, f->count, 1))
        return false;
    f->list[f->count++] = one;
    return true;
}

static bool is_within(const struct hlo_module *m, hlo_id id, hlo_comp comp)
{
    const struct hlo_computation *c = comp == HLO_NONE ? NULL : &m->computations[comp];

    return !c || (id >= c->first && id < c->first + c->count);
}

static int by_id(const void *x, const void *y)
{
    const struct named *a = x, *b = y;

    return a->id < b->id ? -1 : a->id > b->id;
}

/* What several calls share stands there once for each. */
static void drop_repeated(struct found *f)
{
    uint32_t kept = 0;

    if (f->count)
        qsort(f->list, f->count, sizeof *f->list, by_id);
    for (uint32_t n = 0; n < f->count; n++)
        if (!kept || f->list[kept - 1].id != f->list[n].id)
            f->list[kept++] = f->list[n];
    f->count = kept;
}

/* Those of computation `comp` (HLO_NONE: any) with that op_name. Where there is none the compiler
 * has inlined a call: the name begins with the call's, and the rest is one of what it calls. False:
 * out of memory. O(length x log instructions) for each level of calls. */
static bool find_all(const struct hlo_module *m, const struct named *ops, const char *name,
                     hlo_comp comp, struct found *to)
{
    uint32_t count, before = to->count;
    const struct named *at = find_named(ops, m->count, name, &count);
    bool ok = true;

    for (uint32_t n = 0; n < count && ok && name[0]; n++)
        if (is_within(m, at[n].id, comp))
            ok = add_found(to, at[n]);
    if (!ok || to->count > before || ++to->visits > VISITS_MOST)
        return ok;
    char *prefix = mem_try(strlen(name) + 1, 1);
    for (size_t end = strlen(name); prefix && ok && to->count == before && end-- > 1;) {
        if (name[end] != '/')
            continue;
        memcpy(prefix, name, end);
        prefix[end] = 0;
        at = find_named(ops, m->count, prefix, &count);
        for (uint32_t n = 0; n < count && ok; n++)
            if (hlo_at(m, at[n].id)->opcode == HLO_OP_CALL && is_within(m, at[n].id, comp))
                ok = find_all(m, ops, name + end + 1, hlo_called(m, at[n].id, 0), to);
    }
    ok &= prefix != NULL;
    free(prefix);
    return ok;
}

int trace_match(const struct trace *t, const struct hlo_module *m,
                const struct hlo_module *compiled, struct trace_match *out, struct err *e)
{
    const struct hlo_module *named = compiled ? compiled : m;
    struct hlo_costs costs = {0};
    struct trace_match r = {.ms = mem_try((size_t)m->count + 1, sizeof *r.ms)};
    struct arena arena = {0};
    struct found to = {0};
    struct named *names = list_names(named, own_name), *kernels = list_kernel_names(named, &arena),
                 *ops = compiled ? list_names(m, op_name) : NULL;
    bool ok = r.ms && names && kernels && (ops || !compiled);
    int rc = ok ? hlo_costs_new(m, &costs, e) : err_no_memory(e, FOR);

    for (hlo_id id = 0; !rc && id < m->count; id++)
        r.ms[id] = -1;
    for (uint32_t k = 0; !rc && k < t->count; k++) {
        uint32_t count;
        const struct named *at = find_named(names, named->count, t->ops[k].name, &count);
        if (!count)
            at = find_named(kernels, named->count, t->ops[k].name, &count);
        if (count && is_around_others(named, at->id))
            continue;
        r.total_ms += t->ops[k].ms;
        if (!count)
            continue;
        if (!compiled) {
            spread_over_module(m, &costs, at, 1, t->ops[k].ms, &r);
            continue;
        }
        to.count = to.visits = 0;
        ok = find_all(m, ops, compiled_name(compiled, at->id), HLO_NONE, &to);
        drop_repeated(&to);
        if (!ok)
            rc = err_no_memory(e, FOR);
        else if (to.count)
            spread_over_module(m, &costs, to.list, to.count, t->ops[k].ms, &r);
    }
    hlo_costs_release(&costs);
    free(names);
    free(kernels);
    free(ops);
    free(to.list);
    arena_release(&arena);
    if (rc)
        trace_match_release(&r);
    else
        *out = r;
    return rc;
}

void trace_match_release(struct trace_match *t)
{
    free(t->ms);
    memset(t, 0, sizeof *t);
}
