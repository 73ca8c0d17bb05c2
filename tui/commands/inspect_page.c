/* automap inspect for a person: the same page for a perceptron and for eleven billion parameters.
 */
#include "engine/doctor/doctor.h"
#include "engine/kernels/kernel_targets.h"
#include "engine/plan/file_wishes.h"
#include "hlo/meaning/cost.h"
#include "hlo/meaning/program.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/stablehlo/dialects.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/text/write_text.h"
#include "tui/commands/inspect.h"
#include "tui/commands/inspect_kernels.h"

#include "engine/text/units.h"

#include <string.h>

enum {
    OPCODES_SHOWN = 16,
    OPCODE_COLUMNS = 4,
    PAGE_WIDTH = 96,
    WISHES_SHOWN = 3,
    RUNS_MAX = 8, /* runs of digits in a name that are folded */
};

/* ---- figures ---- */

static void add_count(struct str *out, uint64_t value)
{
    char text[UNITS_ROOM];

    str_add(out, units_count(text, (int64_t)value));
}

static void add_bytes(struct str *out, double value)
{
    char text[UNITS_ROOM];

    str_add(out, units_bytes(text, value));
}

/* 746 TFLOP; 11.3 G elements */
static void add_scaled(struct str *out, double value, const char *unit, const char *word)
{
    char text[UNITS_ROOM];

    if (value < 1000 && !*unit)
        str_add(out, units_count(text, (int64_t)value));
    else
        str_add(out, units_rate(text, value, unit));
    str_add(out, word);
}

static void add_label(struct str *out, const char *word)
{
    str_format(out, "%-14s", word);
}

/* ---- the head ---- */

/* What its collectives take. */
static void add_sent(const struct inspection *in, struct str *out)
{
    char ms[UNITS_ROOM];

    add_label(out, "collectives");
    add_bytes(out, in->sent.bytes);
    str_format(out, ", %s%s a step on %s; automap doctor says why\n",
               in->sent.is_least ? "at least " : "", units_short_ms(ms, in->sent.ms), in->sent_on);
}

/* What can be read from a piece of a program, and what cannot. */
static void add_program(const struct inspection *in, struct str *out)
{
    const struct hlo_program *p = &in->program;

    if (p->kind == HLO_PROGRAM_WHOLE && in->m->is_scheduled) {
        add_label(out, "program");
        str_add(out, "compiled for one device: plans can be read; to apply one, XLA takes the "
                     "text before optimisation\n");
    }
    if (p->kind == HLO_PROGRAM_WHOLE)
        return;
    add_label(out, "program");
    str_format(out, "%s, %u collective%s",
               p->kind == HLO_PROGRAM_PARTITIONED ? "one of several partitions"
                                                  : "written for each device (shard_map, pmap)",
               (unsigned)p->collectives, p->collectives == 1 ? "" : "s");
    if (p->first != HLO_NONE)
        str_format(out, ", %s first", hlo_name(in->m, p->first));
    str_add(out, "; not to be planned\n");
    if (in->sent.ms > 0)
        add_sent(in, out);
}

static void add_file(const struct inspection *in, struct str *out)
{
    static const char *const formats[] = {[HLO_FORMAT_TEXT] = "HLO text",
                                          [HLO_FORMAT_JSON] = "HLO as JSON",
                                          [HLO_FORMAT_PROTO] = "HLO proto",
                                          [HLO_FORMAT_PROTO_TEXT] = "HLO as protobuf text",
                                          [HLO_FORMAT_STABLEHLO] = "StableHLO"};
    const struct hlo_module *m = in->m;

    str_format(out, "%s  (%s%s, ", m->file, formats[m->format], m->is_gzipped ? ", gzipped" : "");
    add_bytes(out, (double)m->input_bytes);
    str_add(out, ")\n\n");
    add_label(out, "module");
    str_format(out, "%s", m->name);
    if (m->num_partitions > 1 || m->replica_count > 1)
        str_format(out, ", %s for %lld partitions and %lld replicas",
                   in->program.kind == HLO_PROGRAM_PARTITIONED ? "already made" : "to be made",
                   (long long)m->num_partitions, (long long)m->replica_count);
    str_add(out, "\n");
    if (m->format == HLO_FORMAT_STABLEHLO && m->input) {
        add_label(out, "dialects");
        hlo_stablehlo_dialects(m->input, out);
        str_add(out, " operations; text carries no versions\n");
    }
    add_program(in, out);
    add_label(out, "instructions");
    add_count(out, m->count);
    str_add(out, " in ");
    add_count(out, m->computation_count);
    str_add(out, m->computation_count == 1 ? " computation, " : " computations, ");
    add_count(out, m->computations[m->entry].count);
    str_format(out, " in the entry %s\n", m->computations[m->entry].name);
}

struct total {
    uint32_t count;
    double elements, bytes;
};

static struct total total_of(const struct inspection *in, enum hlo_role role)
{
    struct total t = {0};

    for (uint32_t p = 0; p < in->roles.param_count; p++) {
        const struct hlo_shape *s = hlo_value_shape(in->m, in->roles.params[p].value);
        if (in->roles.params[p].role != role)
            continue;
        t.count++;
        t.elements += (double)s->elements;
        t.bytes += (double)s->bytes;
    }
    return t;
}

static void add_roles(const struct inspection *in, struct str *out)
{
    static const char *const one[] = {"variable", "optimizer state", "input", "hyper-parameter",
                                      "other state"};
    static const char *const many[] = {"variables", "optimizer states", "inputs",
                                       "hyper-parameters", "other states"};

    add_label(out, "parameters");
    add_count(out, in->m->computations[in->m->entry].param_count);
    str_add(out, "\n");
    for (int role = 0; role < HLO_ROLE_COUNT; role++) {
        struct total t = total_of(in, (enum hlo_role)role);
        if (!t.count)
            continue;
        str_format(out, "  %8u %-17s ", (unsigned)t.count, t.count == 1 ? one[role] : many[role]);
        add_scaled(out, t.elements, "", " elements");
        str_add(out, ", ");
        add_bytes(out, t.bytes);
        str_add(out, "\n");
    }
}

static void add_kernels(const struct kernel_work *w, struct str *out)
{
    if (w->bytes <= 0 && !w->unknown)
        return;
    add_label(out, "");
    str_add(out, "and its kernels, of which XLA counts nothing: ");
    if (w->flops > 0) {
        add_scaled(out, w->flops, "FLOP", "");
        str_add(out, ", ");
    }
    add_bytes(out, w->bytes);
    if (w->unknown)
        str_format(out, ", and the work of %u unknown", w->unknown);
    str_add(out, "\n");
}

static void add_cost(const struct inspection *in, struct str *out)
{
    const struct hlo_cost *once = &in->costs.total, *trips = &in->costs.total_trips;
    const struct kernel_work kernels = in->kernels.work;

    add_label(out, "one step");
    add_scaled(out, trips->flops, "FLOP", "");
    str_add(out, ", ");
    add_scaled(out, trips->transcendentals, "", " transcendental operations");
    str_add(out, ", ");
    add_bytes(out, trips->bytes);
    str_add(out, " read and written\n");
    if (trips->flops > once->flops) {
        add_label(out, "");
        str_add(out, "loops as often as they run; XLA counts each once: ");
        add_scaled(out, once->flops, "FLOP", "");
        str_add(out, "\n");
    }
    add_kernels(&kernels, out);
}

static void add_phases(const struct inspection *in, struct str *out)
{
    double flops[HLO_PHASE_COUNT] = {0}, all = 0;

    for (hlo_id id = 0; id < in->m->count; id++) {
        double f = in->costs.instruction[id].flops * in->costs.times[id];
        if (f > 0 && !hlo_cost_is_of_callees(hlo_at(in->m, id)->opcode)) {
            flops[in->roles.phase[id]] += f;
            all += f;
        }
    }
    add_label(out, "phases");
    str_format(out, "by %s\n", in->roles.phase_source);
    for (int p = 0; p < HLO_PHASE_COUNT; p++) {
        if (!in->phases[p])
            continue;
        str_format(out, "  %8u %-9s %5.1f %% of the FLOP\n", (unsigned)in->phases[p],
                   hlo_phase_names[p], all > 0 ? 100 * flops[p] / all : 0.0);
    }
    add_label(out, "loss");
    if (in->roles.loss == HLO_NONE)
        str_format(out, "not found: %s; --loss NAME says which it is\n", in->roles.loss_source);
    else
        str_format(out, "%s  %s%s\n", hlo_name(in->m, in->m->value_instruction[in->roles.loss]),
                   in->roles.loss_confidence == HLO_DOUBTFUL ? "doubtful: " : "",
                   in->roles.loss_source);
}

/* ---- lists, folded ---- */

/* Names that differ only in numbers, with the same shape, on one line: layer_{000..023}/q/kernel.
 */
struct group {
    const char *name; /* of the first */
    hlo_shape_id shape;
    uint32_t first, count; /* first: parameter, or layer */
    uint32_t low, high;    /* layers: instructions, least and most */
    uint8_t source, confidence, run_count;
    struct {
        const char *low, *high;
        uint8_t low_size, high_size;
    } runs[RUNS_MAX];
    uint64_t hash;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t digits_of(const char *text)
{
    return strspn(text, "0123456789");
}

static bool is_less(const char *a, size_t a_size, const char *b, size_t b_size)
{
    while (a_size && *a == '0')
        a++, a_size--;
    while (b_size && *b == '0')
        b++, b_size--;
    return a_size != b_size ? a_size < b_size : strncmp(a, b, a_size) < 0;
}

/* Hash of the name with all its numbers taken out, and where they are. */
static void read_name(struct group *g, const char *name, uint64_t seed)
{
    g->name = name;
    g->run_count = 0;
    g->hash = seed;
    for (const char *at = name; *at;) {
        size_t size = is_digit(*at) ? digits_of(at) : strcspn(at, "0123456789");
        if (is_digit(*at) && size < UINT8_MAX && g->run_count < RUNS_MAX) {
            g->runs[g->run_count].low = g->runs[g->run_count].high = at;
            g->runs[g->run_count].low_size = g->runs[g->run_count].high_size = (uint8_t)size;
            g->run_count++;
            g->hash = mem_hash("#", 1, g->hash);
        } else {
            g->hash = mem_hash(at, size, g->hash);
        }
        at += size;
    }
}

static void join_groups(struct group *g, const struct group *one)
{
    g->count += one->count;
    g->low = one->low < g->low ? one->low : g->low;
    g->high = one->high > g->high ? one->high : g->high;
    for (int r = 0; r < g->run_count; r++) {
        if (is_less(one->runs[r].low, one->runs[r].low_size, g->runs[r].low, g->runs[r].low_size)) {
            g->runs[r].low = one->runs[r].low;
            g->runs[r].low_size = one->runs[r].low_size;
        }
        if (is_less(g->runs[r].high, g->runs[r].high_size, one->runs[r].high,
                    one->runs[r].high_size)) {
            g->runs[r].high = one->runs[r].high;
            g->runs[r].high_size = one->runs[r].high_size;
        }
    }
}

static void add_folded(struct str *out, const struct group *g)
{
    const char *at = g->name;

    for (int r = 0; r < g->run_count; r++) {
        const char *run = at;
        while (!is_digit(*run))
            run++;
        str_add_bytes(out, at, (size_t)(run - at));
        at = run + digits_of(run);
        bool is_one = g->runs[r].low_size == g->runs[r].high_size &&
                      !strncmp(g->runs[r].low, g->runs[r].high, g->runs[r].low_size);
        if (!is_one)
            str_add_char(out, '{');
        str_add_bytes(out, g->runs[r].low, g->runs[r].low_size);
        if (!is_one) {
            str_add(out, "..");
            str_add_bytes(out, g->runs[r].high, g->runs[r].high_size);
            str_add_char(out, '}');
        }
    }
    str_add(out, at);
}

static int by_hash(const void *a, const void *b)
{
    const struct group *x = a, *y = b;

    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

static int by_first(const void *a, const void *b)
{
    const struct group *x = a, *y = b;

    return x->first < y->first ? -1 : x->first > y->first;
}

/* Joins equal hashes; keeps the order of the first of each. */
static uint32_t fold_groups(struct group *list, uint32_t count)
{
    uint32_t kept = 0;

    if (count)
        qsort(list, count, sizeof *list, by_hash);
    for (uint32_t n = 0; n < count; n++) {
        if (kept && list[kept - 1].hash == list[n].hash)
            join_groups(&list[kept - 1], &list[n]);
        else
            list[kept++] = list[n];
    }
    if (kept)
        qsort(list, kept, sizeof *list, by_first);
    return kept;
}

static uint32_t collect_params(const struct inspection *in, enum hlo_role role, struct group *list)
{
    uint32_t count = 0;

    for (uint32_t p = 0; p < in->roles.param_count; p++) {
        const struct hlo_param_role *r = &in->roles.params[p];
        hlo_shape_id bare = hlo_value_shape(in->m, r->value)->bare;
        if (r->role != role)
            continue;
        struct group *g = &list[count++];
        *g = (struct group){.shape = bare, .first = p, .count = 1, .source = r->source};
        g->confidence = r->confidence;
        read_name(g, r->name, (uint64_t)bare << 8 | (uint64_t)r->confidence << 4 | r->source);
        if (in->show_all)
            g->hash = p;
    }
    return fold_groups(list, count);
}

static void add_params(const struct inspection *in, enum hlo_role role, const char *title,
                       struct str *out)
{
    struct group *list = mem_try(in->roles.param_count, sizeof *list);
    uint32_t count = list ? collect_params(in, role, list) : 0;

    out->failed |= !list;
    if (count)
        str_format(out, "\n%s\n", title);
    for (uint32_t n = 0; n < count; n++) {
        size_t begin = out->size;
        str_format(out, "  %5u  ", (unsigned)in->roles.params[list[n].first].parameter);
        add_folded(out, &list[n]);
        if (list[n].count > 1)
            str_format(out, "  x %u", (unsigned)list[n].count);
        for (size_t width = out->size - begin; width < PAGE_WIDTH - 34; width++)
            str_add_char(out, ' ');
        str_add(out, "  ");
        begin = out->size;
        hlo_write_shape(in->m, list[n].shape, false, out);
        for (size_t width = out->size - begin; width < 20; width++)
            str_add_char(out, ' ');
        str_format(out, "  by %s%s\n", hlo_role_source_names[list[n].source],
                   list[n].confidence == HLO_DOUBTFUL ? ", doubtful" : "");
    }
    free(list);
}

static void add_layers(const struct inspection *in, struct str *out)
{
    uint32_t layers = in->roles.layer_count - 1;
    struct group *list = mem_try(in->roles.layer_count, sizeof *list);

    add_label(out, "layers");
    if (layers)
        str_format(out, "%u, by %s; %.0f %% of the FLOP of forward and backward pass\n",
                   (unsigned)layers, in->roles.layer_source, 100 * in->roles.layer_coverage);
    else
        str_add(out, "none found\n");
    out->failed |= !list;
    for (uint32_t n = 0; n < layers && list; n++) {
        list[n] = (struct group){
            .first = n + 1, .count = 1, .low = in->layers[n + 1], .high = in->layers[n + 1]};
        read_name(&list[n], in->roles.layer_names[n + 1], 0);
        if (in->show_all)
            list[n].hash = n;
    }
    uint32_t count = list ? fold_groups(list, layers) : 0;
    for (uint32_t n = 0; n < count; n++) {
        str_add(out, "           ");
        add_folded(out, &list[n]);
        str_format(out, "  %u", (unsigned)list[n].low);
        if (list[n].low < list[n].high)
            str_format(out, " to %u", (unsigned)list[n].high);
        str_add(out, list[n].count > 1 ? " instructions each" : " instructions");
        if (in->roles.layer_times[list[n].first] > 1)
            str_format(out, ", a loop over %u layers",
                       (unsigned)in->roles.layer_times[list[n].first]);
        str_add(out, "\n");
    }
    free(list);
}

/* ---- what to look at again ---- */

static void add_doubts(const struct inspection *in, struct str *out)
{
    uint32_t doubtful = 0, first = HLO_NONE;

    for (uint32_t p = 0; p < in->roles.param_count; p++) {
        if (in->roles.params[p].confidence != HLO_DOUBTFUL)
            continue;
        first = doubtful++ ? first : p;
    }
    if (!doubtful)
        return;
    add_label(out, "doubtful");
    str_format(out, "%u %s, such as %s: %s\n", (unsigned)doubtful, doubtful == 1 ? "role" : "roles",
               in->roles.params[first].name, in->roles.params[first].evidence);
    add_label(out, "");
    str_add(out, "--vars FILE says which parameters are trained\n");
}

/* ---- opcodes and warnings ---- */

struct frequency {
    uint32_t count;
    const char *name;
};

static int by_count(const void *a, const void *b)
{
    const struct frequency *x = a, *y = b;

    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return strcmp(x->name, y->name);
}

static void add_opcodes(const struct inspection *in, struct str *out)
{
    struct frequency list[HLO_OP_COUNT];
    uint32_t count = 0, shown;

    for (int op = 0; op < HLO_OP_COUNT; op++) {
        if (in->m->opcode_count[op])
            list[count++] = (struct frequency){
                in->m->opcode_count[op], op == HLO_OP_UNKNOWN ? "unknown" : hlo_op_info[op].name};
    }
    qsort(list, count, sizeof *list, by_count);
    shown = in->show_all || count < OPCODES_SHOWN ? count : OPCODES_SHOWN;
    str_add(out, "\nopcodes");
    if (shown < count)
        str_format(out, " (%u of %u)", (unsigned)shown, (unsigned)count);
    for (uint32_t n = 0; n < shown; n++) {
        bool is_last = n + 1 == shown || (n + 1) % OPCODE_COLUMNS == 0;
        str_format(out, "%s%8u %-*s", n % OPCODE_COLUMNS ? "" : "\n", (unsigned)list[n].count,
                   is_last ? 0 : 14, list[n].name);
    }
    str_add(out, "\n");
}

static void add_warnings(const struct inspection *in, struct str *out)
{
    if (in->m->warning_count)
        str_add(out, "\nwarnings\n");
    for (uint32_t n = 0; n < in->m->warning_count; n++) {
        const struct hlo_warning *w = &in->m->warnings[n];
        str_add(out, "  ");
        if (w->line)
            str_format(out, "%u:%u: ", (unsigned)w->line, (unsigned)w->col);
        str_add(out, w->what);
        if (w->count > 1)
            str_format(out, " (%u times)", (unsigned)w->count);
        str_add(out, "\n");
    }
}

/* Shardings that the author wrote: what they split, and who keeps them. */
static void add_wishes(const struct inspection *in, struct str *out)
{
    struct file_wish *list;
    struct err e = {0};
    size_t count;

    if (file_wishes_new(in->m, &list, &count, &e) || !count)
        return;
    str_add(out, "\n");
    add_label(out, "shardings");
    str_format(out, "%zu of the file: ", count);
    for (size_t k = 0; k < count && k < WISHES_SHOWN; k++)
        str_format(out, "%s%s dim %u in %u", k ? ", " : "", hlo_name(in->m, list[k].id),
                   list[k].dim, list[k].parts);
    str_format(out, "%s; automap plan --pins-from-file keeps them\n",
               count > WISHES_SHOWN ? ", .." : "");
    free(list);
}

void inspect_page(const struct inspection *in, struct str *out)
{
    add_file(in, out);
    add_roles(in, out);
    add_cost(in, out);
    add_phases(in, out);
    add_layers(in, out);
    add_doubts(in, out);
    add_wishes(in, out);
    add_opcodes(in, out);
    inspect_kernels_page(in, out);
    add_params(in, HLO_ROLE_VARIABLE, "variables", out);
    add_params(in, HLO_ROLE_INPUT, "candidate inputs", out);
    add_params(in, HLO_ROLE_HYPER, "hyper-parameters", out);
    add_params(in, HLO_ROLE_OTHER_STATE, "other state", out);
    if (in->show_all)
        add_params(in, HLO_ROLE_OPTIMIZER_STATE, "optimizer state", out);
    add_warnings(in, out);
}
