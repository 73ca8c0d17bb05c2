/* engine/live/pins_and_undo.h - a person's acts: pins, options, edits of the problem, backtracks,
 * with undo and redo. */
#ifndef AUTOMAP_ENGINE_LIVE_PINS_AND_UNDO_H
#define AUTOMAP_ENGINE_LIVE_PINS_AND_UNDO_H

#include "engine/decide/classes.h"
#include "engine/live/command.h"
#include "engine/live/ledger.h"
#include "engine/live/snapshot.h"
#include "engine/search/game.h"
#include "engine/search/search.h"
#include "hlo/support/err.h"

struct search_state;

/* A pin in force. */
struct pinned {
    struct game_pin pin;
    uint32_t move; /* of the current game; UINT32_MAX: it has no move for this class */
    uint32_t act;  /* number of the act that made it */
    uint32_t wish; /* into the state's wishes: the pin as the person entered it */
};

/* Everything a person has set as of one act. Acts form a tree: undo goes back to the act this one
 * was made from, redo to the last one made from this. */
struct act {
    struct pinned *pins;
    uint32_t pin_count;
    struct search_options options;
    struct live_problem *edited; /* the edited problem; NULL: the original one */
    char text[96];
    uint8_t verb; /* enum command_verb; COMMAND_VERB_COUNT: the start */
    class_id about;
    uint32_t row;              /* its number in the ledger */
    uint32_t from, next;       /* indices of acts; next: where redo goes, ACT_NONE */
    struct live_plan *optimum; /* under it, once solved; NULL: none */
    struct live_plan *best;    /* found under it when it was last left; NULL: none */
};
enum { ACT_NONE = UINT32_MAX };

/* A pin in a person's words, "NAME:DIM=1"; it may pin several classes. */
struct pin_wish {
    char text[COMMAND_TEXT_ROOM + 2];
};

bool act_copy(const struct act *from, struct act *out); /* false: out of memory */
void act_release(struct act *a);
/* The pins in the form of games; the caller frees them. NULL: out of memory. */
struct game_pin *act_game_pins(const struct act *a);

/* Takes over `next`, makes it the newest act and puts it in force. On error the previous act stays
 * in force. */
int act_push(struct search_state *c, struct act *next, struct err *e) MUST_CHECK;

/* The ledger of all acts; NULL: out of memory. */
struct ledger *acts_ledger(const struct search_state *c);

/* Carry out a person's commands: pin, unpin, forbid; backtrack; set, again; undo, redo, row. */
int obey_pin(struct search_state *c, const struct live_command *command, struct err *e) MUST_CHECK;
int obey_backtrack(struct search_state *c, const struct live_command *command,
                   struct err *e) MUST_CHECK;
int obey_set(struct search_state *c, const struct live_command *command, struct err *e) MUST_CHECK;
int obey_again(struct search_state *c, const struct live_command *command,
               struct err *e) MUST_CHECK;
int obey_undo(struct search_state *c, int by, struct err *e) MUST_CHECK; /* by -1 or 1 */
int obey_row(struct search_state *c, const struct live_command *command, struct err *e) MUST_CHECK;

#endif
