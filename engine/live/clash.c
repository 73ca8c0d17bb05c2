#include "engine/live/clash.h"

#include "engine/decide/labels.h"
#include "engine/decide/strict.h"
#include "hlo/support/err.h"

#include <string.h>

static bool decide_all(struct strict *s, const struct pinned *pins, const uint32_t *wish,
                       size_t count, const uint8_t *keep)
{
    for (size_t n = 0; n < count; n++) {
        if ((!keep || keep[wish[n]]) &&
            !strict_decide(s, pins[n].pin.class, pins[n].pin.axis, pins[n].pin.split, NULL))
            return false;
    }
    return true;
}

bool pins_hold(const struct labels *l, const struct pinned *pins, size_t count)
{
    struct strict s;
    struct err e;

    if (strict_new(l, &s, &e))
        return false;
    bool hold = decide_all(&s, pins, NULL, count, NULL);
    strict_release(&s);
    return hold;
}

int pins_clash(const struct labels *l, const struct pinned *pins, const uint32_t *wish,
               size_t count, uint32_t wishes, uint8_t *keep, struct err *e)
{
    struct strict s;
    int rc = strict_new(l, &s, e);

    if (rc)
        return rc;
    size_t start = strict_mark(&s);
    for (uint32_t n = 0; n < wishes;
         n++) { /* n = 0: the last alone; then the last and wish n - 1 */
        memset(keep, 0, wishes);
        keep[wishes - 1] = 1;
        if (n)
            keep[n - 1] = 1;
        bool hold = decide_all(&s, pins, wish, count, keep);
        strict_undo(&s, start);
        if (!hold) {
            strict_release(&s);
            return 0;
        }
    }
    memset(keep, 1, wishes);
    for (uint32_t n = 0; n < wishes; n++) {
        keep[n] = 0;
        keep[n] = decide_all(&s, pins, wish, count, keep);
        strict_undo(&s, start);
    }
    strict_release(&s);
    return 0;
}
