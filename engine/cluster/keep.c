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

/* "3" or "3-5" into the counts; false when it is neither. */
static bool take_range(const struct cluster *c, const char **at, bool *kept, uint32_t *count)
{
    uint32_t from, to;

    if (!take_number(at, &from))
        return false;
    to = from;
    if (**at == '-') {
        (*at)++;
        if (!take_number(at, &to))
            return false;
    }
    for (uint32_t s = from; s <= to && to < c->servers; s++) {
        count[group_of(c, s)] += !kept[s];
        kept[s] = true;
    }
    return from <= to && to < c->servers;
}

int cluster_keep(struct cluster *c, const char *list, struct err *e)
{
    uint32_t count[CLUSTER_GROUPS_MOST] = {0};
    bool *kept = mem_try(c->servers, sizeof *kept), ok = kept != NULL;
    const char *at = list;

    ok = ok && take_range(c, &at, kept, count);
    while (ok && *at == ',') {
        at++;
        ok = take_range(c, &at, kept, count);
    }
    free(kept);
    if (!kept)
        return err_no_memory(e, "for a list of servers");
    if (!ok || *at)
        return err_set(
            e, ERR_USAGE,
            "\"%.40s\" names no servers of this cluster, expected numbers up to %u as in "
            "0-3,8",
            list, c->servers - 1);
    cluster_keep_first(c, count);
    return 0;
}

void cluster_keep_first(struct cluster *c, const uint32_t *count)
{
    uint32_t groups = 0;

    c->servers = c->devices = 0;
    for (uint32_t g = 0; g < c->groups; g++) {
        if (!count[g])
            continue;
        c->group[groups] = c->group[g];
        c->group[groups].count = count[g];
        c->servers += count[g];
        c->devices += count[g] * c->group[groups].devices;
        groups++;
    }
    c->groups = groups;
}

void cluster_keep_write(const struct cluster *c, const uint32_t *count, struct str *out)
{
    uint32_t from = 0, first = UINT32_MAX, end = 0; /* the run of servers that is open */
    bool any = false;

    for (uint32_t g = 0; g <= c->groups; g++) {
        bool goes_on = g < c->groups && count[g] && end == from && first != UINT32_MAX;
        if (!goes_on && first != UINT32_MAX) {
            str_format(out, "%s%u", any ? "," : "", first);
            if (end - first > 1)
                str_format(out, "-%u", end - 1);
            any = true;
            first = UINT32_MAX;
        }
        if (g == c->groups)
            break;
        if (count[g]) {
            first = first == UINT32_MAX ? from : first;
            end = from + count[g];
        }
        from += c->group[g].count;
    }
}
