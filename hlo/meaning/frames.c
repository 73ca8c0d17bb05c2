#include "hlo/meaning/frames.h"

#include "hlo/module/attr.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/text.h"

#include <stdlib.h>
#include <string.h>

struct location {
    uint32_t file, function, line, column;
};

struct frame {
    uint32_t location, parent; /* ids; 0: none */
};

enum { ROWS_FILES, ROWS_FUNCTIONS, ROWS_LOCATIONS, ROWS_FRAMES, ROWS_COUNT };

struct hlo_frames {
    const struct hlo_module *m;
    struct arena arena;
    const char **names[2]; /* of files, of functions */
    size_t name_count[2], name_room[2];
    struct location *locations;
    size_t location_count, location_room;
    struct frame *frames;
    size_t frame_count, frame_room;
};

/* The number after " key=" or "{key=" within [at, end); 0 when absent. */
static uint32_t frame_field(const char *at, const char *end, const char *key)
{
    size_t size = strlen(key);

    for (; (size_t)(end - at) > size + 1; at++) {
        uint64_t value = 0;
        if ((*at != '{' && *at != ' ') || memcmp(at + 1, key, size) || at[size + 1] != '=')
            continue;
        for (at += size + 2; at < end && *at >= '0' && *at <= '9' && value < UINT32_MAX; at++)
            value = value * 10 + (uint64_t)(*at - '0');
        return value < UINT32_MAX ? (uint32_t)value : 0;
    }
    return 0;
}

static bool add_name(struct hlo_frames *f, int which, const char *at, const char *end)
{
    const char *first = memchr(at, '"', (size_t)(end - at));
    const char *last = end;

    while (last > at && last[-1] != '"')
        last--;
    size_t size = first && last - 1 > first ? (size_t)(last - 1 - first - 1) : 0;
    char *name = arena_get(&f->arena, 3 * size + 1, 1); /* cleaning may lengthen */
    if (!name || !mem_grow(&f->names[which], &f->name_room[which], f->name_count[which], 1))
        return false;
    text_clean(name, 3 * size + 1, size ? first + 1 : "", size);
    f->names[which][f->name_count[which]++] = name;
    return true;
}

static bool add_row(struct hlo_frames *f, int rows, const char *at, const char *end)
{
    switch (rows) {
    case ROWS_FILES:
    case ROWS_FUNCTIONS:
        return add_name(f, rows, at, end);
    case ROWS_LOCATIONS:
        if (!mem_grow(&f->locations, &f->location_room, f->location_count, 1))
            return false;
        f->locations[f->location_count++] = (struct location){
            frame_field(at, end, "file_name_id"), frame_field(at, end, "function_name_id"),
            frame_field(at, end, "line"), frame_field(at, end, "column")};
        return true;
    default:
        if (!mem_grow(&f->frames, &f->frame_room, f->frame_count, 1))
            return false;
        uint32_t parent = frame_field(at, end, "parent_frame_id");
        f->frames[f->frame_count++] =
            (struct frame){frame_field(at, end, "file_location_id"), parent ? parent - 1 : 0};
        return true;
    }
}

/* The tables were checked when the module was read: rows of one line, numbered from 1. */
static bool read_tables(struct hlo_frames *f)
{
    static const char *const heads[ROWS_COUNT] = {"FileNames", "FunctionNames", "FileLocations",
                                                  "StackFrames"};
    const char *at = f->m->tables.text, *end = at + f->m->tables.size;
    int rows = ROWS_COUNT;

    while (at < end) {
        const char *line = at, *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        at = stop + (stop < end);
        while (line < stop && *line == ' ')
            line++;
        if (line < stop && *line >= '0' && *line <= '9') {
            if (rows < ROWS_COUNT && !add_row(f, rows, line, stop))
                return false;
            continue;
        }
        for (int k = 0; k < ROWS_COUNT; k++) {
            size_t size = strlen(heads[k]);
            if ((size_t)(stop - line) >= size && !memcmp(line, heads[k], size))
                rows = k;
        }
    }
    return true;
}

int hlo_frames_new(const struct hlo_module *m, struct hlo_frames **out, struct err *e)
{
    struct hlo_frames *f = mem_try(1, sizeof *f);

    if (!f)
        return err_no_memory(e, "for source lines");
    f->m = m;
    if (m->tables.size && !read_tables(f)) {
        hlo_frames_free(f);
        return err_no_memory(e, "for source lines");
    }
    *out = f;
    return 0;
}

void hlo_frames_free(struct hlo_frames *f)
{
    if (!f)
        return;
    for (int k = 0; k < 2; k++)
        free(f->names[k]);
    free(f->locations);
    free(f->frames);
    arena_release(&f->arena);
    free(f);
}

static const char *name_of(const struct hlo_frames *f, int which, uint32_t id)
{
    return id && id <= f->name_count[which] ? f->names[which][id - 1] : "";
}

uint32_t hlo_frames_of(const struct hlo_frames *f, hlo_id id,
                       struct hlo_frame out[static HLO_FRAMES_MOST])
{
    const struct hlo_attr *meta = hlo_attr(f->m, id, HLO_ATTR_METADATA);
    const struct hlo_meta *old = hlo_meta(f->m, id);
    uint32_t count = 0;
    uint32_t at = meta ? frame_field(meta->text, meta->text + meta->size, "stack_frame_id") : 0;

    while (at && at <= f->frame_count && count < HLO_FRAMES_MOST) {
        const struct frame *frame = &f->frames[at - 1];
        if (frame->location && frame->location <= f->location_count) {
            const struct location *l = &f->locations[frame->location - 1];
            out[count++] =
                (struct hlo_frame){name_of(f, ROWS_FILES, l->file),
                                   name_of(f, ROWS_FUNCTIONS, l->function), l->line, l->column};
        }
        at = frame->parent < at ? frame->parent : 0; /* parents come first: no circle */
    }
    if (!count && old->source_file[0])
        out[count++] = (struct hlo_frame){old->source_file, "", old->source_line, 0};
    return count;
}

bool hlo_frame_is_library(const struct hlo_frame *f)
{
    return strstr(f->file, "site-packages/") || strstr(f->file, "dist-packages/") ||
           strstr(f->file, "lib/python") || !strncmp(f->file, "jax/", 4);
}
