/* Tables of stack frames (FileNames, FunctionNames, FileLocations, StackFrames) and the metadata
 * that points into them. */
#include "hlo/module/attr.h"
#include "hlo/module/build.h"
#include "hlo/module/hlo.h"
#include "hlo/support/lex.h"
#include "hlo/support/mem.h"
#include "hlo/text/parse.h"

#include <string.h>

/* ---- tables: `N "text"` or `N {key=I key=I}`, N counting from 1 ---- */

/* The number after `key=` within [at, end); 0 when absent. */
static uint32_t table_field(const char *at, const char *end, const char *key)
{
    size_t size = strlen(key);

    for (; (size_t)(end - at) > size; at++) {
        int64_t value;
        if (!memcmp(at, key, size) && !lex_is(at[-1], LEX_NAME) && hlo_lex_int(at + size, &value) &&
            value >= 0 && value < UINT32_MAX)
            return (uint32_t)value;
    }
    return 0;
}

static int file_row(struct parser *p, const char *text, const char *end)
{
    struct parse_frames *f = &p->frames;

    if (*text != '"')
        return hlo_parse_fail(p, text, "expected a file name in quotes");
    if (!mem_grow(&f->files, &f->file_room, f->file_count, 1))
        return hlo_parse_memory(p);
    f->files[f->file_count++] = (struct hlo_text){text + 1, (uint32_t)(end - text - 2)};
    return 0;
}

static int function_row(struct parser *p, const char *text, const char *end)
{
    (void)end;
    return *text == '"' ? 0 : hlo_parse_fail(p, text, "expected a function name in quotes");
}

static int location_row(struct parser *p, const char *text, const char *end)
{
    struct parse_frames *f = &p->frames;

    if (*text != '{')
        return hlo_parse_fail(p, text, "expected a location such as {file_name_id=1 line=2}");
    if (!mem_grow(&f->locations, &f->location_room, f->location_count, 1))
        return hlo_parse_memory(p);
    f->locations[f->location_count++] = (struct parse_location){
        table_field(text + 1, end, "file_name_id="), table_field(text + 1, end, "line=")};
    return 0;
}

static int frame_row(struct parser *p, const char *text, const char *end)
{
    struct parse_frames *f = &p->frames;

    if (*text != '{')
        return hlo_parse_fail(p, text, "expected a frame such as {file_location_id=1}");
    if (!mem_grow(&f->frames, &f->frame_room, f->frame_count, 1))
        return hlo_parse_memory(p);
    f->frames[f->frame_count++] = table_field(text + 1, end, "file_location_id=");
    return 0;
}

static const struct {
    const char *name;
    int (*row)(struct parser *p, const char *text, const char *end);
} tables[] = {
    {"FileNames", file_row},
    {"FunctionNames", function_row},
    {"FileLocations", location_row},
    {"StackFrames", frame_row},
};

static int parse_table(struct parser *p, int (*row)(struct parser *, const char *, const char *))
{
    for (int64_t want = 1; parse_skip(p), lex_is(*p->at, LEX_DIGIT); want++) {
        int64_t number;
        const char *begin = p->at, *text = hlo_lex_int(begin, &number);
        if (!text || number != want)
            return hlo_parse_fail(p, begin, "row \"%.*s\" of a table, expected %lld",
                                  PARSE_WORD(begin), (long long)want);
        text = lex_skip(text);
        const char *end = *text == '"'   ? hlo_lex_string_end(text)
                          : *text == '{' ? hlo_lex_group_end(text)
                                         : text;
        if (!end)
            return hlo_parse_fail(p, text, "row of a table is not closed");
        if (end - text >= INT32_MAX)
            return hlo_parse_fail(p, text, "row of a table longer than 2 GB");
        if (row(p, text, end))
            return p->e->code;
        p->at = end;
    }
    return 0;
}

int hlo_parse_tables(struct parser *p)
{
    parse_skip(p);
    const char *begin = p->at, *end = begin;

    for (size_t n = 0; n < sizeof tables / sizeof *tables; n++) {
        parse_skip(p);
        if (!hlo_lex_is_word(p->at, tables[n].name))
            continue;
        p->at = lex_name_end(p->at);
        if (parse_table(p, tables[n].row))
            return p->e->code;
        end = p->at;
    }
    while (end > begin && lex_is(end[-1], LEX_BLANK))
        end--;
    if (end - begin >= UINT32_MAX)
        return hlo_parse_fail(p, begin, "tables of more than 4 GB");
    if (end > begin) {
        const char *kept = hlo_build_keep(p->b, begin, (size_t)(end - begin));
        if (!kept)
            return hlo_parse_memory(p);
        p->m->tables = (struct hlo_text){kept, (uint32_t)(end - begin)};
    }
    return 0;
}

/* ---- metadata={op_name="..." source_line=3 stack_frame_id=7} ---- */

enum { META_OP_TYPE, META_OP_NAME, META_SOURCE_FILE, META_TEXTS };

struct meta_found {
    struct hlo_text texts[META_TEXTS]; /* between the quotes */
    int64_t source_line, frame;
};

static bool is_key(const char *name, const char *end, const char *key)
{
    return (size_t)(end - name) == strlen(key) && !memcmp(name, key, (size_t)(end - name));
}

static void meta_text(struct meta_found *found, const char *name, const char *name_end,
                      const char *value, const char *end)
{
    static const char *const keys[META_TEXTS] = {"op_type", "op_name", "source_file"};

    for (int k = 0; k < META_TEXTS; k++) {
        if (is_key(name, name_end, keys[k]))
            found->texts[k] = (struct hlo_text){value + 1, (uint32_t)(end - value - 2)};
    }
}

static int scan_metadata(struct parser *p, const char *at, const char *end,
                         struct meta_found *found)
{
    for (at = lex_skip(at + 1); at < end - 1; at = lex_skip(at)) {
        const char *name = at, *name_end = lex_name_end(at);
        if (*at == ',') {
            at++;
            continue;
        }
        const char *value = lex_skip(name_end);
        if (name_end == name || *value != '=')
            return hlo_parse_fail(p, at, "\"%.*s\" in metadata, expected name=value",
                                  PARSE_WORD(at));
        value = lex_skip(value + 1);
        const char *value_end = hlo_parse_value_end(value, HLO_ATTR_UNKNOWN);
        if (!value_end || value_end == value || value_end >= end)
            return hlo_parse_fail(p, value, "metadata without a value, expected name=value");
        if (*value == '"')
            meta_text(found, name, name_end, value, value_end);
        else if (is_key(name, name_end, "source_line"))
            hlo_lex_int(value, &found->source_line);
        else if (is_key(name, name_end, "stack_frame_id"))
            hlo_lex_int(value, &found->frame);
        at = value_end;
    }
    return 0;
}

/* A frame stands for the place it was at: file and line. */
static void resolve_frame(const struct parser *p, struct meta_found *found)
{
    const struct parse_frames *f = &p->frames;

    if (found->frame < 1 || (uint64_t)found->frame > f->frame_count)
        return;
    uint32_t location = f->frames[found->frame - 1];
    if (location < 1 || location > f->location_count)
        return;
    const struct parse_location *l = &f->locations[location - 1];
    if (found->texts[META_SOURCE_FILE].size || l->file < 1 || l->file > f->file_count)
        return;
    found->texts[META_SOURCE_FILE] = f->files[l->file - 1];
    found->source_line = l->line;
}

static int read_metadata(struct parser *p, const char *text, const char *end, uint32_t *out)
{
    struct meta_found found = {.source_line = 0};
    size_t sizes[META_TEXTS], room = 1, used = 0;
    const char *texts[META_TEXTS];

    if (scan_metadata(p, text, end, &found))
        return p->e->code;
    if (found.frame)
        resolve_frame(p, &found);
    for (int k = 0; k < META_TEXTS; k++)
        room += found.texts[k].size;
    if (!mem_grow(&p->scratch, &p->scratch_room, 0, room))
        return hlo_parse_memory(p);
    for (int k = 0; k < META_TEXTS; k++) {
        texts[k] = found.texts[k].size ? found.texts[k].text : "";
        sizes[k] = found.texts[k].size;
        if (memchr(texts[k], '\\', sizes[k])) {
            sizes[k] = hlo_lex_unescape(p->scratch + used, texts[k], sizes[k]);
            texts[k] = p->scratch + used;
            used += sizes[k];
        }
    }
    struct hlo_meta meta = {
        texts[META_OP_TYPE], texts[META_OP_NAME], texts[META_SOURCE_FILE],
        found.source_line > 0 && found.source_line < UINT32_MAX ? (uint32_t)found.source_line : 0};
    return hlo_parse_place(p, text, hlo_build_meta(p->b, &meta, sizes, out, p->e));
}

/* The slot of this text, or the free one where it would go. */
static struct parse_meta *meta_slot(const struct parse_metas *m, const char *text, uint32_t size,
                                    uint32_t hash)
{
    size_t mask = m->room - 1;

    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        struct parse_meta *slot = &m->slots[i];
        if (!slot->text ||
            (slot->hash == hash && slot->size == size && !memcmp(slot->text, text, size)))
            return slot;
    }
}

static bool metas_grow(struct parse_metas *m)
{
    struct parse_metas grown = {.room = m->room ? m->room * 2 : 1024, .count = m->count};

    grown.slots = mem_try_whole(grown.room, sizeof *grown.slots);
    if (!grown.slots)
        return false;
    for (size_t i = 0; i < m->room; i++) {
        const struct parse_meta *old = &m->slots[i];
        size_t at = old->hash & (grown.room - 1);
        while (old->text && grown.slots[at].text)
            at = (at + 1) & (grown.room - 1);
        if (old->text)
            grown.slots[at] = *old;
    }
    free(m->slots);
    *m = grown;
    return true;
}

int hlo_parse_metadata(struct parser *p, const char **text, const char *end, uint32_t *out)
{
    struct parse_metas *m = &p->metas;
    size_t size = (size_t)(end - *text);

    if (size >= UINT32_MAX)
        return read_metadata(p, *text, end, out);
    if (m->count * 2 >= m->room && !metas_grow(m))
        return hlo_parse_memory(p);
    uint32_t hash = lex_hash_long(*text, size);
    struct parse_meta *slot = meta_slot(m, *text, (uint32_t)size, hash);
    if (!slot->text) {
        if (read_metadata(p, *text, end, out))
            return p->e->code;
        const char *kept = hlo_build_keep(p->b, *text, size);
        if (!kept)
            return hlo_parse_memory(p);
        *slot = (struct parse_meta){kept, (uint32_t)size, hash, *out};
        m->count++;
    }
    *text = slot->text;
    *out = slot->meta;
    return 0;
}
