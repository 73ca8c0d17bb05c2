/* What views may ask of the application, by the functions it has for it. */
#include "tui/views/host.h"
#include "tui/app/script.h"

#include "tui/app/app_internal.h"
#include "tui/app/colon.h"

const struct host app_host = {
    .say = app_say,
    .say_err = app_say_err,
    .touch = app_touch,
    .open = app_open,
    .close = app_close_top,
    .go_to = app_go_to,
    .go_to_node = app_go_to_node,
    .go_to_move = app_go_to_move,
    .act = app_act,
    .command = app_command,
    .ask = app_ask,
    .line = colon_line,
    .load = app_load_instead,
    .resume = app_resume,
    .tour = app_tour_begin,
    .copy = app_copy,
    .write_command = app_write_command,
    .note_saved = app_note_saved,
    .tell_news = app_tell_news,
};
