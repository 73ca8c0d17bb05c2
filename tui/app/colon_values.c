#include "tui/app/colon_values.h"

#include "engine/cluster/cluster.h"
#include "engine/cluster/keep.h"
#include "engine/live/ledger.h"
#include "engine/live/options.h"
#include "engine/live/snapshot.h"
#include "engine/problem/problem.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/support/mem.h"
#include "rl/settings.h"
#include "tui/app/app_internal.h"
#include "tui/views/host.h"
#include "tui/watch/watch.h"

#include <stdio.h>
#include <string.h>

/* ---- one of a few ---- */

/* The n-th value; false: no n-th. A search is open. */
typedef bool value_at(const struct watch *w, size_t n, char *out, size_t room);

static bool zero_at(const struct watch *w, size_t n, char *out, size_t room)
{
    (void)w;
    snprintf(out, room, "%zu", n);
    return n <= 3;
}

/* Powers of two that part the batch. */
static bool micro_at(const struct watch *w, size_t n, char *out, size_t room)
{
    int64_t batch = problem_batch_size(w->problem), parts = n < 16 ? (int64_t)1 << n : 0;

    snprintf(out, room, "%lld", (long long)parts);
    return parts && batch >= parts && batch % parts == 0;
}

/* One axis, then two: "16", "2x8", "4x4", "8x2". */
static bool mesh_at(const struct watch *w, size_t n, char *out, size_t room)
{
    uint32_t devices = w->problem->cluster.devices;

    if (!n)
        snprintf(out, room, "%u", devices);
    for (uint32_t first = 2; n && first < devices; first++) {
        if (devices % first)
            continue;
        snprintf(out, room, "%ux%u", first, devices / first);
        if (!--n)
            return true;
    }
    return !n;
}

/* Powers of two below `most`: the n-th, or 0 and *n less their number. */
static uint32_t power_below(uint32_t most, size_t *n)
{
    for (uint32_t power = 1; power < most; power *= 2) {
        if ((*n)-- == 0)
            return power;
    }
    return 0;
}

/* The first 1, 2, 4, .. servers, then 1, 2, 4, .. devices of the first: "0", "0-1", "0:4". */
static bool servers_at(const struct watch *w, size_t n, char *out, size_t room)
{
    const struct cluster *c = &w->problem->cluster;
    struct cluster_kept kept[CLUSTER_GROUPS_MOST] = {{0, 0}};
    struct str list = {0};
    uint32_t all = 0;

    for (uint32_t g = 0; g < c->groups; g++)
        all += c->group[g].count;
    uint32_t left = power_below(all, &n),
             devices = left || c->group[0].link.rank ? 0 : power_below(c->group[0].devices, &n);
    if (!left && !devices)
        return false;
    kept[0] = (struct cluster_kept){1, devices};
    for (uint32_t g = 0; left && g < c->groups; g++) {
        kept[g].servers = left < c->group[g].count ? left : c->group[g].count;
        left -= kept[g].servers;
    }
    cluster_keep_write(c, kept, &list);
    snprintf(out, room, "%s", list.failed ? "" : list.text);
    str_release(&list);
    return out[0];
}

static bool row_at(const struct watch *w, size_t n, char *out, size_t room)
{
    const struct ledger *l = w->shot->ledger;

    snprintf(out, room, "%zu", n);
    return l && n < l->count;
}

static bool limit_at(const struct watch *w, size_t n, char *out, size_t room)
{
    static const char *const limits[] = {"none", "device"};

    (void)w;
    if (n < 2)
        snprintf(out, room, "%s", limits[n]);
    return n < 2;
}

/* A part of the learner with each of its values; what takes a number is left to be typed. */
static bool again_at(const struct watch *w, size_t n, char *out, size_t room)
{
    struct live_option o;

    (void)w;
    for (size_t k = 0; live_option_at(k, &o); k++) {
        const struct rl_setting *row = rl_setting_table;
        while (row->name && strcmp(row->name, o.name) != 0)
            row++;
        const char *value = row->name && o.values ? o.values : "";
        while (*value) {
            size_t size = strcspn(value, " ");
            if (n-- == 0) {
                snprintf(out, room, "%s %.*s", o.name, (int)size, value);
                return true;
            }
            value += size + (value[size] == ' ');
        }
    }
    return false;
}

bool colon_value_line(struct app *a, int *i, struct colon_line *line)
{
    static const struct {
        const char *verb, *words; /* words NULL: another row does the same */
        value_at *value;
    } few[] = {{"zero", "in pieces: 1 optimizer state, 2 gradients, 3 variables too", zero_at},
               {"micro-batches", "parts of the batch, one after the other", micro_at},
               {"mesh", "axes over the devices", mesh_at},
               {"servers", "use only these of the cluster", servers_at},
               {"set memory-limit", "of a device, less 20 %, or none", limit_at},
               {"row", "back to that row of the ledger (V w)", row_at},
               {"again", "set so, from the start, beside the run before", again_at},
               {"set zero", NULL, zero_at},
               {"set micro-batches", NULL, micro_at},
               {"set mesh", NULL, mesh_at}};
    char value[64];

    for (size_t k = 0; a->watch && k < sizeof few / sizeof *few; k++) {
        for (size_t n = 0; few[k].value(a->watch, n, value, sizeof value); n++) {
            if ((*i)-- != 0)
                continue;
            *line = (struct colon_line){
                .words = few[k].words ? few[k].words : "", .keys = "", .again = !few[k].words};
            snprintf(line->text, sizeof line->text, "%s %s", few[k].verb, value);
            return true;
        }
    }
    return false;
}

/* ---- names ---- */

struct completing {
    const char *typed; /* the part of the line to be completed */
    size_t shared;     /* of `most`, by all so far */
    int count;
    char most[256];
};

static void offer(struct completing *c, const char *name)
{
    size_t same = 0;

    if (strncmp(name, c->typed, strlen(c->typed)) != 0)
        return;
    if (c->count++ == 0) {
        snprintf(c->most, sizeof c->most, "%s", name);
        c->shared = strlen(c->most);
    }
    while (same < c->shared && name[same] == c->most[same])
        same++;
    c->shared = same;
}

static void offer_roles(struct completing *c, const struct problem *p)
{
    const char *equals = strchr(c->typed, '=');
    char line[256];

    for (int n = 0; equals && n < HLO_ROLE_COUNT; n++) {
        snprintf(line, sizeof line, "%.*s=%s", (int)(equals - c->typed), c->typed,
                 hlo_role_names[n]);
        offer(c, line);
    }
    for (uint32_t k = 0; !equals && k < p->roles.param_count; k++) {
        snprintf(line, sizeof line, "%s=", p->roles.params[k].name);
        offer(c, line);
    }
}

/* "tokens:" of what may be the batch, then its dims. */
static void offer_batches(struct completing *c, const struct problem *p)
{
    char line[256];

    for (uint32_t k = 0; k < p->roles.param_count; k++) {
        const struct hlo_param_role *r = &p->roles.params[k];
        if (r->role != HLO_ROLE_INPUT)
            continue;
        size_t size = (size_t)snprintf(line, sizeof line, "%.200s:", r->name);
        bool is_named = !strncmp(c->typed, line, size);
        if (!is_named)
            offer(c, line);
        for (uint32_t d = 0; is_named && d < hlo_value_shape(p->m, r->value)->rank; d++) {
            snprintf(line + size, sizeof line - size, "%u", d);
            offer(c, line);
        }
    }
}

static void offer_instructions(struct completing *c, const struct hlo_module *m)
{
    for (hlo_id id = 0; id < m->count; id++) {
        if (hlo_at(m, id)->computation == m->entry)
            offer(c, hlo_name(m, id));
    }
}

int colon_complete_name(struct app *a, const char *text, char *most, size_t most_room)
{
    struct completing c = {.typed = text + strcspn(text, " ")};
    int verb = (int)(c.typed - text);

    c.typed += *c.typed == ' ';
    if (!a->watch || !text[verb])
        return 0;
    if (!strncmp(text, "role ", 5))
        offer_roles(&c, a->problem);
    else if (!strncmp(text, "batch ", 6))
        offer_batches(&c, a->problem);
    else if (!strncmp(text, "loss ", 5))
        offer_instructions(&c, a->problem->m);
    if (c.count)
        snprintf(most, most_room, "%.*s %.*s", verb, text, (int)c.shared, c.most);
    return c.count;
}
