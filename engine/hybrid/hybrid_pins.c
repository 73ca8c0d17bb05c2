#include "engine/hybrid/hybrid_pins.h"

const char *const hybrid_wish_names[] = {
    [HYBRID_WISH_CUT] = "cut", [HYBRID_WISH_KEEP] = "keep", [HYBRID_WISH_STAGE] = "stage"};

static bool allows(const struct hybrid_pin *p, uint32_t i, uint32_t j, uint32_t a, uint32_t b)
{
    bool has = i <= p->first && p->first < j;

    switch (p->kind) {
    case HYBRID_PIN_CUT:
        return i == p->first || !has;
    case HYBRID_PIN_KEEP:
        return i <= p->first || i > p->last;
    case HYBRID_PIN_DEVICES:
        return !has || b - a == p->devices;
    default:
        return !has || (a >= p->device && b <= p->device + p->devices);
    }
}

bool hybrid_pins_allow(const struct hybrid_pins *p, uint32_t i, uint32_t j, uint32_t a, uint32_t b)
{
    for (uint32_t n = 0; p && n < p->count; n++)
        if (!allows(&p->pin[n], i, j, a, b))
            return false;
    return true;
}
