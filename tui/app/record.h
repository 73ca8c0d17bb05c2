/* tui/app/record.h - every frame that is drawn, also into an asciicast (tui/screen/cast.h). One
 * recording at a time; it ends with the explorer at the latest. */
#ifndef AUTOMAP_TUI_APP_RECORD_H
#define AUTOMAP_TUI_APP_RECORD_H

#include "hlo/support/err.h"

#include <stdbool.h>

struct app;

/* Creates the file; ERR_IO: it cannot be, or exists and is not to be replaced. */
int app_record_begin(struct app *a, const char *path, bool overwrite, struct err *e) MUST_CHECK;
void app_record_frame(
    struct app *a); /* the grid as it was drawn last; without a recording nothing */
/* Closes the file and says so. False: there is no recording, or it ended because of an error. */
bool app_record_end(struct app *a);

#endif
