#include "engine/live/command.h"

#include "engine/text/quantity.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum argument { NONE, COUNT, NUMBER, TEXT };

const char *const live_command_names[COMMAND_VERB_COUNT] = {
#define X(id, name, argument) name,
    COMMAND_VERBS(X)
#undef X
};

static const uint8_t arguments[COMMAND_VERB_COUNT] = {
#define X(id, name, argument) argument,
    COMMAND_VERBS(X)
#undef X
};

/* What a command takes as text. */
static const char *const texts[COMMAND_VERB_COUNT] = {
    [COMMAND_PIN] = "NAME:DIM=0 or NAME:DIM=1",
    [COMMAND_UNPIN] = "NAME:DIM",
    [COMMAND_FORBID] = "NAME:DIM",
    [COMMAND_BACKTRACK] = "NAME:DIM",
    [COMMAND_SET] = "OPTION VALUE",
    [COMMAND_AGAIN] = "OPTION VALUE",
    [COMMAND_CLUSTER] = "PATH=VALUE",
    [COMMAND_SERVERS] = "servers such as 0-3,8 or 0:4",
    [COMMAND_MESH] = "sizes such as 2x8",
    [COMMAND_MICRO] = "a number",
    [COMMAND_ZERO] = "a number from 0 to 3",
    [COMMAND_ROLE] = "NAME=ROLE",
    [COMMAND_LOSS] = "an instruction",
    [COMMAND_BATCH] = "samples such as 64, x2 or /2, or NAME:DIM",
};

static bool parse_number(const char *text, double *out)
{
    return quantity_real(text, 0, 1e12, out);
}

int live_command_parse(const char *line, struct live_command *out, struct err *e)
{
    size_t word;

    line += strspn(line, " \t");
    word = strcspn(line, " \t\r\n");
    memset(out, 0, sizeof *out);
    for (out->verb = 0; out->verb < COMMAND_VERB_COUNT; out->verb++) {
        if (strlen(live_command_names[out->verb]) == word &&
            !strncmp(line, live_command_names[out->verb], word))
            break;
    }
    if (out->verb == COMMAND_VERB_COUNT)
        return err_set(e, ERR_INPUT, "no command \"%.*s\"", (int)(word < 40 ? word : 40), line);
    const char *rest = line + word + strspn(line + word, " \t");
    size_t size = strcspn(rest, "\r\n");
    while (size && (rest[size - 1] == ' ' || rest[size - 1] == '\t'))
        size--;
    if (size >= sizeof out->text)
        return err_set(e, ERR_LIMIT, "an argument of %zu bytes, expected at most %d", size,
                       COMMAND_TEXT_ROOM - 1);
    memcpy(out->text, rest, size);
    enum argument kind = arguments[out->verb];
    bool good = kind == NONE   ? !size
                : kind == TEXT ? size > 0
                               : parse_number(out->text, &out->number);
    if (kind == COUNT && !size) {
        out->number = 1;
        good = true;
    }
    if (!good)
        return err_set(e, ERR_INPUT, "%s%s%.60s, expected %s", live_command_names[out->verb],
                       size ? " " : "", out->text,
                       kind == NONE   ? "nothing behind it"
                       : kind == TEXT ? texts[out->verb]
                                      : "a number");
    if (kind != TEXT)
        out->text[0] = '\0';
    return 0;
}

void live_command_print(const struct live_command *c, struct str *out)
{
    str_add(out, live_command_names[c->verb]);
    if (arguments[c->verb] == TEXT)
        str_format(out, " %s", c->text);
    else if (arguments[c->verb] != NONE)
        str_format(out, " %.17g", c->number);
}
