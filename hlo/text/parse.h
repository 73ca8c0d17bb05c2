/* hlo/text/parse.h - the recursive-descent reader of HLO text, cut into files by what they read:
 * parse_module.c (header, computations), parse_alias.c, parse_tables.c (stack frames, metadata),
 * parse_shape.c, parse_instruction.c, parse_names.c, parse_attr.c, parse_literal.c,
 * parse_infer.c, parse_async.c; parse_ahead.c reads the later half beside. Private to hlo/.
 *
 * Every parse_X reads an X at p->at, leaves p->at behind it and returns 0, or a negative code with
 * *p->e written. Shapes and names are looked up in the builder; nothing is allocated per token. */
#ifndef AUTOMAP_HLO_TEXT_PARSE_H
#define AUTOMAP_HLO_TEXT_PARSE_H

#include "hlo/module/attr.h"
#include "hlo/module/build.h"
#include "hlo/module/hlo.h"
#include "hlo/module/read.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/lex.h"

#include <stdatomic.h>

/* An operand named before its definition: patched at the end of the computation. */
struct parse_waiting {
    const char *name;
    uint32_t size, operand;
    hlo_id user;
    hlo_shape_id declared;   /* the shape printed before it */
    const char *declared_at; /* NULL: none */
};

/* What is known of a computation: until `is_defined`, only that `first_use` names it. */
struct parse_computation {
    bool is_defined;
    const char *first_use;
};

/* Array shapes repeat: text of the last one with this hash. */
struct parse_cached_shape {
    const char *text;
    uint32_t size;
    hlo_shape_id id;
};

struct parse_frames {
    struct hlo_text *files; /* by id - 1, as between the quotes */
    size_t file_count, file_room;
    struct parse_location {
        uint32_t file, line;
    } * locations;
    size_t location_count, location_room;
    uint32_t *frames; /* location of each frame */
    size_t frame_count, frame_room;
};

/* Metadata read so far, by its text: open addressing. The same text stands behind many
 * instructions, and is read and kept once. */
struct parse_metas {
    struct parse_meta {
        const char *text; /* NULL: free */
        uint32_t size, hash, meta;
    } * slots;
    size_t room, count;
};

struct parse_alias {
    const char *out, *param_index; /* places of the `{...}` indices; out NULL: a buffer donor */
    int64_t param;
    bool must;
};

/* get-tuple-elements made for the compact form `name#2`: open addressing by (operand, index). */
struct parse_elements {
    struct parse_element {
        hlo_id from, id;
        uint32_t index;
        bool used;
    } * slots;
    size_t room, count;
};

/* Instructions of the computation being read, by name: open addressing. An entry counts only when
 * its instruction is of this computation (id >= first), so that nothing is cleared in between. The
 * name is the builder's copy: names stand close together there, and far apart in the text. */
struct parse_names {
    struct parse_name {
        uint32_t name;          /* into hlo_builder_names */
        uint32_t hash, next_id; /* id + 1; 0: never used */
    } * slots;
    size_t room, count;
    hlo_id first;
    const char *expected; /* a name soon to be made, and its hash */
    uint32_t expected_hash;
};

enum { PARSE_SHAPES_CACHED = 1024, PARSE_ATTR_SLOTS = 256 };

/* Attributes whose value is ids, beside those of the attribute table. */
enum parse_special {
    PARSE_TO_APPLY = HLO_ATTR_COUNT,
    PARSE_CALLS,
    PARSE_BODY,
    PARSE_CONDITION,
    PARSE_SELECT,
    PARSE_SCATTER,
    PARSE_TRUE,
    PARSE_FALSE,
    PARSE_BRANCHES,
    PARSE_CALLED,
    PARSE_CONTROLS,
    PARSE_INDEX,
    PARSE_SPECIAL_END,
};

struct parser {
    const char *at;
    const char *input;
    size_t size;
    bool is_leased;     /* and what was read of it can go: see leased_behind */
    const char *behind; /* that is gone up to here; NULL: nothing yet */
    struct hlo_builder *b;
    struct hlo_module *m;
    struct err *e;
    int depth;      /* of nested operands and tuples */
    bool is_single; /* no braces: unknown operands with a shape become parameters */

    hlo_comp computation; /* being read */
    hlo_id *ids;          /* stack of operands */
    size_t id_count, id_room;
    hlo_shape_id *parts; /* stack of tuple elements */
    size_t part_count, part_room;
    struct hlo_attr *attrs; /* of the instruction being read */
    size_t attr_count, attr_room;
    hlo_comp *called;
    size_t called_count, called_room;
    hlo_id *controls;
    size_t control_count, control_room;
    struct parse_body {
        const char *at; /* at its { */
        hlo_comp computation;
        int depth;
    } * bodies; /* computations that stand inside the one being read */
    size_t body_count, body_room;
    int inline_depth;
    struct parse_waiting *waiting;
    size_t waiting_count, waiting_room;
    struct parse_elements elements;
    struct parse_names names;
    uint32_t fresh;                         /* names given so far */
    struct parse_computation *computations; /* by hlo_comp */
    size_t computation_count, computation_room;
    hlo_comp entry, last;
    hlo_id entry_begin;  /* no instruction of the entry stands before */
    uint32_t parameters; /* of a single instruction */
    uint16_t wrapped;    /* X of the X-start just read; HLO_OP_UNKNOWN: none */

    struct {
        const char *at, *line_begin; /* at NULL: nowhere */
        uint32_t line;
        bool always; /* on one processor, too */
    } ahead_from;    /* where a second thread may begin */
    struct parse_ahead *ahead;
    const char *ahead_at;        /* NULL: there is no second thread to take from */
    const atomic_bool *unwanted; /* of the second thread: stop; NULL: of the first */

    struct parse_alias *aliases;
    size_t alias_count, alias_room;
    struct hlo_text *header;
    size_t header_count, header_room;
    struct parse_frames frames;
    struct parse_metas metas;
    char *scratch; /* unescaped op_type, op_name, source_file */
    size_t scratch_count, scratch_room;

    struct parse_cached_shape shapes[PARSE_SHAPES_CACHED];
    uint8_t attr_slots[PARSE_ATTR_SLOTS];  /* key + 1 by name hash, linear probing */
    uint8_t attr_sizes[PARSE_SPECIAL_END]; /* of the names, by key */
};

/* ERR_INPUT with place `at`. A comment left open there is named instead. */
int hlo_parse_fail(struct parser *p, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Adds the place to an error somebody else wrote. */
int hlo_parse_place(struct parser *p, const char *at, int code);
int hlo_parse_memory(struct parser *p);
int hlo_parse_unexpected(struct parser *p, char c, const char *why);
static inline void parse_skip(struct parser *p)
{
    p->at = lex_skip(p->at);
}
/* `c` after blanks, or an error "expected `c` <why>". */
static inline int parse_expect(struct parser *p, char c, const char *why)
{
    parse_skip(p);
    if (*p->at != c)
        return hlo_parse_unexpected(p, c, why);
    p->at++;
    return 0;
}
/* For messages: at most 60 bytes of the word at `at`. */
#define PARSE_WORD(at) hlo_parse_word_size(at), (at)
int hlo_parse_word_size(const char *at);
/* The same for a name alone. */
#define PARSE_NAME(at) hlo_parse_name_size(at), (at)
int hlo_parse_name_size(const char *at);

int hlo_parse_shape(struct parser *p, hlo_shape_id *out);
/* Something that can only be a shape stands at p->at. */
bool hlo_parse_at_shape(const char *at);

/* `text` is followed by PARSE_SLACK readable bytes, of the input's padding or otherwise. */
enum { PARSE_SLACK = 8 };
void hlo_parse_names_begin(struct parser *p); /* a new computation */
/* A name of both; `names`: what those of `other` are offsets into. */
bool hlo_parse_names_meet(const struct parser *p, const struct parse_names *other,
                          const char *names);
hlo_id hlo_parse_find(const struct parser *p, const char *text, size_t size); /* HLO_NONE: none */
/* A name soon to be made: hashes it once, brings its slot near, which in a large module is far. */
void hlo_parse_names_expect(struct parser *p, const char *text, size_t size);
/* Makes the instruction: its name (fresh, after `d->name` or "unnamed", when `is_fresh`) is new in
 * the computation or refused. */
int hlo_parse_build(struct parser *p, struct hlo_draft *d, bool is_fresh, hlo_id *out);

/* The computation named at p->at; made when it is not yet defined. */
int hlo_parse_computation_name(struct parser *p, hlo_comp *out);
/* At a computation written in place, in braces. */
bool hlo_parse_at_inline(const char *at);
int hlo_parse_inline(struct parser *p, hlo_comp *out);
int hlo_parse_instruction(struct parser *p);
/* The shape printed before an operand must be that of its definition, layout and dynamism apart. */
int hlo_parse_same_shape(struct parser *p, const char *at, hlo_shape_id declared, hlo_id id);
/* `opcode(operands)` at `begin`. */
int hlo_parse_right_side(struct parser *p, const char *begin, bool has_shape, struct hlo_draft *d);
/* The shape of `d`, read without one. */
int hlo_parse_infer(struct parser *p, struct hlo_draft *d);
/* For `X-start` and so on the asynchronous opcode, and X; HLO_OP_UNKNOWN when it is none. */
uint16_t hlo_parse_async_opcode(const char *name, size_t size, uint16_t *wrapped);
/* `d` was read as X-start: wraps X into a computation of its own. */
int hlo_parse_async_start(struct parser *p, struct hlo_draft *d, uint16_t wrapped);
int hlo_parse_waiting_done(struct parser *p); /* end of a computation */

void hlo_parse_attr_init(struct parser *p);
int hlo_parse_attrs(struct parser *p, struct hlo_draft *d);
/* The end of the attribute value at `at` of key `key`, or NULL when it never ends. */
const char *hlo_parse_value_end(const char *at, uint16_t key);
int hlo_parse_literal(struct parser *p, hlo_shape_id shape, struct hlo_draft *d);

int hlo_parse_tables(struct parser *p);
/* *text becomes the first text that was the same. */
int hlo_parse_metadata(struct parser *p, const char **text, const char *end, uint32_t *out);

int hlo_parse_aliases(struct parser *p, const char *text, bool is_donor);
int hlo_parse_aliases_done(struct parser *p); /* indices to leaves, once all shapes are known */

int hlo_parse_module(struct parser *p); /* at `HloModule`, a computation or an instruction */

/* Parts of it for who begins in the middle: instructions to the `}` of their computation or to
 * where the second thread's work is joined; what stands behind the `}`; computations to the end. */
int hlo_parse_instructions(struct parser *p, bool *has_root);
int hlo_parse_thread(struct parser *p);
int hlo_parse_computations(struct parser *p);
int hlo_parse_new_computation(struct parser *p, const char *name, size_t size, hlo_comp *out);
bool hlo_parser_init(struct parser *p);    /* beyond its fields: false when out of memory */
void hlo_parser_release(struct parser *p); /* all but the builder */

/* Starts a second thread at p->ahead_from, if that is worth it and can be done. */
void hlo_parse_ahead_begin(struct parser *p);
/* At p->ahead_at, between two instructions: *is_taken if all that comes is in the builder now, and
 * p->at at the end. Else the first goes on. */
int hlo_parse_ahead_take(struct parser *p, bool *has_root, bool *is_taken);
void hlo_parse_ahead_end(struct parser *p); /* stops it where nobody took from it */

#endif
