/* tui/files/config.h - the person's settings: $XDG_CONFIG_HOME/automap/config.yaml.
 *
 *     theme: light               # a name or a path
 *     mode: plain                # keys without vi's letters; default vi
 *     mouse: false
 *     keys: {pause: Space}       # see tui/screen/keys.h
 *     notify: osc9               # tell the terminal when a proof closes or a race ends: osc9,
 *                                # osc777; default off
 *     commands:                  # a person's own (examples/config.yaml): a line for the shell with
 *                                # places for values (tui/files/shell_line.h)
 *       - {name: edit, key: C-e, how: suspended, about: the source line in an editor,
 *          run: "${EDITOR:-vi} +{line} {file}"}
 *
 * Options of the command line override it and are never written back. */
#ifndef AUTOMAP_TUI_FILES_CONFIG_H
#define AUTOMAP_TUI_FILES_CONFIG_H

#include "engine/text/yaml.h"
#include "hlo/support/err.h"
#include "tui/screen/keys.h"

#include <stdbool.h>

enum notify_how { NOTIFY_OFF, NOTIFY_OSC9, NOTIFY_OSC777 };

enum { USER_COMMANDS_MOST = 24 };

/* `suspended`: it has the terminal until it ends; else it runs beside the screen, and its first
 * line of output is the message. Texts are the document's. */
struct user_command {
    const char *name, *key, *about, *run;
    bool suspended;
};

struct config {
    struct yaml_doc doc; /* for the keys; root NULL: none. Released by config_release, as text */
    char *text;
    char path[1024]; /* "": there is no file */
    char theme[256]; /* "": none is named */
    enum key_mode mode;
    bool mouse;
    enum notify_how notify;
    struct user_command commands[USER_COMMANDS_MOST];
    int command_count;
};

/* `path` NULL: the person's own file, which may be missing. */
int config_load(struct config *c, const char *path, struct err *e) MUST_CHECK;
void config_release(struct config *c);

#endif
