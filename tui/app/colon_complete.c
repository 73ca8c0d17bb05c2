/* What a line typed after ':' may become, and what it still takes. */
#include "hlo/support/mem.h"
#include "tui/app/app_internal.h"
#include "tui/app/colon.h"
#include "tui/app/colon_live.h"
#include "tui/app/colon_values.h"
#include "tui/files/complete_path.h"
#include "tui/screen/edit.h"
#include "tui/views/host.h"

#include <stdio.h>
#include <string.h>

/* The last word of a line as a path: "open exam" -> "open examples/". How many there are. */
static int complete_file(struct app *a, const char *text, char *most, size_t most_room)
{
    const char *space = strrchr(text, ' ');
    struct colon_about c;
    char path[EDIT_ROOM];
    struct str names = {0};

    if (!colon_about(text, &c) || !c.files || !space)
        return 0;
    int count = complete_path(space + 1, path, sizeof path, &names);
    if (count && strlen(path) + (size_t)(space + 1 - text) < most_room)
        snprintf(most, most_room, "%.*s%s", (int)(space + 1 - text), text, path);
    if (count > 1)
        app_say(a, "%s", names.text);
    str_release(&names);
    return count;
}

int colon_complete(struct app *a, const char *text, char *most, size_t most_room)
{
    struct colon_line line;
    size_t size = strlen(text), shared = 0;
    int count = 0;

    most[0] = 0;
    for (int i = 0; colon_line(a, i, &line); i++) {
        if (strncmp(line.text, text, size) != 0)
            continue;
        if (count++ == 0) {
            snprintf(most, most_room, "%s", line.text);
            shared = strlen(most);
        }
        size_t same = 0;
        while (same < shared && line.text[same] == most[same])
            same++;
        shared = same;
    }
    most[shared] = 0;
    count = count ? count : complete_file(a, text, most, most_room);
    return count ? count : colon_complete_name(a, text, most, most_room);
}

/* The longest line to be gone on with that `text` goes on with: "set gamma 0." has "set gamma ". */
static bool begun_line(struct app *a, const char *text, struct colon_line *out)
{
    struct colon_line line;
    size_t longest = 0;

    for (int i = 0; colon_line(a, i, &line); i++) {
        size_t size = strlen(line.text);
        if (line.takes && size > longest && !strncmp(text, line.text, size)) {
            *out = line;
            longest = size;
        }
    }
    return longest > 0;
}

bool colon_hint(struct app *a, const char *text, char *out, size_t room)
{
    struct colon_about c = {0};
    bool named = colon_about(text, &c);
    const char *space = strrchr(text, ' ');
    char path[EDIT_ROOM];
    struct colon_line line;
    struct str names = {0};

    if (c.files && space && space[1] && complete_path(space + 1, path, sizeof path, &names))
        snprintf(out, room, "%s", names.text ? names.text : "");
    else if (begun_line(a, text, &line))
        snprintf(out, room, "%s %s", line.text, line.words);
    else if (named)
        snprintf(out, room, "%s %s  %s", c.name, c.args, c.words);
    else
        *out = 0;
    str_release(&names);
    return *out || colon_live_hint(text, out, room);
}
