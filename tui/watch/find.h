/* tui/watch/find.h - a list of everything with a name on the screen, and the search for typed words
 * in it, best first.
 *
 * A name has forms: as the file has it, as a panel prints it, cut short where a column is narrow.
 * What was typed has to hold, word by word, in the name, or in what surrounds it (the module of an
 * instruction, the variables of a linkage group). Ranked: the name as it is printed, then all its
 * words, then words in the order typed, whole words, beginnings, middles, surroundings; among
 * equals by kind, optimizer state last; then short names first, and
 * what little surrounds. UI thread. */
#ifndef AUTOMAP_TUI_WATCH_FIND_H
#define AUTOMAP_TUI_WATCH_FIND_H

#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

struct watch;

/* In the order they stand among equals. */
enum find_kind {
    FIND_GROUP,    /* id: move */
    FIND_VARIABLE, /* id: parameter of problem->roles */
    FIND_MODULE,   /* id: node of the watch's tree */
    FIND_PLAN,     /* id: of plan_load_all */
    FIND_VIEW,     /* id: the caller's, here and of the next three */
    FIND_COMMAND,
    FIND_OPTION,
    FIND_TOUR,
    FIND_CLASS,  /* id: class that no decision is about */
    FIND_SOURCE, /* id: the first instruction of that line */
    FIND_INPUT,  /* id: parameter, as of the next */
    FIND_INSTRUCTION,
    FIND_STATE,
    FIND_KIND_COUNT
};
extern const char *const find_kind_names[FIND_KIND_COUNT]; /* "group" */

struct find_entry {
    uint8_t kind; /* enum find_kind */
    uint16_t forms;
    uint32_t id;
    const char *name;   /* the first form; the others behind it, each with its NUL */
    const char *words;  /* of each form with its NUL, an empty one behind the last */
    const char *around; /* words of what surrounds it; "" */
};

struct find_index {
    struct find_entry *items;
    size_t count, room;
    struct arena arena;
    struct str forms, words; /* of the entry being made */
    bool failed;             /* out of memory: names are missing */
};

/* Names that stay as long as the problem does. O(instructions). */
void find_index_module(struct find_index *x, const struct watch *w);
/* Those of the moment: linkage groups and plans. */
void find_index_search(struct find_index *x, const struct watch *w);
/* One name, with what it is called besides: forms up to NULL. `around` NULL: nothing. */
void find_add(struct find_index *x, enum find_kind kind, uint32_t id, const char *around,
              const char *name, ...) __attribute__((sentinel));
void find_index_release(struct find_index *x);

struct find_hit {
    const struct find_entry *entry;
    uint32_t rank; /* the best is the lowest */
};

enum { FIND_ANY = -1 };
struct find_result {
    struct find_hit *hits; /* best first; the caller's to free */
    size_t count;
    uint32_t of_kind[FIND_KIND_COUNT]; /* of all kinds, whatever `kind` was asked for */
    char unknown[64]; /* words that no name holds, of which the hits are without; "" */
};

/* What fits in all of the `count` indices; where nothing does, what fits without the words that no
 * name holds ("layer 7 ffn" on a model that calls it intermediate). "@#%:=" in front mean one kind,
 * "~" letters in order. kind FIND_ANY: all. Nothing typed: everything but instructions, inputs and
 * state. O(names + hits log hits). */
int find_run(const struct find_index *const *x, int count, const char *typed, int kind,
             struct find_result *out, struct err *e) MUST_CHECK;

/* The i-th form of a name; NULL: no i-th. */
const char *find_form(const struct find_entry *entry, int i);

#endif
