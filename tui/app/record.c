/* :record: every frame that is drawn, also into an asciicast. */
#include "tui/app/record.h"

#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/app/app_internal.h"
#include "tui/screen/cast.h"
#include "tui/screen/edit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct recording {
    FILE *file;
    struct cast cast;
    struct str line;
    double start_ms;
    uint64_t frames;
    char path[EDIT_ROOM];
};

enum { STILL_MS = 100 }; /* between frames where there is no clock */

static void give_up(struct app *a, int why)
{
    struct recording *r = a->record;

    app_say(a, "recording %s ended: %s", r->path, strerror(why));
    cast_release(&r->cast);
    str_release(&r->line);
    free(r);
    a->record = NULL;
}

/* Lines go to the system at once, so that what was recorded is there after a kill. */
static void put_frame(struct app *a)
{
    struct recording *r = a->record;
    bool failed = r->line.failed || fwrite(r->line.text, 1, r->line.size, r->file) < r->line.size ||
                  fflush(r->file);
    int why = r->line.failed ? ENOMEM : errno;

    str_clear(&r->line);
    if (!failed)
        return;
    fclose(r->file);
    give_up(a, why);
}

void app_record_frame(struct app *a)
{
    struct recording *r = a->record;

    if (!r)
        return;
    double at_ms =
        a->scene.now_ms > 0 ? a->scene.now_ms - r->start_ms : (double)r->frames * STILL_MS;
    r->frames++;
    cast_frame(&r->cast, &a->grid, at_ms / 1000, &r->line);
    if (r->line.size)
        put_frame(a);
}

bool app_record_end(struct app *a)
{
    struct recording *r = a->record;

    if (!r)
        return false;
    if (fclose(r->file)) {
        give_up(a, errno);
        return false;
    }
    app_say(a, "wrote %s; asciinema play shows it", r->path);
    cast_release(&r->cast);
    str_release(&r->line);
    free(r);
    a->record = NULL;
    return true;
}

int app_record_begin(struct app *a, const char *path, bool overwrite, struct err *e)
{
    struct recording *r = mem_try(1, sizeof *r);

    if (!r)
        return err_no_memory(e, "to record");
    r->file = fopen(path, overwrite ? "we" : "wxe");
    if (!r->file && errno == EEXIST)
        err_set(e, ERR_IO, "%.200s is there already; record! replaces it", path);
    else if (!r->file)
        err_set(e, ERR_IO, "cannot write %.200s: %s", path, strerror(errno));
    if (!r->file) {
        free(r);
        return e->code;
    }
    snprintf(r->path, sizeof r->path, "%s", path);
    r->start_ms = a->scene.now_ms;
    cast_begin(&r->cast, a->width, a->height, &a->theme, a->setup.today, a->scene.model_name,
               &r->line);
    a->record = r;
    put_frame(a);
    return a->record ? 0 : err_set(e, ERR_IO, "cannot write %.200s", path);
}
