/* Any bytes as a journal, its checksums made right first: refused, or replayed to an end. */
#include "engine/live/search_state.h"
#include "tests/fuzz/problem.h"

#include <inttypes.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char model[] =
    "HloModule step, input_output_alias={ {0}: (0, {}, may-alias) }\n"
    "ENTRY main {\n"
    "  w = f32[16,8] parameter(0)\n  x = f32[4,16] parameter(1)\n"
    "  y = f32[4,8] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "  g = f32[16,8] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
    "  v = f32[16,8] subtract(w, g)\n  ROOT t = (f32[16,8]) tuple(v)\n}\n";

enum { STEP_MOST = 200, TEXT_MOST = 4096 };

/* Every line gets its checksum; the first two lines are given. */
static void write_journal(FILE *f, const struct problem *p, const char *text)
{
    uint64_t sum = 0;
    char head[128];

    snprintf(head, sizeof head, "problem %016" PRIx64 " %016" PRIx64 " %" PRIu32,
             p->model_fingerprint, cluster_fingerprint(&p->cluster), p->classes.count);
    const char *given[] = {"automap.journal/1", head};
    for (int k = 0; k < 2; k++) {
        sum = mem_hash(given[k], strlen(given[k]), sum);
        fprintf(f, "%016" PRIx64 " %s\n", sum, given[k]);
    }
    while (*text) {
        size_t size = strcspn(text, "\n");
        sum = mem_hash(text, size, sum);
        fprintf(f, "%016" PRIx64 " %.*s\n", sum, (int)size, text);
        text += size + (text[size] == '\n');
    }
}

static void replay(const struct problem *p, const struct journal_log *log)
{
    struct search_options o = {.algorithm = SEARCH_RANDOM, .seed = 3};
    struct search_state *c = mem_alloc(sizeof *c);
    struct err e;

    require(!search_state_new(p, &o, c, &e));
    (void)!search_state_replay(c, log, 0, &e);
    search_state_release(c);
    free(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct problem *p = the_problem(model);
    char path[] = "/tmp/automap-journal-XXXXXX", *text = malloc(size + 1);
    struct journal_log log;
    struct err e;
    int fd = mkstemp(path);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "wb");

    require(f && text);
    memcpy(text, data, size);
    text[size] = 0;
    if (size && data[0] == '!') /* as it is */
        fwrite(data + 1, 1, size - 1, f);
    else
        write_journal(f, p, text);
    fclose(f);
    if (!journal_read(path, &log, &e)) {
        bool brief = true; /* a journal may tell of years */
        for (size_t n = 0; n < log.record_count; n++)
            brief &= log.records[n].step <= STEP_MOST && size <= TEXT_MOST;
        if (brief)
            replay(p, &log);
        journal_log_release(&log);
    }
    unlink(path);
    free(text);
    return 0;
}
