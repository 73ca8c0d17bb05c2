#include "engine/cluster/keep.h"

#include <stdbool.h>
#include <string.h>

static bool take_number(const char **at, uint32_t *out)
{
    const char *first = *at;

    for (*out = 0; **at >= '0' && **at <= '9' && *at - first < 8; (*at)++)
        *out = *out * 10 + (uint32_t)(**at - '0');
    return *at > first;
}

/* Group of a server. */
static uint32_t group_of(const struct cluster *c, uint32_t server)
{
    uint32_t g = 0;

    for (; server >= c->group[g].count; g++)
        server -= c->group[g].count;
    return g;
}

/* "3", "3-5" or "3-5:4" into what stays of the groups; false when it is none of them, or not of
 * this cluster. */
static bool take_range(const struct cluster *c, const char **at, bool *named,
                       struct cluster_kept *kept)
{
    uint32_t from, to, devices = 0;

    if (!take_number(at, &from))
        return false;
    to = from;
    if (**at == '-') {
        (*at)++;
        if (!take_number(at, &to))
            return false;
    }
    if (**at == ':') {
        (*at)++;
        if (!take_number(at, &devices) || !devices)
            return false;
    }
    for (uint32_t s = from; s <= to && to < c->servers; s++) {
        uint32_t g = group_of(c, s);
        bool is_part = devices && devices < c->group[g].devices;
        uint32_t own = is_part ? devices : 0;
        if (devices > c->group[g].devices || (is_part && c->group[g].link.rank) ||
            (kept[g].servers && kept[g].devices != own))
            return false;
        kept[g].servers += !named[s];
        kept[g].devices = own;
        named[s] = true;
    }
    return from <= to && to < c->servers;
}

int cluster_keep(struct cluster *c, const char *list, struct err *e)
{
    struct cluster_kept kept[CLUSTER_GROUPS_MOST] = {{0, 0}};
    bool *named = mem_try(c->servers, sizeof *named), ok = named != NULL;
    const char *at = list;

    ok = ok && take_range(c, &at, named, kept);
    while (ok && *at == ',') {
        at++;
        ok = take_range(c, &at, named, kept);
    }
    free(named);
    if (!named)
        return err_no_memory(e, "for a list of servers");
    if (!ok || *at)
        return err_set(e, ERR_USAGE,
                       "\"%.40s\" names no servers here, expected 0 to %u as in 0-3,8, or 0:4 for "
                       "four devices of one; as many in all of its kind, and no part of a torus",
                       list, c->servers - 1);
    cluster_keep_first(c, kept);
    return 0;
}

void cluster_keep_first(struct cluster *c, const struct cluster_kept *kept)
{
    uint32_t groups = 0, left_out = 0;

    c->servers = c->devices = 0;
    for (uint32_t g = 0; g < c->groups; g++) {
        uint32_t all = c->group[g].count;
        if (kept[g].servers) {
            struct cluster_group *to = &c->group[groups++];
            *to = c->group[g];
            to->count = kept[g].servers;
            to->skipped += left_out;
            to->is_cut |= kept[g].devices && kept[g].devices < to->devices;
            if (kept[g].devices)
                to->devices = kept[g].devices;
            c->servers += to->count;
            c->devices += to->count * to->devices;
        }
        left_out += all - kept[g].servers;
    }
    c->groups = groups;
}

void cluster_keep_write(const struct cluster *c, const struct cluster_kept *kept, struct str *out)
{
    uint32_t first = 0, end = 0, devices = 0, from = 0; /* the run of servers that is open */
    const char *between = "";

    for (uint32_t g = 0; g <= c->groups; g++) {
        const struct cluster_group *of = g < c->groups ? &c->group[g] : NULL;
        uint32_t start = of ? from + of->skipped : 0;
        uint32_t own = !of ? 0 : kept[g].devices ? kept[g].devices : of->is_cut ? of->devices : 0;
        bool goes_on = of && kept[g].servers && end == start && end > first && own == devices;
        if (!goes_on && end > first) {
            str_format(out, "%s%u", between, first);
            if (end - first > 1)
                str_format(out, "-%u", end - 1);
            if (devices)
                str_format(out, ":%u", devices);
            between = ",";
        }
        if (!of)
            break;
        first = goes_on ? first : start;
        end = start + kept[g].servers;
        devices = own;
        from += of->count;
    }
}
