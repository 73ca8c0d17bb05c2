/* tui/screen/keys.h - actions and their keys in one table, from which come dispatch, help screen,
 * hint row, documentation and remapping.
 *
 * A key is a code point or one of the names below; C-x is its control code. A sequence is up to
 * KEYS_IN_A_ROW keys ("V g"). Every screen element that takes keys has a key_table; the first table
 * of a keymap is the common one, and an element's own keys take precedence over it.
 *
 * An action's default keys are written "j or Down or V g". In a configuration file:
 *     keys: {pause: Space, graph.fold: [h, Left], compare: [] } */
#ifndef AUTOMAP_TUI_SCREEN_KEYS_H
#define AUTOMAP_TUI_SCREEN_KEYS_H

#include "engine/text/yaml.h"
#include "hlo/support/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum key_code { /* beyond Unicode */
                KEY_FIRST_NAMED = 0x200000,
                KEYC_UP = KEY_FIRST_NAMED,
                KEYC_DOWN,
                KEYC_LEFT,
                KEYC_RIGHT,
                KEYC_HOME,
                KEYC_END,
                KEYC_PAGE_UP,
                KEYC_PAGE_DOWN,
                KEYC_INSERT,
                KEYC_DELETE,
                KEYC_BACKSPACE,
                KEYC_ENTER,
                KEYC_TAB,
                KEYC_BACK_TAB,
                KEYC_ESC,
                KEYC_F1, /* to F12 */
                KEYC_LAST_NAMED = KEYC_F1 + 11,
};

enum { KEYS_IN_A_ROW = 3, KEYS_PER_ACTION = 6, KEY_NAME_ROOM = 16, KEYS_TEXT_ROOM = 64 };

uint32_t key_parse(const char *name); /* "C-r", "Space", "S-Tab", "F1", "x"; 0: no key */
char *key_text(char out[static KEY_NAME_ROOM], uint32_t key);

struct key_sequence {
    uint32_t keys[KEYS_IN_A_ROW]; /* 0 behind the last */
};
bool key_sequence_parse(struct key_sequence *s, const char *text);
char *key_sequence_name(char out[static KEYS_TEXT_ROOM], const struct key_sequence *s);

enum key_mode { KEYS_VI, KEYS_PLAIN };

struct action {
    const char *name;  /* in configuration files and on the command line: "pause" */
    const char *group; /* head in the help screen */
    const char *words; /* help; NULL: shares the row of the action before */
    const char *hint;  /* in the hint row; NULL: never there */
    const char *vi;    /* default keys; NULL: none */
    const char *plain; /* NULL: as vi */
};

struct key_table {
    const char *name; /* "" for the common table; else the prefix of its actions: "graph" */
    const struct action *actions;
    int count;
};

struct keymap;

/* Keeps the pointer array's tables, which are constants. */
struct keymap *keymap_new(const struct key_table *const *tables, int count, enum key_mode mode);
void keymap_free(struct keymap *m);

/* Applies `keys:` of a configuration file: action names to keys. On an error the changes before it
 * remain. Two actions of one table on one key, or on a key and its beginning, are an error that
 * names both. */
int keymap_configure(struct keymap *m, const struct yaml_doc *d, const struct yaml *node,
                     struct err *e) MUST_CHECK;

enum key_match { KEY_NONE, KEY_MORE, KEY_ACTION };

/* What `count` keys typed in a row mean for table `own` (NULL: the common one only). KEY_MORE: the
 * beginning of a sequence. KEY_ACTION: *table and *action say which. */
enum key_match keymap_find(const struct keymap *m, const struct key_table *own,
                           const uint32_t *keys, int count, const struct key_table **table,
                           int *action);

/* Lists what may follow the `count` keys typed: the next key and its action. *at starts at 0 and
 * advances with each call. NULL: no more. */
const struct action *keymap_follows(const struct keymap *m, const struct key_table *own,
                                    const uint32_t *keys, int count, int *at,
                                    char key[static KEY_NAME_ROOM]);

/* The i-th key sequence of an action as text ("C-r", "V g"); NULL: no i-th. */
const char *keymap_keys(const struct keymap *m, const struct key_table *t, int action, int i);

/* Actions whose keys differ from the default. */
int keymap_changed(const struct keymap *m);

#endif
