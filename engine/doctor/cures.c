/* What can be done about a collective: one row a cause, with the price of what is left. */
#include "engine/cluster/collectives.h"
#include "engine/decide/partitioner.h"
#include "engine/doctor/answers.h"
#include "engine/doctor/causes.h"
#include "engine/doctor/doctor.h"
#include "engine/doctor/evidence.h"
#include "engine/doctor/moves.h"
#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

static bool is_backward(const struct evidence *v)
{
    return evidence_says(v->m, v->speaker, "transpose(");
}

/* ---- one function a cause ---- */

static void output(struct doctor_answer *a)
{
    if (a->v->is_update) {
        verdict_judge(
            a, DOCTOR_WANTED,
            "a weight lies whole on every device and is updated in pieces, as the state of its "
            "optimizer lies: the new weight is gathered for the next step (ZeRO 1)");
        return;
    }
    if (*a->v->primitive) {
        verdict_judge(
            a, DOCTOR_UNWANTED,
            "the result is asked for with another split than the value it is made of has: "
            "out_shardings says so, this line only shows it");
        verdict_cure(a, "out_shardings: leave the result split as what it is made of");
        return;
    }
    verdict_judge(
        a, DOCTOR_UNWANTED,
        "the program's result is asked for with another split than it is computed with; no line "
        "of the program says so: out_shardings does");
    verdict_cure(
        a,
        a->v->dim >= 0
            ? verdict_say(a, "out_shardings: leave dim %lld of the result split as it is computed",
                          (long long)a->v->dim)
            : "out_shardings: leave the result split as it is computed");
}

static void random_bits(struct doctor_answer *a)
{
    verdict_judge(
        a, DOCTOR_UNWANTED,
        "random numbers drawn by the old threefry, which puts two halves together: no device can "
        "make its own part alone");
    verdict_cure(a, "jax_threefry_partitionable=True (the numbers drawn change)");
}

static void host(struct doctor_answer *a)
{
    verdict_judge(
        a, DOCTOR_UNWANTED,
        a->v->is_masked
            ? "a value that one device alone has is sent to all by a masked sum: a call to the "
              "host runs on one device"
            : "a call to the host runs on one device, which is given the whole array");
    verdict_cure(a, "call the host inside shard_map, each device for its own part");
}

static void one_device(struct doctor_answer *a)
{
    verdict_judge(
        a, DOCTOR_UNSURE,
        "a part of a split dim is picked: one device has it, and sends it to all by a masked "
        "sum; wanted only if that dim must be split");
    verdict_cure(a, "split another dim, and keep the one that is picked from whole");
}

/* What is written by hand is meant so, unless less would do for what becomes of it. */
static void by_hand(struct doctor_answer *a)
{
    const struct evidence *v = a->v;

    if (v->kind == COLLECTIVE_ALL_REDUCE && v->is_sliced && moves_adds(v->m, v->id)) {
        verdict_judge(
            a, DOCTOR_UNWANTED,
            "written so in the program: every device gets the whole sum and keeps a part of it");
        verdict_cure_by(a, COLLECTIVE_REDUCE_SCATTER, a->f->once.bytes / fmax(a->f->once.group, 1),
                        a->f->trips,
                        "psum_scatter in place of psum: each device gets its own part of the sum");
    } else if (v->is_accumulated && !(a->f->trips <= 1)) {
        verdict_judge(a, DOCTOR_UNWANTED,
                      "written so in the program: every trip of the loop sums over the devices and "
                      "adds that to what the loop carries");
        verdict_cure_by(
            a, v->kind, a->f->once.bytes, 1,
            "let each device add up its own, and sum over the devices once, behind the loop");
    } else if (v->summed != HLO_NONE) {
        verdict_judge(a, DOCTOR_UNWANTED,
                      "written so in the program: every device gets the parts of all and adds "
                      "them up");
        verdict_cure_by(a, COLLECTIVE_ALL_REDUCE, verdict_value_bytes(v->m, v->summed), a->f->trips,
                        "the sum of its own part, then psum, in place of all_gather");
    } else if (v->kind == COLLECTIVE_ALL_GATHER && v->is_sliced) {
        verdict_judge(a, DOCTOR_UNWANTED,
                      "written so in the program: every device gets the parts of all and keeps "
                      "a part");
        verdict_cure(a, "leave the all_gather out where the part that a device keeps is its own; "
                        "all_to_all where it is cut along another dim");
    } else {
        verdict_judge(a, DOCTOR_WANTED, "written so in the program");
    }
}

static bool is_parameter_product(const struct evidence *v)
{
    const struct hlo_module *m = v->m;

    if (v->op == HLO_NONE || hlo_at(m, v->op)->opcode != HLO_OP_DOT)
        return false;
    for (uint32_t n = 0; n < 2; n++) {
        if (hlo_at(m, moves_operand(m, v->op, n))->opcode != HLO_OP_PARAMETER)
            return false;
    }
    return true;
}

/* One operand of a product lies whole and is cut along the contracted dim to fit the other. */
static bool is_cut_to_fit(const struct evidence *v)
{
    const struct hlo_module *m = v->m;

    if (v->op == HLO_NONE || hlo_at(m, v->op)->opcode != HLO_OP_DOT)
        return false;
    return evidence_is_piece(m, moves_operand(m, v->op, 0)) !=
           evidence_is_piece(m, moves_operand(m, v->op, 1));
}

static void scatter_sum(struct doctor_answer *a)
{
    verdict_judge(
        a, DOCTOR_UNWANTED,
        is_backward(a->v)
            ? "a gradient is summed over all devices, and each keeps a part of it: a "
              "reduce-scatter would do"
            : "a sum is made whole on all devices, and each keeps a part of it: a reduce-scatter "
              "would do");
    bool repeats = is_backward(a->v) && !(a->f->trips <= 1);
    verdict_cure_by(
        a, COLLECTIVE_REDUCE_SCATTER, a->f->once.bytes / fmax(a->f->once.group, 1), a->f->trips,
        repeats ? "psum_scatter inside shard_map; where the loop adds gradients up, each device "
                  "may add its own and they be summed once, behind the loop"
                : "psum_scatter inside shard_map; XLA for CPU makes no reduce-scatter by itself");
}

static void partial(struct doctor_answer *a)
{
    const struct evidence *v = a->v;

    if (v->is_sliced && !is_backward(v) && is_parameter_product(v)) {
        verdict_judge(a, DOCTOR_UNWANTED,
                      "the contracted dim is split in both operands, and the sum is cut again: a "
                      "reduce-scatter, if it must be");
        verdict_cure(a,
                     "split the rows of the first operand, keep the second whole: no sum is left");
    } else if (v->kind == COLLECTIVE_ALL_REDUCE && v->is_sliced && moves_adds(v->m, v->id)) {
        /* of the greatest of parts there is no reduce-scatter in JAX */
        scatter_sum(a);
    } else if (is_backward(v)) {
        verdict_judge(
            a, DOCTOR_WANTED,
            a->f->trips <= 1
                ? "a gradient, summed over devices that saw different samples: what data parallel "
                  "costs"
                : "a gradient, summed over devices that saw different samples: what data parallel "
                  "costs; where the loop adds gradients up, each device may add its own inside "
                  "shard_map and they be summed once, behind the loop");
    } else if (v->opcode == HLO_OP_REDUCE && hlo_shape(v->m, v->id)->rank > 0) {
        verdict_judge(
            a, DOCTOR_UNSURE,
            "a statistic over a split dim: small, but it waits for all devices; wanted only if "
            "that dim must be split");
        verdict_cure(a, "split another dim (rows) and keep this one whole");
    } else if (v->opcode == HLO_OP_REDUCE) {
        verdict_judge(a, DOCTOR_WANTED, "one number summed over all devices, such as the loss");
    } else if (is_cut_to_fit(v)) {
        verdict_judge(
            a, DOCTOR_UNSURE,
            "one operand is stored split along the contracted dim; the other lies whole, and "
            "each device takes its piece of it: split along another dim the first would need "
            "no sum here");
        verdict_cure_open(
            a, "store it split along its other dim, and what multiplies the result along "
               "the contracted one: one sum, of the later product, is left");
    } else {
        verdict_judge(
            a, DOCTOR_WANTED,
            "the contracted dim is split in both operands: each device has a part of the sum "
            "(tensor parallel, as Megatron has it)");
    }
}

static void scatter(struct doctor_answer *a)
{
    if (is_backward(a->v)) {
        verdict_judge(a, DOCTOR_WANTED,
                      "the gradient of a table, from rows that other devices looked up");
        return;
    }
    if (doctor_gathers_rows(a->v)) {
        verdict_judge(
            a, DOCTOR_UNSURE,
            "rows are added into a table that is split by rows: the row numbers are data, "
            "so every device is given all rows and takes its own; wanted if the table "
            "must be split so");
        verdict_cure(a, "split the features of rows and table, and keep the row numbers whole");
        return;
    }
    verdict_judge(
        a, DOCTOR_UNSURE,
        "rows split over devices are added into one whole table: each has a part of the sum");
    verdict_cure(a, "split the features of rows and table, and keep the row numbers whole");
}

/* A table that is stored, and no value of the program. */
static bool looks_up_stored(const struct evidence *v)
{
    return v->op != HLO_NONE && hlo_at(v->m, v->op)->operand_count &&
           hlo_at(v->m, moves_operand(v->m, v->op, 0))->opcode == HLO_OP_PARAMETER;
}

static void gather_rows(struct doctor_answer *a)
{
    if (!a->v->is_stored && a->v->kind == COLLECTIVE_ALL_REDUCE && !looks_up_stored(a->v)) {
        verdict_judge(
            a, DOCTOR_UNSURE,
            "values picked along a split dim: each device answers for its own, and the parts are "
            "summed; wanted only if that dim must be split");
        verdict_cure(a, "split another dim (rows) and keep this one whole");
        return;
    }
    verdict_judge(
        a, DOCTOR_UNWANTED,
        "a table split by rows: row numbers go to all, each device answers for its own rows, and "
        "the parts are summed; wanted only if the table must be split so");
    verdict_cure(a, "split the table by features (its other dim) and keep the row numbers whole");
}

static void gather_any(struct doctor_answer *a)
{
    int64_t dims[HLO_RANK_MAX];
    bool several = a->v->op != HLO_NONE && hlo_at(a->v->m, a->v->op)->opcode == HLO_OP_GATHER &&
                   hlo_attr_ints(a->v->m, a->v->op, HLO_ATTR_START_INDEX_MAP, dims) > 1;

    verdict_judge(
        a, DOCTOR_UNWANTED,
        "row numbers are data: nobody can exclude that rows of other devices are asked for, so "
        "the operand is gathered whole, without a warning");
    verdict_cure(a, several ? "take_along_axis: the batch dims of a gather stay split"
                            : "split a dim that is not looked up (features)");
}

/* All that a device has goes to the next one, and the loop carries it on as it comes. */
static bool is_handed_on(const struct doctor_answer *a)
{
    const struct hlo_module *m = a->v->m;
    hlo_id id = a->v->id, takes = hlo_at(m, id)->operand_count ? hlo_operand(m, id, 0) : HLO_NONE;

    if (a->f->trips <= 1 || a->v->kind != COLLECTIVE_PERMUTE || !a->v->groups->is_shift ||
        takes == HLO_NONE || moves_holds(m, takes, HLO_OP_SLICE) ||
        hlo_at(m, a->v->source)->opcode == HLO_OP_SLICE)
        return false;
    for (int n = 0; n < 8 && hlo_at(m, id)->user_count == 1; n++) {
        id = hlo_user(m, id, 0);
        if (hlo_at(m, id)->opcode == HLO_OP_TUPLE)
            return m->computations[hlo_at(m, id)->computation].root == id;
        if (!moves_only(m, id))
            return false;
    }
    return false;
}

static void halo(struct doctor_answer *a)
{
    if (is_handed_on(a)) {
        verdict_judge(a, DOCTOR_WANTED,
                      "in every trip of the loop each device hands all that it has on to the next: "
                      "what the stages of a pipeline, or a ring, cost");
        return;
    }
    verdict_judge(
        a, DOCTOR_UNSURE,
        "an operation that looks at neighbours along a split dim: the rows at the edge come from "
        "the next device; wanted if that dim must be split");
    verdict_cure(a, "split another dim, such as the batch");
}

static void order(struct doctor_answer *a)
{
    verdict_judge(
        a, DOCTOR_UNWANTED,
        "the same tiles are wanted on other devices: mesh axes are used in another order");
    if (a->v->is_asked) {
        verdict_judge(a, DOCTOR_UNWANTED,
                      "a constraint asks for the same tiles on other devices: it uses the mesh "
                      "axes in another order than the value has them");
        verdict_cure(a, "constrain it with the mesh axes in the order in which the value has them");
        return;
    }
    verdict_cure(a, a->v->is_stored
                        ? verdict_say(a,
                                      "store \"%.80s\" split over the mesh axes in the order in "
                                      "which what it meets has them",
                                      a->v->stored)
                        : "use the mesh axes in the same order on both sides");
}

static void unsplit(struct doctor_answer *a)
{
    const struct evidence *v = a->v;
    const char *name = v->op != HLO_NONE ? hlo_op_info[hlo_at(v->m, v->op)->opcode].name
                                         : hlo_op_info[v->opcode].name;
    bool is_whole =
        v->op != HLO_NONE && (hlo_at(v->m, v->op)->opcode == HLO_OP_CUSTOM_CALL ||
                              partitioner_runs_whole(a->d->partitioner, v->m, v->op) != NULL);
    if (v->opcode == HLO_OP_DYNAMIC_SLICE && !(a->f->trips <= 1)) {
        verdict_judge(
            a, DOCTOR_UNWANTED,
            verdict_say(
                a,
                "every trip of the loop takes a piece of %s%.80s%s along the dim that is split, "
                "so all of it is gathered in every trip",
                v->is_stored ? "\"" : "", v->is_stored ? v->stored : "a value",
                v->is_stored ? "\"" : ""));
        verdict_cure(a,
                     "split another of its dims: the one that the loop counts along stays whole");
        return;
    }
    bool along = v->op == HLO_NONE || v->kind != COLLECTIVE_ALL_GATHER || v->dim < 0 ||
                 doctor_works_along(v->m, v->op, v->dim);

    if (along && !is_whole) {
        verdict_judge(a, DOCTOR_UNWANTED,
                      verdict_say(a, "%s along a split dim: %s, without a warning", name,
                                  v->kind == COLLECTIVE_ALL_GATHER
                                      ? "gathered whole on every device"
                                  : v->kind == COLLECTIVE_PERMUTE
                                      ? "the devices' tiles change places"
                                      : "the split moves to another dim and back"));
        verdict_cure(a, "split a dim that the operation does not work along");
    } else if (doctor_has_no_batch(v)) {
        verdict_judge(
            a, DOCTOR_UNWANTED,
            verdict_say(
                a,
                "%s works on one matrix, of which every device computes all: it is gathered "
                "for that",
                v->primitive));
        verdict_cure(a, v->is_stored
                            ? verdict_say(a,
                                          "store \"%.80s\" whole: split it saves memory alone, and "
                                          "not while this runs",
                                          v->stored)
                            : "let what makes it leave it whole: split it saves no work here");
    } else {
        verdict_judge(
            a, DOCTOR_UNWANTED,
            verdict_say(
                a,
                "%s is not split along any dim by the partitioner: every device computes all of "
                "it",
                name));
        verdict_cure(a, "call it inside shard_map, each device for its own part");
    }
}

static void reshape(struct doctor_answer *a)
{
    if (a->v->kind == COLLECTIVE_ALL_TO_ALL) {
        verdict_judge(
            a, DOCTOR_UNWANTED,
            "a reshape merges dims of which not the outermost is split: each device's part is "
            "scattered over the merged dim");
        verdict_cure(a, "split the outermost of the merged dims instead");
    } else {
        verdict_judge(a, DOCTOR_UNWANTED,
                      "a reshape cuts a split dim into parts that the devices' tiles cross");
        verdict_cure(a,
                     "split so many ways as divide the outer of the new dims, or split another dim "
                     "(batch) and keep this one whole");
    }
}

static void remat(struct doctor_answer *a)
{
    verdict_judge(
        a, DOCTOR_UNWANTED,
        "no direct way from one split to the other is known to the partitioner: the value is "
        "made whole on every device and cut again (full rematerialization)");
    double tile = a->v->source != HLO_NONE ? verdict_value_bytes(a->v->m, a->v->source)
                                           : verdict_tile_bytes(a);
    hlo_id id = a->v->source;
    while (id != HLO_NONE && hlo_at(a->v->m, id)->opcode == HLO_OP_ALL_GATHER) {
        id = hlo_operand(a->v->m, id, 0);
        tile = verdict_value_bytes(a->v->m, id);
    }
    verdict_cure_by(
        a, COLLECTIVE_ALL_TO_ALL, tile, 1,
        "a constraint in between that moves one mesh axis at a time: an all-to-all within each "
        "axis");
}

static void weigh_cure(struct doctor_answer *a)
{
    bool again = evidence_says(a->v->m, a->v->speaker, "rematted_computation");

    if (a->v->is_repeated) {
        verdict_judge(
            a, DOCTOR_UNSURE,
            verdict_say(
                a,
                "\"%.80s\" is stored in pieces and gathered on devices that all multiply the same "
                "with it: no samples are split over them, and each does all of the work",
                a->v->stored));
        verdict_cure_open(
            a, "split along its other dim it stays where it is and the work is shared; what "
               "multiplies the result is split along the contracted one, and summed");
        return;
    }
    const char *more =
        again ? "; gathered again because jax.checkpoint keeps nothing for the way back"
        : a->v->is_invariant && !(a->f->trips <= 1)
            ? "; the same in every trip of the loop: constrained to be whole before the loop it is "
              "gathered once, and takes that memory all the while (XLA may do so itself when it "
              "compiles)"
        : a->v->is_kept
            ? "; kept whole from the way forward to the way back: under jax.checkpoint it would be "
              "gathered again there, one gather more for less memory"
            : "";

    verdict_judge(
        a, DOCTOR_WANTED,
        verdict_say(
            a,
            "\"%.80s\" is stored in pieces and gathered for its use (FSDP): memory is what it "
            "buys%s",
            a->v->stored, more));
}

static void operand(struct doctor_answer *a)
{
    const struct hlo_module *m = a->v->m;
    uint32_t other = a->v->slot == 0 ? 1 : 0;
    hlo_id with = moves_operand(m, a->v->op, other);
    double sum = verdict_value_bytes(m, a->v->op) * fmax(a->f->once.group, 1);
    struct doctor_traffic left =
        doctor_traffic_of(&a->d->cluster, a->v->groups, COLLECTIVE_ALL_REDUCE, sum);

    if (doctor_makes_pairs(a->v)) {
        verdict_judge(a, DOCTOR_UNSURE,
                      "every row of one value meets every row of another, and the same devices "
                      "split both: only one can stay so, the other is gathered; wanted if there is "
                      "no memory to store it whole");
        verdict_cure(
            a, a->v->is_stored
                   ? verdict_say(a, "store \"%.80s\" whole, where memory allows it", a->v->stored)
                   : "let what makes it leave it whole, where memory allows it");
        return;
    }
    if (!doctor_contracts(a->v)) {
        verdict_judge(
            a, DOCTOR_UNSURE,
            "both operands are split along dims of their own by the same devices: only one can "
            "stay so, the other is gathered; wanted if these dims must be split (long sequences)");
        verdict_cure(a, "split a dim that both share, such as batch or heads");
        return;
    }
    verdict_judge(
        a, DOCTOR_UNWANTED,
        "one operand is split along the contracted dim, the other along a dim of its own by the "
        "same devices: the first is gathered");
    if (left.sent >= a->f->once.sent && doctor_is_batched(m, a->v->op)) {
        verdict_judge(
            a, DOCTOR_UNSURE,
            "a product of two values of the program, one split along the contracted dim, the "
            "other along a dim of its own: the first is gathered; wanted if these dims must be "
            "split (long sequences)");
        verdict_cure(a, "split a dim that both share, such as batch or heads");
        return;
    }
    if (left.sent >= a->f->once.sent && a->v->is_constrained) {
        verdict_judge(
            a, DOCTOR_UNWANTED,
            "a constraint splits it along the dim that this product contracts: it is made whole "
            "again");
        verdict_cure(a, "drop the constraint, or let it split another dim (rows)");
        return;
    }
    if (left.sent >= a->f->once.sent) {
        verdict_judge(
            a, DOCTOR_WANTED,
            "one operand is split along the contracted dim, the other is not; to sum parts of "
            "the result would send more");
        return;
    }
    const char *name =
        hlo_at(m, with)->opcode == HLO_OP_PARAMETER ? hlo_meta(m, with)->op_name : "";
    verdict_cure_by(
        a, COLLECTIVE_ALL_REDUCE, sum, 1,
        *name
            ? verdict_say(a,
                          "store \"%.80s\" split along the contracted dim too: the small result is "
                          "summed instead",
                          name)
            : "split the other operand along the contracted dim too: the small result is "
              "summed instead");
}

static void dispatch(struct doctor_answer *a)
{
    if (a->v->opcode == HLO_OP_GATHER) {
        verdict_judge(
            a, DOCTOR_WANTED,
            "rows are looked up where their tables lie, and the split moves from tables to "
            "samples: what tables on devices of their own cost");
        return;
    }
    verdict_judge(
        a, DOCTOR_WANTED,
        "the split moves between two dims of a batched product, such as groups and experts: "
        "what expert parallel costs");
}

static void mismatch(struct doctor_answer *a)
{
    bool is_one = a->v->op != HLO_NONE && hlo_at(a->v->m, a->v->op)->operand_count == 1;
    verdict_judge(a, DOCTOR_UNWANTED,
                  is_one ? "what is made here is split otherwise than the value that it is made of"
                         : "two values meet here that are split differently");
    if (a->v->opcode == HLO_OP_WHILE)
        verdict_judge(a, DOCTOR_UNWANTED,
                      "a loop carries it with another split than it comes with");
    if (a->v->is_stored && hlo_shape(a->v->m, a->v->id)->rank > 1)
        verdict_cure(a, verdict_say(a, "store \"%.80s\" with its other dim split", a->v->stored));
    else
        verdict_cure(a, "give both values the same split where they are made");
}

/* Asked to be whole for a product with a weight that stays in pieces. */
static bool is_asked_whole(const struct evidence *v)
{
    const struct hlo_module *m = v->m;

    return v->kind == COLLECTIVE_ALL_GATHER && !v->is_stored && !v->is_sliced &&
           evidence_meets_pieces(m, v->id);
}

/* Made whole before the cast to a narrower type. To cast first is not enough: the partitioner
 * carries the constraint back through the cast. */
static void cast_late(struct doctor_answer *a)
{
    const struct hlo_type_info *from = &hlo_type_info[hlo_shape(a->v->m, a->v->id)->type];
    const struct hlo_type_info *to = &hlo_type_info[a->v->cast->type];

    verdict_judge(a, DOCTOR_UNWANTED,
                  verdict_say(a, "%s asks for it whole in %s, and it is cast to %s behind that",
                              a->v->is_mapped ? "shard_map" : "a constraint", from->name,
                              to->name));
    verdict_cure_by(a, COLLECTIVE_ALL_GATHER, a->f->once.bytes * to->bits / from->bits, a->f->trips,
                    verdict_say(a,
                                "cast it to %s first, and constrain the cast to the split that it "
                                "is stored in before it is made whole; or drop the constraint",
                                to->name));
}

static void constraint(struct doctor_answer *a)
{
    if (is_asked_whole(a->v)) {
        verdict_judge(
            a, DOCTOR_UNSURE,
            a->v->is_mapped
                ? "shard_map's in_specs take it whole, for a product with a weight that stays in "
                  "pieces: what sequence parallel costs; wanted if it was meant so"
                : "a constraint asks for it whole, for a product with a weight that stays in "
                  "pieces: what sequence parallel costs; wanted if it was meant so");
        verdict_cure_open(a, a->v->is_mapped ? "give in_specs the split, where whole was not meant"
                                             : "drop the constraint, where whole was not meant");
        return;
    }
    if (a->v->is_asked_so && a->v->is_sliced) {
        verdict_judge(
            a, DOCTOR_UNWANTED,
            a->v->is_mapped
                ? "shard_map's specs leave out a mesh axis that the value is split over: "
                  "it is gathered for that, and cut again behind it"
                : "a constraint leaves out a mesh axis that the value is split over: it is "
                  "gathered for that, and cut again behind it");
        verdict_cure(a, a->v->is_mapped
                            ? "name that axis in the specs, as the value has it"
                            : "constrain it over that axis too, as the value has it, or "
                              "drop the constraint");
        return;
    }
    if (a->v->cast) {
        cast_late(a);
        return;
    }
    if (a->v->is_mapped) {
        verdict_judge(a, DOCTOR_UNWANTED,
                      "shard_map's in_specs or out_specs ask for another split than the value has, "
                      "and the value is made anew for it");
        verdict_cure(a,
                     "give shard_map the split that the value has, or make the value as shard_map "
                     "wants it");
        return;
    }
    verdict_judge(
        a, DOCTOR_UNWANTED,
        "a sharding constraint asks for another split than the value has, and the value is made "
        "anew for it");
    verdict_cure(a, "drop the constraint, or give it the split that the value has");
}

static void loop(struct doctor_answer *a)
{
    verdict_judge(
        a, DOCTOR_UNWANTED,
        "the loop carries a value split otherwise than its body wants it: moved in every trip");
    verdict_cure_by(
        a, COLLECTIVE_ALL_TO_ALL, verdict_tile_bytes(a), 1,
        "carry the value as the body wants it, and constrain it once before the loop and once "
        "behind it");
}

static void unknown(struct doctor_answer *a)
{
    verdict_judge(a, DOCTOR_UNSURE, "the dump says nothing of where it comes from");
}

static void (*const answers[DOCTOR_CAUSE_COUNT])(struct doctor_answer *a) = {
    [DOCTOR_OUTPUT] = output,
    [DOCTOR_RANDOM] = random_bits,
    [DOCTOR_HOST] = host,
    [DOCTOR_ONE_DEVICE] = one_device,
    [DOCTOR_BY_HAND] = by_hand,
    [DOCTOR_PARTIAL] = partial,
    [DOCTOR_SCATTER] = scatter,
    [DOCTOR_GATHER_ROWS] = gather_rows,
    [DOCTOR_GATHER_ANY] = gather_any,
    [DOCTOR_HALO] = halo,
    [DOCTOR_ORDER] = order,
    [DOCTOR_UNSPLIT] = unsplit,
    [DOCTOR_RESHAPE] = reshape,
    [DOCTOR_REMAT] = remat,
    [DOCTOR_WEIGHT] = weigh_cure,
    [DOCTOR_OPERAND] = operand,
    [DOCTOR_DISPATCH] = dispatch,
    [DOCTOR_MISMATCH] = mismatch,
    [DOCTOR_CONSTRAINT] = constraint,
    [DOCTOR_LOOP] = loop,
    [DOCTOR_UNKNOWN] = unknown,
};

/* Compiled text has lost the constraints: what a value is moved for may be asked for elsewhere. */
static bool may_be_asked(const struct doctor_answer *a)
{
    bool moves = a->f->cause == DOCTOR_MISMATCH || a->f->cause == DOCTOR_ORDER ||
                 a->f->cause == DOCTOR_REMAT || a->f->cause == DOCTOR_LOOP ||
                 (a->f->cause == DOCTOR_OPERAND && !doctor_contracts(a->v));

    return a->d->is_compiled && !a->d->before && !a->v->is_asked && moves;
}

void doctor_cure(struct doctor *d, const struct evidence *v, struct doctor_finding *f)
{
    struct doctor_answer a = {d, v, f};

    f->cure = f->because = "";
    f->cured_trips = 1;
    answers[f->cause](&a);
    if (may_be_asked(&a))
        f->because = verdict_say(&a,
                                 "%s; a constraint behind this line may ask for it, which compiled "
                                 "text has lost: the program before (--before) has its line",
                                 f->because);
}
