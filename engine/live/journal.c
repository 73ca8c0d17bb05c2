#include "engine/live/journal.h"
#include "engine/cluster/cluster.h"
#include "hlo/support/clock.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SUM_DIGITS = 16 };

struct journal {
    int fd;
    uint64_t sum;
    double marked_s;
    uint64_t marked_step;
    char trouble[96];
    struct str line;
    char path[];
};

/* ---- writing ---- */

static void give_up(struct journal *j)
{
    snprintf(j->trouble, sizeof j->trouble, "the journal ends here: %s", strerror(errno));
    close(j->fd);
    j->fd = -1;
}

static void put_record(struct journal *j, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void put_record(struct journal *j, const char *format, ...)
{
    char payload[COMMAND_TEXT_ROOM + 4096 + 64];
    va_list args;

    if (j->fd < 0)
        return;
    va_start(args, format);
    int size = vsnprintf(payload, sizeof payload, format, args);
    va_end(args);
    if (size < 0 || (size_t)size >= sizeof payload) {
        errno = ENAMETOOLONG;
        give_up(j);
        return;
    }
    j->sum = mem_hash(payload, (size_t)size, j->sum);
    str_clear(&j->line);
    str_format(&j->line, "%016" PRIx64 " ", j->sum);
    str_add_bytes(&j->line, payload, (size_t)size);
    str_add_char(&j->line, '\n');
    ssize_t written = j->line.failed ? -1 : write(j->fd, j->line.text, j->line.size);
    if (written >= 0 && (size_t)written < j->line.size)
        errno = ENOSPC;
    if (written < 0 || (size_t)written < j->line.size)
        give_up(j);
}

static int new_journal(int fd, const char *path, uint64_t sum, struct journal **out, struct err *e)
{
    size_t size = strlen(path) + 1;
    struct journal *j = mem_try(1, sizeof *j + size);

    if (!j) {
        close(fd);
        return err_no_memory(e, "for the journal");
    }
    *j = (struct journal){.fd = fd, .sum = sum, .marked_s = clock_seconds()};
    memcpy(j->path, path, size);
    *out = j;
    return 0;
}

/* Arguments hold no line ends in a journal: a command line that has one is written with a blank. */
static void put_arg(struct journal *j, const char *arg)
{
    struct str clean = {0};

    for (; *arg; arg++)
        str_add_char(&clean, *arg == '\n' || *arg == '\r' ? ' ' : *arg);
    put_record(j, "arg %s", clean.text ? clean.text : "");
    str_release(&clean);
}

bool checkpoint_path(char *out, size_t room, const char *journal)
{
    int size = snprintf(out, room, "%s.checkpoint", journal);

    return size > 0 && (size_t)size < room;
}

/* A file of that name, and the journal's head in it. */
static int create(const char *path, char *const *args, int arg_count, uint64_t model,
                  uint64_t cluster, uint32_t classes, struct journal **out, struct err *e)
{
    struct journal *j = NULL;
    char stale[PATH_MAX];
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd < 0)
        return err_set(e, ERR_IO, "cannot make the journal %.200s: %s", path, strerror(errno));
    (void)flock(fd, LOCK_EX | LOCK_NB); /* against a resume while this one runs */
    if (checkpoint_path(stale, sizeof stale, path))
        unlink(stale);
    int rc = new_journal(fd, path, 0, &j, e);
    if (rc)
        return rc;
    put_record(j, "automap.journal/1");
    for (int n = 0; n < arg_count; n++)
        put_arg(j, args[n]);
    put_record(j, "problem %016" PRIx64 " %016" PRIx64 " %" PRIu32, model, cluster, classes);
    *out = j;
    return 0;
}

int journal_create(const char *path, const struct problem *p, char *const *args, int arg_count,
                   struct journal **out, struct err *e)
{
    return create(path, args, arg_count, p->model_fingerprint, cluster_fingerprint(&p->cluster),
                  p->classes.count, out, e);
}

int journal_branch(const struct journal_log *from, uint64_t step, const char *path, struct err *e)
{
    struct journal *j;
    int rc =
        create(path, from->args, from->arg_count, from->model, from->cluster, from->classes, &j, e);

    if (rc)
        return rc;
    for (size_t n = 0; n < from->record_count && from->records[n].step <= step; n++) {
        const struct journal_record *r = &from->records[n];
        if (r->kind == 'b')
            put_record(j, "b %" PRIu64 " %016" PRIx64 " %016" PRIx64 " %016" PRIx64, r->step,
                       r->score, r->ms, r->plan);
        else if (r->kind != 'm')
            put_record(j, "%c %" PRIu64 " %s", r->kind, r->step, from->text + r->command);
    }
    put_record(j, "c %" PRIu64 " pause", step);
    if (journal_trouble(j))
        rc = err_set(e, ERR_IO, "cannot write %.200s: %.90s", path, journal_trouble(j));
    journal_close(j);
    return rc;
}

static bool same_start(const struct journal_log *a, const struct journal_log *b)
{
    if (a->model != b->model || a->cluster != b->cluster || a->classes != b->classes ||
        a->arg_count != b->arg_count)
        return false;
    for (int n = 0; n < a->arg_count; n++) {
        if (strcmp(a->args[n], b->args[n]) != 0)
            return false;
    }
    return true;
}

/* Bytes of the lines before the first record. */
static size_t size_of_start(const struct journal_log *l)
{
    size_t at = 0;

    while (at < l->good) {
        const char *payload = l->text + at + SUM_DIGITS + 1;
        at += strlen(l->text + at) + 1;
        if (!strncmp(payload, "problem ", 8))
            break;
    }
    return at;
}

bool journal_starts_as(const struct journal_log *l, const char *path)
{
    size_t left = size_of_start(l);
    const char *at = l->text;
    FILE *f = fopen(path, "rb");

    if (!f)
        return false;
    for (int c; left && (c = getc(f)) != EOF && c == (*at ? (unsigned char)*at : '\n'); at++)
        left--;
    fclose(f);
    return !left;
}

/* The next of them that says what was done or found: marks and words for people say neither. */
static const struct journal_record *next_said(const struct journal_log *l, size_t *at)
{
    while (*at < l->record_count) {
        const struct journal_record *r = &l->records[(*at)++];
        if (r->kind == 'b' || journal_is_command(r))
            return r;
    }
    return NULL;
}

static bool same_record(const struct journal_log *a, const struct journal_record *x,
                        const struct journal_log *b, const struct journal_record *y)
{
    if (x->kind != y->kind || x->step != y->step)
        return false;
    return x->kind == 'b' ? x->plan == y->plan && x->ms == y->ms
                          : !strcmp(a->text + x->command, b->text + y->command);
}

bool journal_parts(const struct journal_log *a, const struct journal_log *b, uint64_t *parts)
{
    const struct journal_record *x, *y;
    size_t at[2] = {0};

    if (!same_start(a, b))
        return false;
    do {
        x = next_said(a, &at[0]);
        y = next_said(b, &at[1]);
    } while (x && y && same_record(a, x, b, y));
    if (!y)
        return false;
    *parts = x && x->step < y->step ? x->step : y->step;
    return true;
}

void journal_close(struct journal *j)
{
    if (!j)
        return;
    if (j->fd >= 0)
        close(j->fd);
    str_release(&j->line);
    free(j);
}

void journal_command(struct journal *j, char origin, uint64_t step, const struct live_command *c)
{
    struct str text = {0};

    live_command_print(c, &text);
    if (!text.failed)
        put_record(j, "%c %" PRIu64 " %s", origin, step, text.text);
    str_release(&text);
}

void journal_words(struct journal *j, uint64_t step, const char *words)
{
    put_record(j, "r %" PRIu64 " %s", step, words);
}

static uint64_t bits_of(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

uint64_t journal_plan_hash(const struct live_plan *plan)
{
    return mem_hash(plan->on, plan->count * sizeof *plan->on, 0);
}

void journal_best(struct journal *j, uint64_t step, const struct live_plan *plan)
{
    put_record(j, "b %" PRIu64 " %016" PRIx64 " %016" PRIx64 " %016" PRIx64, step,
               bits_of(plan->score), bits_of(plan->cost.step_ms), journal_plan_hash(plan));
    j->marked_step = step;
}

void journal_mark(struct journal *j, uint64_t step, bool now)
{
    if (step == j->marked_step || (!now && clock_seconds() - j->marked_s < 1))
        return;
    put_record(j, "m %" PRIu64, step);
    j->marked_s = clock_seconds();
    j->marked_step = step;
}

uint64_t journal_sum(const struct journal *j)
{
    return j->sum;
}

const char *journal_path(const struct journal *j)
{
    return j->path;
}

const char *journal_trouble(const struct journal *j)
{
    return j->trouble[0] ? j->trouble : NULL;
}

/* ---- reading ---- */

static int read_all(const char *path, struct journal_log *out, struct err *e)
{
    FILE *f = fopen(path, "rb");
    struct stat about;
    int rc = 0;

    if (!f)
        return err_set(e, ERR_IO, "cannot read %.200s: %s", path, strerror(errno));
    if (fstat(fileno(f), &about) || !S_ISREG(about.st_mode) || about.st_size > JOURNAL_MOST)
        rc = err_set(e, ERR_INPUT, "%.200s is not a journal", path);
    if (rc)
        goto out;
    if (!(out->text = mem_try((size_t)about.st_size + 1, 1)))
        rc = err_no_memory(e, "for the journal");
    if (rc)
        goto out;
    out->size = fread(out->text, 1, (size_t)about.st_size, f);
out:
    fclose(f);
    return rc;
}

static bool take_record(struct journal_log *l, const char *payload, uint64_t sum)
{
    struct journal_record r = {.kind = payload[0], .sum = sum};
    int at = 0;

    if (sscanf(payload + 1, " %" SCNu64 "%n", &r.step, &at) != 1)
        return false;
    const char *rest = payload + 1 + at;
    if (r.kind == 'b' &&
        sscanf(rest, " %" SCNx64 " %" SCNx64 " %" SCNx64, &r.score, &r.ms, &r.plan) != 3)
        return false;
    if (strchr("cser", r.kind) && *rest++ != ' ')
        return false;
    if (!strchr("cserbm", r.kind) ||
        (l->record_count && r.step < l->records[l->record_count - 1].step))
        return false;
    r.command = (size_t)(rest - l->text);
    l->records[l->record_count++] = r; /* there is room */
    return true;
}

static bool take_line(struct journal_log *l, char *payload, uint64_t sum, uint32_t number)
{
    if (number == 0)
        return !strcmp(payload, "automap.journal/1");
    if (!strncmp(payload, "arg ", 4)) {
        if (l->arg_count > 4096)
            return false;
        l->args[l->arg_count++] = payload + 4;
        return true;
    }
    if (!strncmp(payload, "problem ", 8))
        return sscanf(payload + 8, "%" SCNx64 " %" SCNx64 " %" SCNu32, &l->model, &l->cluster,
                      &l->classes) == 3;
    return l->classes && payload[0] && take_record(l, payload, sum);
}

int journal_read(const char *path, struct journal_log *out, struct err *e)
{
    int rc;
    uint32_t number = 0;

    memset(out, 0, sizeof *out);
    rc = read_all(path, out, e);
    if (rc)
        goto out;
    while (out->good < out->size) {
        char *line = out->text + out->good, *end = memchr(line, '\n', out->size - out->good),
             *after;
        if (!end || end - line < SUM_DIGITS + 1 || memchr(line, 0, (size_t)(end - line)))
            break;
        if (!mem_grow(&out->records, &out->record_room, out->record_count, 1) ||
            !mem_grow(&out->args, &out->arg_room, (size_t)out->arg_count, 1)) {
            rc = err_no_memory(e, "for the journal");
            goto out;
        }
        *end = '\0';
        uint64_t sum = strtoull(line, &after, 16);
        char *payload = line + SUM_DIGITS + 1;
        if (after != line + SUM_DIGITS || *after != ' ' ||
            mem_hash(payload, (size_t)(end - payload), out->sum) != sum ||
            !take_line(out, payload, sum, number++))
            break;
        out->sum = sum;
        out->good = (size_t)(end + 1 - out->text);
    }
    if (!out->classes)
        rc = err_set(e, ERR_INPUT, "%.200s is not a journal, or is damaged at its beginning", path);
out:
    if (rc)
        journal_log_release(out);
    return rc;
}

void journal_log_release(struct journal_log *l)
{
    free(l->text);
    free(l->args);
    free(l->records);
    memset(l, 0, sizeof *l);
}

int journal_fits(const struct journal_log *l, const struct problem *p, struct err *e)
{
    const char *what = l->model != p->model_fingerprint                 ? "model"
                       : l->cluster != cluster_fingerprint(&p->cluster) ? "cluster"
                       : l->classes != p->classes.count                 ? "options"
                                                                        : NULL;

    return what ? err_set(e, ERR_INPUT, "the journal was made with another %s", what) : 0;
}

int journal_reopen(const char *path, const struct journal_log *l, struct journal **out,
                   struct err *e)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);

    if (fd < 0)
        return err_set(e, ERR_IO, "cannot write to %.200s: %s", path, strerror(errno));
    struct stat about;
    if (flock(fd, LOCK_EX | LOCK_NB) || fstat(fd, &about) || (size_t)about.st_size != l->size) {
        close(fd);
        return err_set(e, ERR_IO, "the search that writes %.200s still runs", path);
    }
    if (ftruncate(fd, (off_t)l->good)) {
        close(fd);
        return err_set(e, ERR_IO, "cannot cut %.200s: %s", path, strerror(errno));
    }
    return new_journal(fd, path, l->sum, out, e);
}
