/* automap doctor: the collectives of a partitioned module, why they are there, and how to be rid of
 * them. */
#include "engine/cluster/cluster.h"
#include "engine/cluster/collectives.h"
#include "engine/doctor/doctor.h"
#include "engine/text/units.h"
#include "hlo/load.h"
#include "hlo/meaning/frames.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/file.h"
#include "tui/commands/commands.h"
#include "tui/files/user_files.h"
#include "tui/options/exit_code.h"
#include "tui/options/option.h"
#include "tui/options/problem_args.h"

#include <cjson/cJSON.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct request {
    const char *file, *cluster, *before, *kernels;
    bool is_json;
};

#define ARG(field) INTO(struct request, field)
static const struct option rows[] = {
    {"DUMP", .values = VALUES_FILE, ARG(file)},
    {"CLUSTER", NULL,
     "a cluster with as many devices as the module has partitions; without one default devices",
     .values = VALUES_CLUSTER, ARG(cluster)},
    {"before", "FILE",
     "the program before partitioning: constraints that a compiled DUMP has lost are found there, "
     "and changes by planning it again (default: *before_optimizations.txt beside DUMP)",
     .kind = OPTION_FILE, ARG(before)},
    {"kernels", "FILE", "rules that price custom-calls, before the built-in ones (engine/kernels)",
     .kind = OPTION_FILE, ARG(kernels)},
    {"json", NULL, "one object for programs", ARG(is_json)},
    {0},
};
#undef ARG
static const struct option_set options[] = {{.rows = rows}, {0}};

/* ---- for a person ---- */

static void print_times(double ms)
{
    char text[UNITS_ROOM];

    printf("%12s", units_short_ms(text, ms));
}

static void print_wrapped(const char *head, const char *text)
{
    enum { WIDTH = 96, INDENT = 6 };
    const char *mark = head;

    while (*text) {
        size_t room = WIDTH - INDENT - strlen(head), size = strlen(text);
        if (size > room) {
            size = room;
            while (size && text[size] != ' ')
                size--;
            size = size ? size : room;
        }
        printf("%*s%-*s%.*s\n", INDENT, "", (int)strlen(head), mark, (int)size, text);
        text += size + (text[size] == ' ');
        mark = "";
    }
}

static void print_chain(const struct doctor *d, hlo_id id)
{
    struct hlo_frame chain[HLO_FRAMES_MOST];
    uint32_t count = doctor_chain(d, id, chain);

    if (count < 2)
        return;
    printf("      called ");
    for (uint32_t k = 0; k < count && k < 6; k++)
        printf("%s%s:%u%s%s", k ? " < " : "", hlo_file_name(chain[k].file), chain[k].line,
               *chain[k].function ? " " : "", chain[k].function);
    printf("%s\n", count > 6 ? " < ..." : "");
}

enum { JOINED_MOST = 256 };

/* Where the others stand that compiling has joined with it. */
static void print_joined(const struct doctor *d, const struct doctor_finding *f)
{
    struct hlo_frame others[JOINED_MOST];
    uint32_t count = doctor_joined(d, f, JOINED_MOST, others);

    for (uint32_t k = 0; k < count && k < 6; k++)
        printf("%s%s:%u", k ? ", " : "      joined  with those of ", hlo_file_name(others[k].file),
               others[k].line);
    if (count)
        printf("%s\n", count > 6 ? ", ..." : "");
}

static void print_planned(const struct doctor_planned *p)
{
    char now[UNITS_ROOM], then[UNITS_ROOM], bytes[UNITS_ROOM], line[160];

    if (!p->change)
        return;
    print_wrapped("planned ", p->change);
    if (p->has_line) {
        snprintf(line, sizeof line, "at %s:%u", hlo_file_name(p->line.file), p->line.line);
        print_wrapped("        ", line);
    }
    printf("              all collectives of a step %s to %s, %s left in %u\n",
           units_short_ms(now, p->now_ms), units_short_ms(then, p->ms),
           units_bytes(bytes, p->bytes), p->count);
}

static void print_finding(const struct doctor *d, uint32_t k, uint32_t times)
{
    const struct doctor_finding *f = &d->findings[k];
    char bytes[UNITS_ROOM], sent[UNITS_ROOM], line[160];

    if (f->has_line)
        snprintf(line, sizeof line, "%s:%u", hlo_file_name(f->line.file), f->line.line);
    else
        snprintf(line, sizeof line, "no line");
    printf("  %-9s %-18s x%-4u %9s sent %9s ", doctor_verdict_names[f->verdict],
           collective_name(f->once.kind), times, units_bytes(bytes, f->once.bytes),
           units_bytes(sent, f->once.sent));
    print_times(f->once.ms * times * (isnan(f->trips) ? 1 : f->trips));
    printf("  %s", line);
    if (isnan(f->trips))
        printf("  in a loop of unknown trips");
    else if (f->trips != 1)
        printf("  %.0f trips", f->trips);
    printf("\n");
    print_wrapped("because ", f->because);
    print_chain(d, f->id);
    print_joined(d, f);
    if (*f->cure)
        print_wrapped("change  ", f->cure);
    if (f->cure_is_priced && !(f->cured.bytes > 0)) {
        printf("      leaves  nothing of it\n");
    } else if (f->cure_is_priced) {
        printf("      leaves  %s %s, sent %s, ", collective_name(f->cured.kind),
               units_bytes(bytes, f->cured.bytes), units_bytes(sent, f->cured.sent));
        print_times(f->cured.ms * (isnan(f->cured_trips) ? 1 : f->cured_trips));
        printf("\n");
    }
    print_planned(&f->planned);
}

/* Calls of which nobody knows the work: never at no cost. */
static void print_opaque(const struct doctor *d)
{
    char ms[UNITS_ROOM];

    for (uint32_t k = 0; k < d->opaque_count; k++) {
        const struct doctor_opaque *o = &d->opaque[k];
        struct hlo_frame chain[HLO_FRAMES_MOST];
        char line[160] = "no line";
        if (doctor_chain(d, o->first, chain))
            snprintf(line, sizeof line, "%s:%u", hlo_file_name(chain[0].file), chain[0].line);
        printf("  unknown   custom-call        x%-4u \"%.60s\"  %s  %s\n", o->count, o->target,
               units_short_ms(ms, o->ms), line);
        print_wrapped("because ", "no rule says what it does: counted by the bytes it reads and "
                                  "writes, its operations are not. --kernels gives it a rule");
        printf("\n");
    }
}

/* The part of a step that collectives are, where the rest is known. */
static void print_share(const struct doctor *d, double ms)
{
    char step[UNITS_ROOM];

    if (d->has_compute && d->compute_ms + ms > 0)
        printf("  of        %s a step, computing and communicating in turn: %.0f %%\n",
               units_short_ms(step, d->compute_ms + ms), 100 * ms / (d->compute_ms + ms));
}

/* Where several were found; of one its row says the same. */
static void print_together(const struct doctor_together *t)
{
    char now[UNITS_ROOM], then[UNITS_ROOM], left[UNITS_ROOM], less[UNITS_ROOM], was[UNITS_ROOM],
        is[UNITS_ROOM], others[64];

    if (!t->changes)
        return;
    printf("  planned   ");
    if (t->changes < t->offered)
        printf("%u of %u changes%s: ", t->changes, t->offered,
               doctor_left_out(others, sizeof others, t));
    else if (t->changes > 1)
        printf("all %u changes at once: ", t->changes);
    else
        printf("with its change: ");
    printf("collectives %s to %s, %s left in %u,\n            the step %s%s, memory %s to %s\n",
           units_short_ms(now, t->now_ms), units_short_ms(then, t->ms), units_bytes(left, t->bytes),
           t->count, t->saves_ms < 0 ? "+" : "-", units_short_ms(less, fabs(t->saves_ms)),
           units_bytes(was, t->memory_now), units_bytes(is, t->memory));
}

static void print_page(const struct doctor *d)
{
    struct doctor_total now, cured;
    char name[128], a[UNITS_ROOM], b[UNITS_ROOM];

    doctor_sum(d, &(struct doctor_row){0, d->count}, &now, &cured);
    printf("%s  made for %u partitions, priced on %s%s\n\n",
           file_stem(name, sizeof name, d->m->file), d->devices, d->cluster.name,
           d->is_compiled ? "; compiled" : "");
    if (!d->count) {
        printf("  no collectives: nothing to cure\n");
        print_opaque(d);
        return;
    }
    for (uint32_t k = 0; k < d->row_count; k++) {
        print_finding(d, d->rows[k].first, d->rows[k].times);
        printf("\n");
    }
    print_opaque(d);
    printf("  in all    %u collective%s, %s on a device, sent %s, %s", d->count,
           d->count == 1 ? "" : "s", units_bytes(a, now.bytes), units_bytes(b, now.sent),
           now.is_least ? "at least" : "");
    print_times(now.ms);
    printf(" a step\n");
    print_share(d, now.ms);
    printf("  changed   %s on a device, sent %s, ", units_bytes(a, cured.bytes),
           units_bytes(b, cured.sent));
    print_times(cured.ms);
    printf(" with the changes above, planned ones apart\n");
    print_together(&d->together);
    if (d->is_compiled)
        printf(
            "\n  Compiled text has lost the sharding constraints, and for CPU bf16 has become f32:"
            "\n  the text after spmd-partitioning says more.\n");
    printf(
        "\n  A module made for partitions is explained, not planned: automap plan takes the text\n"
        "  before optimisation, of one partition.\n");
}

/* ---- for programs ---- */

static void add_traffic(cJSON *o, const struct doctor_traffic *t, double trips)
{
    cJSON_AddStringToObject(o, "kind", collective_name(t->kind));
    cJSON_AddNumberToObject(o, "bytes", t->bytes);
    cJSON_AddNumberToObject(o, "sent_bytes", t->sent);
    cJSON_AddNumberToObject(o, "group", t->group);
    cJSON_AddItemToObject(o, "trips",
                          isnan(trips) ? cJSON_CreateNull() : cJSON_CreateNumber(trips));
    cJSON_AddNumberToObject(o, "ms", t->ms * (isnan(trips) ? 1 : trips));
}

static void add_line(cJSON *o, const struct hlo_frame *f)
{
    cJSON_AddStringToObject(o, "file", f->file);
    cJSON_AddNumberToObject(o, "line", f->line);
    cJSON_AddStringToObject(o, "function", f->function);
}

static void add_planned(cJSON *o, const struct doctor_planned *p)
{
    cJSON_AddStringToObject(o, "change", p->change);
    if (p->has_line)
        add_line(cJSON_AddObjectToObject(o, "line"), &p->line);
    cJSON_AddNumberToObject(o, "communication_now_ms", p->now_ms);
    cJSON_AddNumberToObject(o, "communication_ms", p->ms);
    cJSON_AddNumberToObject(o, "bytes", p->bytes);
    cJSON_AddNumberToObject(o, "collectives_now", p->now_count);
    cJSON_AddNumberToObject(o, "collectives", p->count);
    cJSON_AddNumberToObject(o, "step_saves_ms", p->saves_ms);
}

static cJSON *finding_json(const struct doctor *d, const struct doctor_finding *f)
{
    struct hlo_frame chain[HLO_FRAMES_MOST], others[JOINED_MOST];
    cJSON *o = cJSON_CreateObject();

    cJSON_AddStringToObject(o, "instruction", hlo_name(d->m, f->id));
    add_traffic(o, &f->once, f->trips);
    cJSON_AddStringToObject(o, "cause", doctor_cause_names[f->cause]);
    cJSON_AddStringToObject(o, "verdict", doctor_verdict_names[f->verdict]);
    cJSON_AddStringToObject(o, "because", f->because);
    if (f->has_line)
        add_line(cJSON_AddObjectToObject(o, "line_of_cause"), &f->line);
    cJSON *frames = cJSON_AddArrayToObject(o, "frames");
    for (uint32_t k = 0, count = doctor_chain(d, f->id, chain); k < count; k++) {
        cJSON *one = cJSON_CreateObject();
        add_line(one, &chain[k]);
        cJSON_AddItemToArray(frames, one);
    }
    cJSON *joined = cJSON_AddArrayToObject(o, "joined_lines");
    for (uint32_t k = 0, count = doctor_joined(d, f, JOINED_MOST, others); k < count; k++) {
        cJSON *one = cJSON_CreateObject();
        add_line(one, &others[k]);
        cJSON_AddItemToArray(joined, one);
    }
    if (*f->cure)
        cJSON_AddStringToObject(o, "cure", f->cure);
    if (f->cure_is_priced)
        add_traffic(cJSON_AddObjectToObject(o, "after"), &f->cured, f->cured_trips);
    if (f->planned.change)
        add_planned(cJSON_AddObjectToObject(o, "planned"), &f->planned);
    return o;
}

static cJSON *opaque_json(const struct doctor *d, const struct doctor_opaque *call)
{
    struct hlo_frame chain[HLO_FRAMES_MOST];
    cJSON *o = cJSON_CreateObject();

    cJSON_AddStringToObject(o, "target", call->target);
    cJSON_AddStringToObject(o, "instruction", hlo_name(d->m, call->first));
    cJSON_AddNumberToObject(o, "count", call->count);
    cJSON_AddNumberToObject(o, "ms", call->ms);
    if (doctor_chain(d, call->first, chain))
        add_line(cJSON_AddObjectToObject(o, "line"), &chain[0]);
    return o;
}

static void add_together(cJSON *o, const struct doctor_together *t)
{
    cJSON_AddNumberToObject(o, "changes", t->changes);
    cJSON_AddNumberToObject(o, "changes_offered", t->offered);
    cJSON_AddNumberToObject(o, "changes_untried", t->untried);
    cJSON_AddNumberToObject(o, "communication_now_ms", t->now_ms);
    cJSON_AddNumberToObject(o, "communication_ms", t->ms);
    cJSON_AddNumberToObject(o, "bytes", t->bytes);
    cJSON_AddNumberToObject(o, "collectives", t->count);
    cJSON_AddNumberToObject(o, "step_saves_ms", t->saves_ms);
    cJSON_AddNumberToObject(o, "memory_now_bytes", t->memory_now);
    cJSON_AddNumberToObject(o, "memory_bytes", t->memory);
}

static void print_json(const struct doctor *d)
{
    struct doctor_total now, cured;
    cJSON *o = cJSON_CreateObject();

    doctor_sum(d, &(struct doctor_row){0, d->count}, &now, &cured);
    cJSON_AddStringToObject(o, "schema", "automap.doctor/1");
    cJSON_AddNumberToObject(o, "partitions", d->devices);
    cJSON_AddStringToObject(o, "cluster", d->cluster.name);
    cJSON_AddBoolToObject(o, "compiled", d->is_compiled);
    cJSON *all = cJSON_AddArrayToObject(o, "collectives");
    for (uint32_t k = 0; k < d->count; k++)
        cJSON_AddItemToArray(all, finding_json(d, &d->findings[k]));
    cJSON_AddNumberToObject(o, "bytes", now.bytes);
    cJSON_AddNumberToObject(o, "sent_bytes", now.sent);
    cJSON_AddNumberToObject(o, "ms", now.ms);
    cJSON_AddBoolToObject(o, "at_least", now.is_least);
    if (d->has_compute)
        cJSON_AddNumberToObject(o, "compute_ms", d->compute_ms);
    cJSON *calls = cJSON_AddArrayToObject(o, "unknown_calls");
    for (uint32_t k = 0; k < d->opaque_count; k++)
        cJSON_AddItemToArray(calls, opaque_json(d, &d->opaque[k]));
    cJSON_AddNumberToObject(o, "cured_bytes", cured.bytes);
    cJSON_AddNumberToObject(o, "cured_sent_bytes", cured.sent);
    cJSON_AddNumberToObject(o, "cured_ms", cured.ms);
    if (d->together.changes)
        add_together(cJSON_AddObjectToObject(o, "planned_together"), &d->together);
    char *text = cJSON_Print(o);
    if (text)
        puts(text);
    cJSON_free(text);
    cJSON_Delete(o);
}

static int explain_finding(const struct request *r, struct err *e)
{
    struct hlo_module *m[2] = {NULL, NULL},
                      *before[2] = {NULL, NULL}; /* one to look at, one to plan */
    struct doctor d = {0};
    struct cluster c;
    char beside[PATH_MAX];
    int rc = hlo_load_twice(r->file, NULL, m, e);
    const char *path = r->before                                          ? r->before
                       : file_before_dump(beside, sizeof beside, r->file) ? beside
                                                                          : NULL;

    if (rc)
        goto out;
    rc = path ? hlo_load_twice(path, NULL, before, e) : 0;
    if (rc)
        goto out;
    rc = r->cluster ? cluster_load(&c, r->cluster, e) : 0;
    if (rc)
        goto out;
    rc = doctor_new(m[0], before[0], r->cluster ? &c : NULL, &d, e);
    if (rc) {
        err_in_file(e, r->file);
        goto out;
    }
    struct hlo_module *copy = m[1], *program = before[1];
    m[1] = NULL; /* taken over */
    rc = doctor_compute(&d, copy, r->kernels, e);
    if (rc)
        goto out;
    before[1] = NULL; /* taken over */
    rc = program ? doctor_replan(&d, program, NULL, e) : 0;
    if (rc)
        goto out;
    if (r->is_json)
        print_json(&d);
    else
        print_page(&d);
out:
    doctor_release(&d);
    hlo_free(m[0]);
    hlo_free(m[1]);
    hlo_free(before[0]);
    hlo_free(before[1]);
    return rc;
}

static int cmd_doctor(int argc, char **argv)
{
    const struct option_parser parser = {.command = "doctor", .sets = options};
    struct request r = {0};
    struct err e;
    int code = options_parse(&parser, &r, argc, argv);

    if (code != EXIT_OK)
        return code;
    if (!r.file)
        return options_complain("doctor", "a dump is needed");
    if (!explain_finding(&r, &e))
        return EXIT_OK;
    err_print(&e, stderr);
    return exit_code_of(&e);
}

const struct command command_doctor = {
    .name = "doctor",
    .usage = "DUMP [CLUSTER]",
    .summary = "explain the collectives of a partitioned module: line, cause, price, change",
    .about = "Explains a module that XLA has partitioned or compiled: every collective with the "
             "source line that made it, why, whether it is wanted, what it sends and takes on the "
             "cluster, how often it runs, and the cheapest change that removes or shrinks it. DUMP "
             "is best the text after spmd-partitioning (--xla_dump_hlo_pass_re=spmd-partitioning).",
    .options = options,
    .run = cmd_doctor,
};
