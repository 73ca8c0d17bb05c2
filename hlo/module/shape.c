#include "hlo/module/shape.h"

#include <string.h>

const struct hlo_type_info hlo_type_info[HLO_TYPE_COUNT] = {
#define X(id, name, proto, bits, class) [HLO_##id] = {name, proto, bits, class},
    HLO_TYPES(X)
#undef X
};

enum hlo_type hlo_type_by_name(const char *name, size_t size)
{
    for (int t = 0; t < HLO_TYPE_COUNT; t++) {
        const char *known = hlo_type_info[t].name;
        if (known[0] == *name && strlen(known) == size && !memcmp(known, name, size))
            return (enum hlo_type)t;
    }
    return HLO_TYPE_COUNT;
}

enum hlo_type hlo_type_by_proto(int number)
{
    for (int t = 0; t < HLO_TYPE_COUNT; t++) {
        if (hlo_type_info[t].proto == number)
            return (enum hlo_type)t;
    }
    return HLO_TYPE_COUNT;
}

int64_t hlo_gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}
