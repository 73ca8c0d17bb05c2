/* tui/app/user_command.h - a person's own commands (tui/files/config.h): keys of their own, values
 * of what is under the cursor in a line for the shell, run beside the screen or in its place. */
#ifndef AUTOMAP_TUI_APP_USER_COMMAND_H
#define AUTOMAP_TUI_APP_USER_COMMAND_H

#include "tui/screen/keys.h"

#include <stdbool.h>

struct app;
struct user_commands;

/* The commands of the settings; NULL: there are none. */
struct user_commands *user_commands_new(const struct app *a);
/* Ends the one that runs. NULL ok. */
void user_commands_free(struct user_commands *u);
const struct key_table *user_commands_keys(const struct user_commands *u);

void user_commands_act(struct app *a, int action);
/* Takes what the one beside the screen has written; its end is a message. */
void user_commands_tick(struct app *a);
double user_commands_next_ms(const struct app *a); /* -1: none runs */
/* What had the terminal's place has ended so (waitpid). */
void user_commands_ended(struct app *a, int status);

#endif
