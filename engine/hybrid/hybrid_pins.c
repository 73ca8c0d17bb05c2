#include "engine/hybrid/hybrid_pins.h"

#include "engine/decide/labels.h"

const char *const hybrid_wish_names[] = {[HYBRID_WISH_CUT] = "cut",
                                         [HYBRID_WISH_KEEP] = "keep",
                                         [HYBRID_WISH_STAGE] = "stage",
                                         [HYBRID_WISH_TP_MOST] = "tp-most"};

static bool allows_stage(const struct hybrid_pin *p, uint32_t i, uint32_t j, uint32_t a, uint32_t b)
{
    bool has = i <= p->first && p->first < j;

    switch (p->kind) {
    case HYBRID_PIN_CUT:
        return i == p->first || !has;
    case HYBRID_PIN_KEEP:
        return i <= p->first || i > p->last;
    case HYBRID_PIN_DEVICES:
        return !has || b - a == p->devices;
    case HYBRID_PIN_TP:
    case HYBRID_PIN_DP:
    case HYBRID_PIN_GROUP:
        return true; /* below */
    default:
        return !has || (a >= p->device && b <= p->device + p->devices);
    }
}

bool hybrid_pins_allow(const struct hybrid_pins *p, uint32_t i, uint32_t j, uint32_t a, uint32_t b)
{
    for (uint32_t n = 0; p && n < p->count; n++)
        if (!allows_stage(&p->pin[n], i, j, a, b))
            return false;
    return true;
}

static bool is_of_split(const struct hybrid_pin *p)
{
    return p->kind == HYBRID_PIN_TP || p->kind == HYBRID_PIN_DP;
}

bool hybrid_pins_allow_split(const struct hybrid_pins *p, uint32_t i, uint32_t j, uint32_t devices,
                             uint32_t dp)
{
    for (uint32_t n = 0; p && n < p->count; n++) {
        const struct hybrid_pin *own = &p->pin[n];
        uint32_t parts = own->kind == HYBRID_PIN_TP ? devices / dp : dp;
        bool holds = own->is_everywhere || (i <= own->first && own->first < j);
        if (is_of_split(own) && holds && (parts < own->least || parts > own->most))
            return false;
    }
    return true;
}

bool hybrid_pins_are_of_splits(const struct hybrid_pins *p)
{
    for (uint32_t n = 0; p && n < p->count; n++)
        if (is_of_split(&p->pin[n]))
            return true;
    return false;
}

uint32_t hybrid_pins_needed(const struct hybrid_pins *p, uint32_t i, uint32_t j)
{
    uint32_t out = 0;

    for (uint32_t n = 0; p && n < p->count; n++)
        if (p->pin[n].kind == HYBRID_PIN_GROUP && i <= p->pin[n].first && p->pin[n].first < j)
            out |= (uint32_t)1 << n;
    return out;
}

uint32_t hybrid_pins_of_groups(const struct hybrid_pins *p)
{
    return hybrid_pins_needed(p, 0, UINT32_MAX);
}

bool hybrid_pins_allow_labels(const struct hybrid_pins *p, uint32_t i, uint32_t j, const label *on,
                              const uint32_t *size, uint32_t axes)
{
    uint32_t needed = hybrid_pins_needed(p, i, j);

    for (; needed; needed &= needed - 1) {
        const struct hybrid_pin *own = &p->pin[__builtin_ctz(needed)];
        const struct hybrid_named *named = &p->named[own->named];
        for (uint32_t c = 0; c < named->count; c++) {
            uint32_t parts = 1;
            for (uint32_t x = 0; x < axes; x++)
                parts *= on[named->class[c]] >> x & 1 ? size[x] : 1;
            bool has = i <= named->section[c] && named->section[c] < j;
            if (has && !hybrid_pin_allows_parts(own, parts))
                return false;
        }
    }
    return true;
}
