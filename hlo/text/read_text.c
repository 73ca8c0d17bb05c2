/* HLO text to a module: log prefixes blanked, one of several modules picked, then parsed. */
#define _GNU_SOURCE /* strchrnul */
#include "hlo/module/build.h"
#include "hlo/module/hlo.h"
#include "hlo/module/read.h"
#include "hlo/support/err.h"
#include "hlo/support/lex.h"
#include "hlo/support/mem.h"
#include "hlo/support/thread.h"
#include "hlo/text/parse.h"

#include <string.h>

/* ---- log prefixes: `I0521 12:04:45.883123    1509 file.cc:186] ` ---- */

/* Past the prefix of a line, or the line itself. */
static char *log_prefix_end(char *line)
{
    char *p = line;

    if (!strchr("IWEF", *p) || !*p++)
        return line;
    for (int n = 0; n < 4; n++) {
        if (!lex_is(*p++, LEX_DIGIT))
            return line;
    }
    if (*p != ' ')
        return line;
    char *end = p + strcspn(p, "]\n");
    if (*end != ']' || !memchr(p, ':', (size_t)(end - p)))
        return line;
    return end + 1;
}

/* ---- several modules in one file ---- */

struct segment {
    char *begin, *end;
};

/* Of a text, for the first of two threads: see share_of_first. */
enum { FIRST_PERCENT = 54, FIRST_PERCENT_METADATA = 64, LOOK_BYTES = 4096 };

struct segments {
    struct segment *list;
    size_t count, room;
    bool is_open;    /* the last of the list goes on */
    bool has_header; /* it has its HloModule line */
    bool has_graphs; /* ## BEGIN_GRAPH was seen: what stands outside does not count */
    bool is_log;     /* some line has a prefix, which was written over */
    size_t lines;    /* before the one at hand */
    char *middle;    /* about that of the work: the first instruction behind this, */
    char *ahead;     /* and its line; NULL: none */
    size_t ahead_line;
};

static bool open_segment(struct segments *s, char *line)
{
    if (!mem_grow(&s->list, &s->room, s->count, 1))
        return false;
    s->list[s->count++] = (struct segment){line, line};
    s->is_open = true;
    s->has_header = false;
    return true;
}

static bool starts(const char *line, const char *with)
{
    return !strncmp(line, with, strlen(with));
}

/* Takes note of one line; false when out of memory. `next` is the begin of the one after it. */
static bool add_line(struct segments *s, char *line, char *next)
{
    if (*line == ' ' && s->is_open) { /* nearly always: an instruction */
        s->list[s->count - 1].end = next;
        if (line >= s->middle && !s->ahead)
            s->ahead = line, s->ahead_line = s->lines + 1;
        return true;
    }
    if (starts(line, "## BEGIN_GRAPH")) {
        if (!s->has_graphs)
            s->count = 0;
        s->has_graphs = true;
        return open_segment(s, next);
    }
    if (starts(line, "## END_GRAPH") || (s->has_graphs && starts(line, "Graph Hash: ")) ||
        (*line == '/' && starts(line, "// -----"))) {
        s->is_open = false;
        return true;
    }
    bool is_header = *line == 'H' && starts(line, "HloModule ");
    if (is_header && s->is_open && s->has_header)
        s->is_open = false;
    if (!s->is_open &&
        (s->has_graphs || starts(line, "//") || line[strspn(line, " \t\r")] == '\n') && !is_header)
        return true;
    if (!s->is_open && !open_segment(s, line))
        return false;
    s->has_header |= is_header;
    s->list[s->count - 1].end = next;
    return true;
}

/* Blanks log prefixes and finds the modules in [from, to), which begins with a line. *zero: a zero
 * byte, which does not belong there. */
static bool scan_lines(struct segments *s, char *from, char *to, const char **zero)
{
    for (char *line = from; line < to; s->lines++) {
        char *newline = strchrnul(line, '\n'); /* zero bytes follow the input */
        char *next = *newline ? newline + 1 : to;
        if (!*newline && newline < to) {
            *zero = newline;
            return true;
        }
        char *text = *line >= 'E' && *line <= 'W' ? log_prefix_end(line) : line;
        if (text > line) {
            s->is_log = true;
            memset(line, ' ', (size_t)(text - line));
        }
        if (s->is_log)
            text += strspn(text, " ");
        if (!add_line(s, text < next ? text : line, next))
            return false;
        line = next;
    }
    return true;
}

/* The later half of a long text, looked at by a second thread, which changes nothing. */
struct later {
    char *begin, *end;
    size_t lines;
    char *middle;         /* of the work */
    char *indented;       /* the first indented line behind it, NULL: none, */
    size_t indented_line; /* and how many stand before it */
    bool is_plain;        /* nothing but lines that go on with a module */
};

static bool goes_on(char *line)
{
    if (*line == '#' || *line == '/' || starts(line, "HloModule ") || starts(line, "Graph Hash: "))
        return false;
    return *line < 'E' || *line > 'W' || log_prefix_end(line) == line;
}

static void *look_later(void *context)
{
    struct later *l = context;

    l->is_plain = true;
    for (char *line = l->begin; line < l->end && l->is_plain; l->lines++) {
        char *newline = strchrnul(line, '\n');
        if (*line == ' ' && line >= l->middle && !l->indented) {
            l->indented = line;
            l->indented_line = l->lines;
        }
        l->is_plain = (*newline || newline == l->end) && (*line == ' ' || goes_on(line));
        line = *newline ? newline + 1 : l->end;
    }
    return NULL;
}

enum { LATER_LEAST = 4 << 20 }; /* bytes; below, a thread costs more than it saves */

/* Both halves of the text, of a long one (from `apart` bytes on; 0: as pays) the later one as found
 * beside, where nothing in it is out of the ordinary and the first ends within a module; else line
 * by line as the first. */
static bool find_segments(char *input, size_t size, size_t apart, struct segments *s,
                          const char **zero)
{
    struct later later = {.begin = input + size, .end = input + size, .middle = s->middle};
    bool is_long = size >= (apart ? apart : LATER_LEAST);
    char *newline = is_long ? memchr(input + size / 2, '\n', size - size / 2) : NULL;
    struct beside beside = {0};

    if (newline) {
        later.begin = newline + 1;
        beside_begin(&beside, true, look_later, &later);
    }
    bool ok = scan_lines(s, input, later.begin, zero);
    beside_end(&beside);
    if (ok && !*zero && later.is_plain && s->is_open && !s->is_log) {
        s->list[s->count - 1].end = later.end;
        if (!s->ahead && later.indented)
            s->ahead = later.indented, s->ahead_line = s->lines + later.indented_line + 1;
        s->lines += later.lines;
    } else if (ok && !*zero) {
        ok = scan_lines(s, later.begin, later.end, zero);
    }
    if (s->is_log)
        s->ahead = NULL;
    return ok;
}

static int pick_segment(const struct segments *s, int32_t wanted, struct err *e, size_t *out)
{
    *out = 0;
    if (wanted >= 0) {
        *out = (size_t)wanted;
        if (*out >= s->count)
            return err_set(e, ERR_INPUT,
                           "no module %d in a file of %zu, expected a number below %zu", wanted,
                           s->count, s->count);
        return 0;
    }
    for (size_t n = 1; n < s->count; n++) {
        if (s->list[n].end - s->list[n].begin > s->list[*out].end - s->list[*out].begin)
            *out = n;
    }
    return 0;
}

/* ---- reading ---- */

enum { AHEAD_LEAST = 1 << 20 }; /* bytes; below, a thread costs more than it saves */

void hlo_parser_release(struct parser *p)
{
    free(p->ids);
    free(p->parts);
    free(p->attrs);
    free(p->called);
    free(p->controls);
    free(p->bodies);
    free(p->waiting);
    free(p->elements.slots);
    free(p->names.slots);
    free(p->computations);
    free(p->aliases);
    free(p->header);
    free(p->frames.files);
    free(p->frames.locations);
    free(p->frames.frames);
    free(p->metas.slots);
    free(p->scratch);
}

/* The stacks are never NULL: an empty list is a place on them, too. */
bool hlo_parser_init(struct parser *p)
{
    hlo_parse_attr_init(p);
    return mem_grow(&p->ids, &p->id_room, 0, 16) && mem_grow(&p->parts, &p->part_room, 0, 16) &&
           mem_grow(&p->attrs, &p->attr_room, 0, 16);
}

/* Where about half of the work lies before. The first thread gets more of the text: the second
 * begins later, joining is left to the first, and metadata that is new, which most of the second's
 * is to it, takes longer than what was seen before. */
static char *share_of_first(char *input, size_t size)
{
    char *half = input + size / 2;
    bool has_metadata = memmem(half, size / 2 < LOOK_BYTES ? size / 2 : LOOK_BYTES, " metadata={",
                               strlen(" metadata={"));

    return input + size / 100 * (has_metadata ? FIRST_PERCENT_METADATA : FIRST_PERCENT);
}

/* A second thread may begin in the middle of a long text that is one module. */
static void set_ahead(struct parser *p, const struct segments *s, size_t apart)
{
    if (p->size < (apart ? apart : AHEAD_LEAST) || s->count != 1 || !s->ahead)
        return;
    p->ahead_from.at = lex_skip(s->ahead);
    p->ahead_from.line_begin = s->ahead;
    p->ahead_from.line = (uint32_t)s->ahead_line;
    p->ahead_from.always = apart;
}

static int read_segment(struct parser *p, const struct segments *s, size_t picked,
                        struct hlo_module **out)
{
    int rc = 0;

    if (s->count) {
        p->at = s->list[picked].begin;
        *s->list[picked].end = '\0';
    }
    if (s->count > 1)
        hlo_build_warning(p->b, (size_t)(p->at - p->input),
                          "the file holds %zu modules: this is number %zu, counted from 0",
                          s->count, picked);
    p->m->format = HLO_FORMAT_TEXT;
    if (!hlo_parser_init(p))
        rc = hlo_parse_memory(p);
    if (rc)
        goto out;
    rc = hlo_parse_module(p);
    hlo_parse_ahead_end(p);
out:
    if (rc) {
        hlo_builder_free(p->b);
        return rc;
    }
    return hlo_builder_finish(p->b, p->entry, out, p->e);
}

int hlo_read_text(char *input, size_t size, const struct hlo_load_options *o,
                  struct hlo_module **out, struct err *e)
{
    struct segments segments = {.middle = share_of_first(input, size)};
    const char *zero = NULL;
    struct parser *p = mem_try(1, sizeof *p);
    size_t picked = 0;
    int rc = 0;

    if (!p || !find_segments(input, size, o->apart, &segments, &zero)) {
        rc = err_no_memory(e, "for this module");
    } else if (zero) {
        err_set(e, ERR_INPUT, "a zero byte in text, expected HLO");
        rc = err_at(e, input, size, (size_t)(zero - input));
    } else {
        rc = pick_segment(&segments, o->module, e, &picked);
    }
    if (rc) {
        free(o->is_lent ? NULL : input);
    } else {
        *p = (struct parser){
            .at = input, .input = input, .size = size, .e = e, .entry = HLO_NONE, .last = HLO_NONE};
        p->is_leased = o->is_lent && !segments.is_log;
        set_ahead(p, &segments, o->apart);
        p->b =
            hlo_builder_new_text(input, size, segments.lines, o->is_lent, hlo_memory_limit(size));
        p->m = p->b ? hlo_builder_module(p->b) : NULL;
        rc = p->b ? read_segment(p, &segments, picked, out) : hlo_parse_memory(p);
    }
    free(segments.list);
    if (p)
        hlo_parser_release(p);
    free(p);
    return rc;
}
