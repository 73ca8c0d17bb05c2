#include "tui/commands/search_curves.h"

#include "engine/live/search_state.h"
#include "engine/live/series.h"
#include "hlo/support/err.h"
#include "hlo/support/file.h"
#include "hlo/support/mem.h"
#include "tui/commands/search_seeds.h"

static void write_curve(struct str *out, unsigned long long seed, const char *name,
                        const struct series *s)
{
    for (uint32_t n = 0; n < s->count; n++) {
        const struct point *p = &s->block->points[n];
        str_format(out, "%llu,%s,%.0f,%.9g,%.9g,%.9g,%u\n", seed, name, p->x, (double)p->mean,
                   (double)p->low, (double)p->high, p->merged);
    }
}

void search_curves_write(const struct search_state *c, struct str *out)
{
    unsigned long long seed = c->options.seed;

    write_curve(out, seed, "progress", &c->progress);
    write_curve(out, seed, "score", &c->reward);
    write_curve(out, seed, "best", &c->best_ms);
    write_curve(out, seed, "epsilon", &c->epsilon_curve);
    write_curve(out, seed, "loss", &c->loss_curve);
}

int search_curves_save(const struct seed_end *ends, uint32_t count, const char *path, struct err *e)
{
    struct str out = {0};

    str_format(&out, "seed,curve,x,mean,low,high,points\n");
    for (uint32_t n = 0; n < count; n++)
        str_add(&out, ends[n].curves ? ends[n].curves : "");
    int rc = out.failed ? err_no_memory(e, "for the curves")
                        : hlo_file_write(path, out.text, out.size, FILE_REPLACE, e);
    str_release(&out);
    return rc ? err_in_file(e, path) : 0;
}
