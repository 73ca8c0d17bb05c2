/* tui/commands/inspect.h - the two faces of `automap inspect`: a page and an object. */
#ifndef AUTOMAP_TUI_COMMANDS_INSPECT_H
#define AUTOMAP_TUI_COMMANDS_INSPECT_H

#include "hlo/meaning/cost.h"
#include "hlo/meaning/roles.h"

struct inspection {
    const struct hlo_module *m;
    struct hlo_roles roles;
    struct hlo_costs costs;
    uint32_t opcodes[HLO_OP_COUNT];
    uint32_t phases[HLO_PHASE_COUNT];
    uint32_t *layers; /* [roles.layer_count] instructions */
    bool show_all;    /* every parameter and opcode, not only the groups and the most frequent */
};

/* Append to `out`; out->failed when out of memory. */
void inspect_page(const struct inspection *in, struct str *out);
void inspect_json(const struct inspection *in, struct str *out);

#endif
