/* tui/commands/inspect.h - the two faces of `automap inspect`: a page and an object. */
#ifndef AUTOMAP_TUI_COMMANDS_INSPECT_H
#define AUTOMAP_TUI_COMMANDS_INSPECT_H

#include "engine/decide/classes.h"
#include "engine/decide/names.h"
#include "engine/doctor/doctor.h"
#include "engine/kernels/kernel_targets.h"
#include "hlo/meaning/cost.h"
#include "hlo/meaning/program.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/support/mem.h"

struct inspection {
    const struct hlo_module *m;
    struct hlo_program program;
    struct doctor_total sent; /* by the collectives of a partitioned module; 0: nothing to tell */
    char sent_on[128];        /* the cluster that `sent` is priced on */
    struct hlo_roles roles;
    struct hlo_costs costs;
    struct kernel_targets kernels;
    uint32_t phases[HLO_PHASE_COUNT];
    uint32_t *layers;    /* [roles.layer_count] instructions */
    double *layer_flops; /* [roles.layer_count] of a step; [0]: outside of layers */
    bool show_groups;    /* what can only be split together: */
    struct hlo_module *inlined;
    struct classes classes; /* of `inlined` */
    struct class_names names;
    bool show_all; /* every parameter and opcode, not only the groups and the most frequent */
};

/* Append to `out`; out->failed when out of memory. */
void inspect_page(const struct inspection *in, struct str *out);
void inspect_json(const struct inspection *in, struct str *out);

#endif
