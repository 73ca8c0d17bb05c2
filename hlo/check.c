/* Semantic checks of a finished module, so that nothing downstream meets nonsense. */
#include "hlo/build.h"

static hlo_shape_id bare(const struct hlo_module *m, hlo_id id)
{
    return hlo_shape(m, id)->bare;
}

static int wrong(const struct hlo_module *m, hlo_id id, hlo_comp c, struct err *e, const char *what)
{
    return err_set(e, ERR_INPUT, "%.100s: computation \"%.100s\" %s", hlo_name(m, id),
                   m->computations[c].name, what);
}

/* Parameters of `c` are the operands from..from + count of `id`. */
static int check_arguments(const struct hlo_module *m, hlo_id id, hlo_comp c, uint32_t from,
                           uint32_t count, struct err *e)
{
    const struct hlo_computation *callee = &m->computations[c];

    if (callee->param_count != count)
        return wrong(m, id, c, e, "has another number of parameters than it is given, expected the same");
    for (uint32_t n = 0; n < count; n++) {
        if (bare(m, callee->params[n]) != bare(m, hlo_operand(m, id, from + n)))
            return wrong(m, id, c, e, "has a parameter of another shape than it is given, expected the same");
    }
    return 0;
}

static int check_result(const struct hlo_module *m, hlo_id id, hlo_comp c, struct err *e)
{
    if (bare(m, m->computations[c].root) != bare(m, id))
        return wrong(m, id, c, e, "has another result shape than the instruction, expected the same");
    return 0;
}

static int check_call(const struct hlo_module *m, hlo_id id, struct err *e)
{
    const struct hlo_instruction *i = hlo_at(m, id);

    if (i->called_count != 1)
        return err_set(e, ERR_INPUT, "%.100s: %u computations, expected one", hlo_name(m, id),
                       i->called_count);
    hlo_comp c = hlo_called(m, id, 0);
    int rc = check_arguments(m, id, c, 0, i->operand_count, e);
    return rc ? rc : check_result(m, id, c, e);
}

static int check_while(const struct hlo_module *m, hlo_id id, struct err *e)
{
    if (hlo_at(m, id)->called_count != 2)
        return err_set(e, ERR_INPUT, "%.100s: expected body= and condition=", hlo_name(m, id));
    hlo_comp body = hlo_called(m, id, 0), condition = hlo_called(m, id, 1);
    int rc = check_arguments(m, id, body, 0, 1, e);
    if (!rc)
        rc = check_result(m, id, body, e);
    if (!rc)
        rc = check_arguments(m, id, condition, 0, 1, e);
    const struct hlo_shape *s = hlo_shape(m, m->computations[condition].root);
    if (!rc && (s->type != HLO_PRED || s->rank))
        rc = wrong(m, id, condition, e, "does not end in pred[], expected a condition");
    return rc;
}

static int check_conditional(const struct hlo_module *m, hlo_id id, struct err *e)
{
    const struct hlo_instruction *i = hlo_at(m, id);
    int rc = 0;

    if (!i->called_count || i->called_count + 1 != i->operand_count)
        return err_set(e, ERR_INPUT, "%.100s: %u branches for %u operands, expected one operand per "
                       "branch after the first", hlo_name(m, id), i->called_count, i->operand_count);
    for (uint32_t n = 0; n < i->called_count && !rc; n++) {
        rc = check_arguments(m, id, hlo_called(m, id, n), n + 1, 1, e);
        if (!rc)
            rc = check_result(m, id, hlo_called(m, id, n), e);
    }
    return rc;
}

static const struct {
    uint16_t opcode;
    int (*check)(const struct hlo_module *m, hlo_id id, struct err *e);
} rules[] = {
    {HLO_OP_CALL, check_call},
    {HLO_OP_FUSION, check_call},
    {HLO_OP_WHILE, check_while},
    {HLO_OP_CONDITIONAL, check_conditional},
};

int hlo_check(const struct hlo_module *m, hlo_id *bad, struct err *e)
{
    for (hlo_id id = 0; id < m->count; id++) {
        if (!hlo_at(m, id)->called_count)
            continue;
        for (size_t n = 0; n < sizeof rules / sizeof *rules; n++) {
            if (rules[n].opcode != hlo_at(m, id)->opcode)
                continue;
            int rc = rules[n].check(m, id, e);
            if (rc) {
                *bad = id;
                return rc;
            }
        }
    }
    return 0;
}
