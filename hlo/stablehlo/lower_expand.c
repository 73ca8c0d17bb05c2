/* Functions that XLA writes as other operations: of chlo, and of complex numbers. */
#include "hlo/module/attr.h"
#include "hlo/module/build.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/stablehlo/lower.h"
#include "hlo/stablehlo/mlir.h"
#include "hlo/stablehlo/stablehlo_ops.h"
#include "hlo/support/lex.h"
#include "hlo/support/mem.h"

#include <string.h>

/* A number, as an array of this shape. */
static int number_like(struct lower *l, const struct hlo_shape *s, struct mlir_span value,
                       hlo_id *out)
{
    int rc;
    hlo_shape_id scalar = hlo_lower_array(l, (enum hlo_type)s->type, NULL, 0, &rc);
    struct lower_new n = {.opcode = HLO_OP_CONSTANT, .shape = scalar, .literal = value};

    if (rc || hlo_lower_make(l, &n, out))
        return l->e->code;
    if (!s->rank)
        return 0;
    hlo_shape_id wide = hlo_lower_array(l, (enum hlo_type)s->type, s->dims, s->rank, &rc);
    return rc ? rc : hlo_lower_broadcast(l, *out, wide, out);
}

/* A formula: `name=operation operand ..;`, the last one is the result. Operands: x, the argument; a
 * name from before; a number. Formulas: XLA's chlo_legalize_to_hlo, and of complex numbers
 * StableHLO's complex math expander, as as_text("hlo") of jax 0.10.2 has them. */
enum { TERMS_MOST = 128, TERM_OPERANDS = 3 };
struct formula {
    uint16_t row;
    bool is_complex;
    bool is_single; /* its numbers are those of f32 and c64 */
    const char *text;
};

static const struct formula formulas[] = {
    {MLIR_OP_CHLO_SQUARE, false, false, "a=multiply x x"},
    {MLIR_OP_CHLO_SQUARE, true, false,
     "a=real x;b=is-finite a;c=abs a;d=imag x;e=abs d;f=eq c e;g=and b f;h=subtract a d;"
     "i=add a d;j=multiply h i;k=select g 0 j;l=multiply a d;m=multiply l 2;n=complex k m"},
    {MLIR_OP_EXPONENTIAL, true, false,
     "a=real x;b=exponential a;c=eq b inf;d=multiply a 0.5;e=exponential d;f=imag x;"
     "g=cosine f;h=multiply e g;i=multiply h e;j=multiply b g;k=select c i j;l=eq f 0;"
     "m=sine f;n=multiply e m;o=multiply n e;p=multiply b m;q=select c o p;r=select l 0 q;"
     "s=complex k r"},
    {MLIR_OP_SQRT, true, true,
     "a=real x;b=ge a 0;c=abs a;d=imag x;e=abs d;f=eq c e;g=sqrt c;h=multiply g 1.553774;"
     "i=divide h 1.41421354;j=maximum c e;k=minimum c e;l=eq j k;m=multiply j 1.41421354;"
     "n=divide k j;o=multiply n n;p=add o 1;q=sqrt p;r=eq q 1;s=gt o 0;t=and r s;"
     "u=multiply j o;v=divide u 2;w=add j v;y=multiply j q;z=select t w y;a1=select l m z;"
     "b1=divide a1 2;c1=divide c 2;d1=add b1 c1;e1=sqrt d1;f1=eq e1 0;g1=eq e1 inf;"
     "h1=or f1 g1;i1=gt c e;j1=lt c e;k1=divide c e;l1=divide e c;m1=select j1 k1 l1;"
     "n1=select f 1 m1;o1=abs n1;p1=maximum o1 1;q1=minimum o1 1;r1=eq p1 q1;"
     "s1=multiply p1 1.41421354;t1=divide q1 p1;u1=multiply t1 t1;v1=add u1 1;w1=sqrt v1;"
     "x1=eq w1 1;y1=gt u1 0;z1=and x1 y1;a2=multiply p1 u1;b2=divide a2 2;c2=add p1 b2;"
     "d2=multiply p1 w1;e2=select z1 c2 d2;f2=select r1 s1 e2;g2=add f2 1;h2=sqrt g2;"
     "i2=divide h2 1.41421354;j2=multiply g i2;k2=sqrt e;l2=add n1 f2;m2=sqrt l2;"
     "n2=divide m2 1.41421354;o2=multiply k2 n2;p2=select i1 j2 o2;q2=select h1 p2 e1;"
     "r2=select f i q2;s2=divide k2 2.19736814;t2=divide g k2;u2=divide k2 g;"
     "v2=select j1 t2 u2;w2=select f 1 v2;x2=multiply k2 w2;y2=multiply h2 1.41421354;"
     "z2=divide x2 y2;a3=multiply m2 1.41421354;b3=divide k2 a3;c3=select i1 z2 b3;"
     "d3=multiply e1 2;e3=divide e d3;f3=select h1 c3 e3;g3=select f s2 f3;h3=select b r2 g3;"
     "i3=lt a 0;j3=lt d 0;k3=negate r2;l3=select j3 k3 r2;m3=negate g3;n3=select j3 m3 g3;"
     "o3=select i3 l3 n3;p3=complex h3 o3"},
    {MLIR_OP_LOG, true, true,
     "a=imag x;b=multiply a a;c=real x;d=multiply c c;e=gt b d;f=select e b d;g=add f -1;"
     "h=select e d b;i=add g h;j=negate b;k=multiply a 4097;l=subtract a k;m=add k l;"
     "n=multiply m m;o=add j n;p=subtract a m;q=multiply m p;r=add o q;s=add r q;"
     "t=multiply p p;u=add s t;v=add i u;w=negate d;y=multiply c 4097;z=subtract c y;"
     "a1=add y z;b1=multiply a1 a1;c1=add w b1;d1=subtract c a1;e1=multiply a1 d1;"
     "f1=add c1 e1;g1=add f1 e1;h1=multiply d1 d1;i1=add g1 h1;j1=add v i1;k1=subtract g -1;"
     "l1=subtract f k1;m1=subtract i g;n1=subtract h m1;o1=add l1 n1;p1=subtract v i;"
     "q1=subtract u p1;r1=add o1 q1;s1=subtract j1 v;t1=subtract i1 s1;u1=add r1 t1;"
     "v1=add j1 u1;w1=abs v1;x1=lt w1 0.5;y1=log-plus-one v1;z1=multiply y1 0.5;a2=abs c;"
     "b2=abs a;c2=maximum a2 b2;d2=log c2;e2=minimum a2 b2;f2=eq e2 c2;g2=divide e2 c2;"
     "h2=select f2 1 g2;i2=multiply h2 h2;j2=log-plus-one i2;k2=multiply j2 0.5;l2=add d2 k2;"
     "m2=select x1 z1 l2;n2=atan2 a c;o2=complex m2 n2"},
    {MLIR_OP_LOG_PLUS_ONE, true, true,
     "a=real x;b=abs a;c=imag x;d=abs c;e=maximum b d;f=gt e 1.84467419e+17;g=log e;"
     "h=minimum b d;i=eq h e;j=divide h e;k=multiply j j;l=select i 1 k;m=log-plus-one l;"
     "n=multiply m 0.5;o=add g n;p=add a 1;q=abs p;r=add q d;s=lt r 0.2;t=multiply p p;"
     "u=multiply c c;v=add t u;w=log v;y=multiply w 0.5;z=add a a;a1=add z u;b1=multiply a a;"
     "c1=add a1 b1;d1=negate u;e1=multiply c 4097;f1=subtract c e1;g1=add e1 f1;"
     "h1=multiply g1 g1;i1=add d1 h1;j1=subtract c g1;k1=multiply g1 j1;l1=add i1 k1;"
     "m1=add l1 k1;n1=multiply j1 j1;o1=add m1 n1;p1=add c1 o1;q1=negate b1;"
     "r1=multiply a 4097;s1=subtract a r1;t1=add r1 s1;u1=multiply t1 t1;v1=add q1 u1;"
     "w1=subtract a t1;x1=multiply t1 w1;y1=add v1 x1;z1=add y1 x1;a2=multiply w1 w1;"
     "b2=add z1 a2;c2=add p1 b2;d2=subtract a1 z;e2=subtract a1 d2;f2=subtract z e2;"
     "g2=subtract u d2;h2=add f2 g2;i2=subtract c1 a1;j2=subtract c1 i2;k2=subtract a1 j2;"
     "l2=subtract b1 i2;m2=add k2 l2;n2=add h2 m2;o2=subtract p1 c1;p2=subtract p1 o2;"
     "q2=subtract c1 p2;r2=subtract o1 o2;s2=add q2 r2;t2=add n2 s2;u2=subtract c2 p1;"
     "v2=subtract c2 u2;w2=subtract p1 v2;x2=subtract b2 u2;y2=add w2 x2;z2=add t2 y2;"
     "a3=add c2 z2;b3=log-plus-one a3;c3=multiply b3 0.5;d3=select s y c3;e3=select f o d3;"
     "f3=atan2 c p;g3=complex e3 f3"},
    {MLIR_OP_CHLO_CONJ, true, false, "a=real x;b=imag x;c=negate b;d=complex a c"},
    {MLIR_OP_CHLO_ATAN, false, false, "a=atan2 x 1"},
    {MLIR_OP_CHLO_ASIN, false, false,
     "a=subtract 1 x;b=add x 1;c=multiply a b;d=sqrt c;e=add d 1;f=atan2 x e;g=add f f"},
    {MLIR_OP_CHLO_ACOS, false, false,
     "a=subtract 1 x;b=add x 1;c=multiply a b;d=sqrt c;e=atan2 d x"},
    {MLIR_OP_CHLO_COSH, false, false,
     "a=add x -0.693147182;b=exponential a;c=subtract -0.693147182 x;d=exponential c;e=add b d"},
    {MLIR_OP_CHLO_IS_INF, false, false, "a=abs x;b=eq a inf"},
    {MLIR_OP_CHLO_IS_POS_INF, false, false, "a=eq x inf"},
    {MLIR_OP_CHLO_IS_NEG_INF, false, false, "a=eq x -inf"},
};

static const struct {
    const char *name, *direction;
} comparisons[] = {{"eq", "EQ"}, {"ge", "GE"}, {"gt", "GT"}, {"lt", "LT"}};

/* What has been made: the argument, the terms of the formula, its numbers. */
struct terms {
    struct mlir_span names[TERMS_MOST];
    hlo_id ids[TERMS_MOST];
    size_t count;
    struct hlo_shape part; /* of real numbers: the argument's, or that of its parts */
    uint8_t type;          /* of the argument */
};

/* The argument's array of truth values, of complex numbers, of their parts or of real numbers. */
static uint8_t type_made(uint16_t opcode, uint8_t argument)
{
    if (opcode == HLO_OP_COMPARE || opcode == HLO_OP_IS_FINITE || opcode == HLO_OP_AND ||
        opcode == HLO_OP_OR)
        return HLO_PRED;
    if (opcode == HLO_OP_COMPLEX || hlo_type_info[argument].class != 'C')
        return argument;
    return argument == HLO_C64 ? HLO_F32 : HLO_F64;
}

/* The word at `*p`, which is left at what ends it: '=', a blank, ';' or the end. */
static struct mlir_span word(const char **p)
{
    struct mlir_span s = {*p, (uint32_t)strcspn(*p, "= ;")};

    *p += s.size;
    return s;
}

static bool is_word(struct mlir_span s, const char *text, size_t size)
{
    return s.size == size && !memcmp(s.text, text, size);
}

static int add_term(struct lower *l, struct terms *t, struct mlir_span name, hlo_id id)
{
    if (t->count == TERMS_MOST)
        return hlo_lower_fail(l, "its formula has more than %d terms", TERMS_MOST);
    t->names[t->count] = name;
    t->ids[t->count++] = id;
    return 0;
}

/* A name from before, or a number, which is made once. */
static int operand_of(struct lower *l, struct terms *t, struct mlir_span name, hlo_id *out)
{
    for (size_t n = 0; n < t->count; n++) {
        if (is_word(name, t->names[n].text, t->names[n].size)) {
            *out = t->ids[n];
            return 0;
        }
    }
    return number_like(l, &t->part, name, out) || add_term(l, t, name, *out) ? l->e->code : 0;
}

/* `operation operand ..`: one instruction. */
static int make_term(struct lower *l, struct terms *t, const char **p, hlo_id *out)
{
    struct mlir_span op = word(p);
    const char *direction = NULL;
    hlo_id operands[TERM_OPERANDS];
    int rc;

    for (size_t n = 0; n < sizeof comparisons / sizeof *comparisons; n++) {
        if (is_word(op, comparisons[n].name, strlen(comparisons[n].name)))
            direction = comparisons[n].direction;
    }
    struct lower_new new = {.opcode = direction ? HLO_OP_COMPARE
                                                : (uint16_t)hlo_op_by_name(op.text, op.size),
                            .operands = operands};
    while (**p == ' ' && new.operand_count < TERM_OPERANDS) {
        ++*p;
        if (operand_of(l, t, word(p), &operands[new.operand_count++]))
            return l->e->code;
    }
    enum hlo_type to = (enum hlo_type)type_made(new.opcode, t->type);
    new.shape = hlo_lower_array(l, to, t->part.dims, t->part.rank, &rc);
    if (rc || (direction && hlo_lower_attr(l, HLO_ATTR_DIRECTION, direction, 2)))
        return l->e->code;
    return hlo_lower_make(l, &new, out);
}

static int expand(struct lower *l, const char *formula, hlo_id argument)
{
    struct terms t = {.part = *hlo_lower_shape_of(l, argument)}; /* their list moves as it grows */
    hlo_id last = argument;

    t.type = t.part.type;
    t.part.type = type_made(HLO_OP_REAL, t.type);
    if (add_term(l, &t, (struct mlir_span){"x", 1}, argument))
        return l->e->code;
    for (const char *p = formula; *p; p += *p == ';') {
        struct mlir_span name = word(&p);
        p += *p == '=';
        if (make_term(l, &t, &p, &last) || add_term(l, &t, name, last))
            return l->e->code;
    }
    lower_set(l, l->op->results, last);
    return 0;
}

/* NULL: none. What XLA computes in f32 whatever the type stays whole where that is another. */
static const char *formula_of(const struct lower *l, hlo_id argument)
{
    uint8_t of = hlo_lower_shape_of(l, argument)->type;
    const struct hlo_type_info *type = &hlo_type_info[of];
    bool is_complex = type->class == 'C', is_single = of == HLO_F32 || of == HLO_C64;

    if (l->op->row == MLIR_OP_CHLO_COSH && type->bits < 32)
        return NULL;
    for (size_t n = 0; n < sizeof formulas / sizeof *formulas; n++) {
        const struct formula *f = &formulas[n];
        if (f->row == l->op->row && f->is_complex == is_complex && (is_single || !f->is_single))
            return f->text;
    }
    return NULL;
}

int hlo_lower_CHLO(struct lower *l)
{
    hlo_id id;

    if (l->op->operand_count != 1 || l->op->result_count != 1)
        return hlo_lower_fail(l, "%u operands and %u results, expected one of each",
                              l->op->operand_count, l->op->result_count);
    if (hlo_lower_operand(l, 0, &id))
        return l->e->code;
    const char *formula = formula_of(l, id);
    return formula ? expand(l, formula, id) : hlo_lower_WHOLE(l);
}

/* One instruction; of complex numbers, which XLA expands, what XLA makes of it. */
int hlo_lower_FUNCTION(struct lower *l)
{
    bool is_plain = l->as_is || l->op->operand_count != 1 || l->op->result_count != 1;
    const char *formula = NULL;
    hlo_id id;

    if (!is_plain && hlo_lower_operand(l, 0, &id))
        return l->e->code;
    if (!is_plain)
        formula = formula_of(l, id);
    return formula ? expand(l, formula, id) : hlo_lower_PLAIN(l);
}
