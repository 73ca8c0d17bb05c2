#include "tui/watch/find.h"

#include "engine/decide/classes.h"
#include "engine/decide/names.h"
#include "engine/live/snapshot.h"
#include "engine/problem/problem.h"
#include "engine/search/game.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/support/mem.h"
#include "tui/screen/edit.h"
#include "tui/screen/words.h"
#include "tui/watch/class_look.h"
#include "tui/watch/plan_load.h"
#include "tui/watch/series_names.h"
#include "tui/watch/short_names.h"
#include "tui/watch/tree.h"
#include "tui/watch/watch.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const find_kind_names[FIND_KIND_COUNT] = {
    [FIND_GROUP] = "group",   [FIND_VARIABLE] = "variable", [FIND_MODULE] = "module",
    [FIND_PLAN] = "plan",     [FIND_VIEW] = "view",         [FIND_COMMAND] = "command",
    [FIND_OPTION] = "option", [FIND_TOUR] = "tour",         [FIND_CLASS] = "class",
    [FIND_SOURCE] = "source", [FIND_INPUT] = "input",       [FIND_INSTRUCTION] = "instruction",
    [FIND_STATE] = "state"};

enum { WORDS_ROOM = 4096, QUERY_WORDS = 16 };

/* ---- making ---- */

static void begin_index(struct find_index *x)
{
    str_clear(&x->forms);
    str_clear(&x->words);
}

static bool holds_form(const struct find_index *x, const char *text)
{
    for (size_t at = 0; at < x->forms.size; at += strlen(x->forms.text + at) + 1) {
        if (!strcmp(x->forms.text + at, text))
            return true;
    }
    return false;
}

/* As it is printed alone: its words say nothing. */
static uint16_t add_spelling(struct find_index *x, const char *text)
{
    if (!text || !*text || holds_form(x, text))
        return 0;
    str_add(&x->forms, text);
    str_add_char(&x->forms, '\0');
    return 1;
}

static uint16_t add_form(struct find_index *x, const char *text)
{
    char words[WORDS_ROOM];

    if (!add_spelling(x, text))
        return 0;
    if (words_write(words, sizeof words, text)) {
        str_add(&x->words, words);
        str_add_char(&x->words, '\0');
    }
    return 1;
}

static void end(struct find_index *x, enum find_kind kind, uint32_t id, uint16_t forms,
                const char *around)
{
    if (!forms)
        return;
    if (!mem_grow(&x->items, &x->room, x->count, 1)) {
        x->failed = true;
        return;
    }
    struct find_entry *e = &x->items[x->count];
    *e = (struct find_entry){.kind = (uint8_t)kind, .forms = forms, .id = id, .around = around};
    char *name = arena_get(&x->arena, x->forms.size + 1, 1);
    char *words = arena_get(&x->arena, x->words.size + 1, 1);
    x->failed |= !name || !words || x->forms.failed || x->words.failed;
    if (!name || !words)
        return;
    memcpy(name, x->forms.text, x->forms.size);
    if (x->words.size)
        memcpy(words, x->words.text, x->words.size);
    e->name = name;
    e->words = words;
    x->count++;
}

static const char *keep_words(struct find_index *x, const char *text)
{
    char words[WORDS_ROOM];
    size_t size = words_write(words, sizeof words, text);
    const char *kept = size ? arena_text(&x->arena, words, size) : NULL;
    return kept ? kept : "";
}

void find_add(struct find_index *x, enum find_kind kind, uint32_t id, const char *around,
              const char *name, ...)
{
    va_list args;

    begin_index(x);
    uint16_t forms = add_form(x, name);
    va_start(args, name);
    for (const char *form; (form = va_arg(args, const char *));)
        forms = (uint16_t)(forms + add_form(x, form));
    va_end(args);
    end(x, kind, id, forms, around ? keep_words(x, around) : "");
}

/* ---- what a module holds ---- */

static void add_nodes(struct find_index *x, const struct tree *t, const char **around)
{
    char path[1024], dots[1024];

    for (int n = 0; n < t->count; n++) {
        if (!t->nodes[n].below)
            continue;
        tree_path(t, n, "/", path, sizeof path);
        tree_path(t, n, " › ", dots, sizeof dots);
        around[n] = keep_words(x, path);
        find_add(x, FIND_MODULE, (uint32_t)n, NULL, t->nodes[n].name, path, dots, NULL);
    }
}

static void add_params(struct find_index *x, const struct watch *w)
{
    static const uint8_t kinds[HLO_ROLE_COUNT] = {[HLO_ROLE_VARIABLE] = FIND_VARIABLE,
                                                  [HLO_ROLE_INPUT] = FIND_INPUT,
                                                  [HLO_ROLE_OPTIMIZER_STATE] = FIND_STATE,
                                                  [HLO_ROLE_HYPER] = FIND_INPUT,
                                                  [HLO_ROLE_OTHER_STATE] = FIND_STATE};
    const struct problem *p = w->problem;

    for (uint32_t k = 0; k < p->roles.param_count; k++) {
        const struct hlo_param_role *r = &p->roles.params[k];
        hlo_id id = p->m->value_instruction[r->value];
        begin_index(x);
        int forms = r->module ? add_form(x, r->module) : 0;
        forms += add_form(x, r->name);
        forms += add_form(x, tree_instruction_name(w->tree, id));
        forms +=
            add_spelling(x, hlo_name(p->m, id)); /* "params__layer_000____q__.1" is no layer 1 */
        end(x, (enum find_kind)kinds[r->role], k, (uint16_t)forms, "");
    }
}

static bool is_argument(const struct hlo_module *m, hlo_id id)
{
    return hlo_at(m, id)->opcode == HLO_OP_PARAMETER && hlo_at(m, id)->computation == m->entry;
}

static void add_instructions(struct find_index *x, const struct watch *w, const char *const *around)
{
    const struct hlo_module *m = w->problem->m;

    for (hlo_id id = 0; id < m->count; id++) {
        if (is_argument(m, id))
            continue;
        char line[32];
        begin_index(x);
        uint16_t forms = add_form(x, hlo_name(m, id));
        snprintf(line, sizeof line, "line %u", (unsigned)hlo_at(m, id)->line);
        if (hlo_at(m, id)->line && !hlo_meta(m, id)->source_file[0]) /* shown in a source's place */
            forms = (uint16_t)(forms + add_spelling(x, line));
        end(x, FIND_INSTRUCTION, id, forms, around[w->tree->node_of[id]]);
    }
}

struct line {
    const char *file;
    uint32_t line;
    hlo_id first;
};

static int by_line(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    int order = x->file == y->file ? 0 : strcmp(x->file, y->file);
    if (order)
        return order;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

static void add_lines(struct find_index *x, const struct hlo_module *m)
{
    struct line *lines = mem_try((size_t)m->count + 1, sizeof *lines);
    size_t count = 0;

    for (hlo_id id = 0; lines && id < m->count; id++) {
        const struct hlo_meta *meta = hlo_meta(m, id);
        if (meta->source_file[0])
            lines[count++] = (struct line){meta->source_file, meta->source_line, id};
    }
    if (lines)
        qsort(lines, count, sizeof *lines, by_line);
    for (size_t n = 0; n < count; n++) {
        char whole[600], end_of[300];
        const char *slash = strrchr(lines[n].file, '/');
        if (n && lines[n].line == lines[n - 1].line && !strcmp(lines[n].file, lines[n - 1].file))
            continue;
        snprintf(whole, sizeof whole, "%.500s:%u", lines[n].file, lines[n].line);
        snprintf(end_of, sizeof end_of, "%.200s:%u", slash ? slash + 1 : lines[n].file,
                 lines[n].line);
        find_add(x, FIND_SOURCE, lines[n].first, NULL, end_of, whole, NULL);
    }
    x->failed |= !lines;
    free(lines);
}

void find_index_module(struct find_index *x, const struct watch *w)
{
    const char **around = mem_try((size_t)w->tree->count + 1, sizeof *around);

    if (!around) {
        x->failed = true;
        return;
    }
    add_nodes(x, w->tree, around);
    add_params(x, w);
    add_instructions(x, w, around);
    add_lines(x, w->problem->m);
    free(around);
}

/* ---- what a search holds ---- */

/* The words of `text` that `out`, " so " written, has not yet: hundreds of paths have few of them.
 */
static void add_words(char *out, size_t room, const char *text)
{
    char words[WORDS_ROOM], word[WORD_ROOM];
    size_t at = 0, size = strlen(out);

    words_write(words, sizeof words, text);
    while (words_next(words, &at, word)) {
        size_t more = strlen(word) + 1;
        if (words_hit(out, word) == WORDS_WHOLE || size + more + 2 > room)
            continue;
        size += (size_t)snprintf(out + size, room - size, "%s%s ", size ? "" : " ", word);
    }
}

/* The module that reads a parameter first; where that looks rows up, it is an embedding, whatever
 * its author called it. */
static void add_readers(const struct watch *w, hlo_id id, char *out, size_t room)
{
    const struct hlo_module *m = w->problem->m;
    char scope[128];

    if (!hlo_at(m, id)->user_count)
        return;
    hlo_id reader = hlo_user(m, id, 0);
    instruction_scope(w->tree, reader, scope, sizeof scope);
    add_words(out, room, scope);
    if (hlo_at(m, reader)->opcode == HLO_OP_GATHER && hlo_operand(m, reader, 0) == id)
        add_words(out, room, "embedding");
}

/* Words of the paths of the variables and inputs of a class, as the file has them and as they are
 * shown, and of what reads them. */
static void write_members(const struct watch *w, const class_id *k, uint32_t count, char *out,
                          size_t room)
{
    const struct problem *p = w->problem;

    out[0] = 0;
    for (uint32_t n = 0; n < p->roles.param_count; n++) {
        const struct hlo_param_role *r = &p->roles.params[n];
        bool in = false;
        if (r->role != HLO_ROLE_VARIABLE && r->role != HLO_ROLE_INPUT)
            continue;
        for (dim_id d = p->classes.dim_base[r->value]; d < p->classes.dim_base[r->value + 1]; d++) {
            for (uint32_t i = 0; i < count; i++)
                in |= p->classes.class_of[d] == k[i];
        }
        const char *shown = watch_parameter_name(w, p->m->value_instruction[r->value]);
        if (!in)
            continue;
        add_words(out, room, r->name);
        add_words(out, room, shown ? shown : "");
        add_readers(w, p->m->value_instruction[r->value], out, room);
    }
}

/* Of labels below the decisions, the initials among them. */
enum { LABEL_KINDS = SERIES_WIDEST - SERIES_NARROWEST + 2 };

/* As narrow as rows and titles write it. */
static uint16_t add_short_forms(struct find_index *x, const char *name)
{
    enum { NARROWEST = 6, WIDEST = 48 };
    char cut[NAME_ROOM];
    uint16_t forms = 0;

    for (int columns = NARROWEST; columns < WIDEST; columns++)
        forms = (uint16_t)(forms + add_form(x, watch_short_name(cut, sizeof cut, name, columns)));
    return forms;
}

/* Labels below the decisions, which are told apart: [LABEL_KINDS][moves], the initials last. */
static char (*labels_of(const struct watch *w))[SHORT_NAME_ROOM]
{
    size_t count = (size_t)w->move_count;
    const char **name = mem_alloc(count * sizeof *name + 1);
    char(*told)[SHORT_NAME_ROOM] = mem_alloc(count * LABEL_KINDS * sizeof *told + 1);

    for (int n = 0; n < w->move_count;) {
        int end = watch_series_end(w, n);
        const char *together = watch_series_name(w, n, end);
        while (n < end)
            name[n++] = together;
    }
    for (int columns = SERIES_NARROWEST; columns <= SERIES_WIDEST; columns++)
        short_names(name, w->move_count, columns, watch_shorten,
                    told + count * (size_t)(columns - SERIES_NARROWEST));
    short_names(name, w->move_count, SERIES_INITIALS, series_initials,
                told + count * (LABEL_KINDS - 1));
    free(name);
    return told;
}

static void add_groups(struct find_index *x, const struct watch *w)
{
    char members[WORDS_ROOM], (*told)[SHORT_NAME_ROOM] = labels_of(w);

    for (int n = 0; n < w->move_count; n++) {
        const struct game_move *move = &w->moves->items[n];
        write_members(w, w->moves->pool + move->classes, move->class_count, members,
                      sizeof members);
        begin_index(x);
        uint16_t forms = add_form(x, w->move[n].name);
        forms = (uint16_t)(forms + add_form(x, w->move[n].stem));
        forms = (uint16_t)(forms + add_short_forms(x, w->move[n].name));
        if (strcmp(w->move[n].stem, w->move[n].name) != 0)
            forms = (uint16_t)(forms + add_short_forms(x, w->move[n].stem));
        for (int k = 0; k < LABEL_KINDS; k++)
            forms = (uint16_t)(forms + add_form(x, told[k * w->move_count + n]));
        end(x, FIND_GROUP, (uint32_t)n, forms, keep_words(x, members));
    }
    free(told);
}

static void add_classes(struct find_index *x, const struct watch *w)
{
    const struct classes *c = &w->problem->classes;
    char name[NAME_ROOM];

    for (class_id k = 0; k < c->count; k++) {
        if (watch_move_of(w, k) == MOVE_NONE &&
            (c->info[k].var_dims || c->info[k].input_dims || c->info[k].reason != CLASS_ALLOWED))
            find_add(x, FIND_CLASS, k, NULL, class_name(&w->names, k, name), NULL);
    }
}

void find_index_search(struct find_index *x, const struct watch *w)
{
    char name[64];

    add_groups(x, w);
    add_classes(x, w);
    struct live_plan *plans[WATCH_PLANS_MOST];
    uint32_t plan_count = plan_load_all(w, plans);
    for (uint32_t n = 0; n < plan_count; n++) {
        const struct live_plan *plan = plans[n];
        find_add(x, FIND_PLAN, n,
                 plan == w->best ? watch_plan_word(w)
                 : plan->proven  ? "optimum"
                                 : NULL,
                 plan->found_by, plan_found_by(plan, name, sizeof name),
                 plan == w->best ? watch_plan_word(w) : NULL, NULL);
    }
}

void find_index_release(struct find_index *x)
{
    free(x->items);
    arena_release(&x->arena);
    str_release(&x->forms);
    str_release(&x->words);
    *x = (struct find_index){0};
}

const char *find_form(const struct find_entry *entry, int i)
{
    const char *at = entry->name;

    if (i < 0 || i >= entry->forms)
        return NULL;
    while (i-- > 0)
        at += strlen(at) + 1;
    return at;
}

/* ---- asking ---- */

struct query {
    const char *typed;          /* behind the signs, without blanks around it */
    char phrase[EDIT_ROOM + 8]; /* its words: " cross 0 q " */
    char word[QUERY_WORDS][WORD_ROOM];
    int words, kind;
    bool letters; /* in order */
};

/* Takes away the count behind a folded name, "decoder cross ×3" or "one of 3", and the "'s" of
 * "layer 7's". */
static void plain_name(char *text)
{
    static const char *const counts[] = {" ×", " one of "};
    char *to = text;

    for (size_t n = 0; n < sizeof counts / sizeof *counts; n++) {
        char *count = strstr(text, counts[n]), *digits = count ? count + strlen(counts[n]) : NULL;
        if (count && count > text && *digits && !digits[strspn(digits, "0123456789")])
            *count = 0;
    }
    for (const char *at = text; *at;) {
        bool is_owner = at > text && isalnum((unsigned char)at[-1]) && !strncmp(at, "'s", 2) &&
                        !isalnum((unsigned char)at[2]);
        at += is_owner ? 2 : 0;
        if (*at)
            *to++ = *at++;
    }
    *to = 0;
}

static void read_query(struct query *q, const char *typed, int kind, char text[static EDIT_ROOM])
{
    static const struct {
        char sign;
        enum find_kind kind;
    } signs[] = {{'@', FIND_GROUP},
                 {'#', FIND_VARIABLE},
                 {'%', FIND_INSTRUCTION},
                 {':', FIND_COMMAND},
                 {'=', FIND_OPTION}};
    size_t at = 0;

    *q = (struct query){.kind = kind};
    typed += strspn(typed, " ");
    for (size_t n = 0; n < sizeof signs / sizeof *signs; n++) {
        if (*typed == signs[n].sign && kind == FIND_ANY && typed[1] != signs[n].sign) {
            q->kind = (int)signs[n].kind;
            typed++;
            break;
        }
    }
    q->letters = *typed == '~' && isalnum((unsigned char)typed[1]);
    typed += q->letters;
    snprintf(text, EDIT_ROOM, "%s", typed + strspn(typed, " "));
    for (size_t size = strlen(text); size && text[size - 1] == ' ';)
        text[--size] = 0;
    plain_name(text);
    q->typed = text;
    words_write(q->phrase, sizeof q->phrase, text);
    while (q->words < QUERY_WORDS && words_next(q->phrase, &at, q->word[q->words]))
        q->words++;
}

enum tier {
    TIER_AS_PRINTED,
    TIER_SAME_WORDS,
    TIER_PHRASE,
    TIER_WHOLE,
    TIER_START,
    TIER_MIDDLE,
    TIER_AROUND,
    TIER_NONE
};

static bool is_form(const struct find_entry *e, const char *typed)
{
    const char *form;

    for (int i = 0; (form = find_form(e, i)); i++) {
        if (!strcmp(form, typed))
            return true;
    }
    return false;
}

/* A plural is its singular, too: "layers 7" is layer 7. */
static enum words_hit hit_of(const char *words, const char *word)
{
    enum words_hit hit = words_hit(words, word);
    char one[WORD_ROOM];
    size_t size = strlen(word);

    if (hit != WORDS_NONE || size < 5 || word[size - 1] != 's')
        return hit;
    snprintf(one, sizeof one, "%.*s", (int)size - 1, word);
    return words_hit(words, one) == WORDS_WHOLE ? WORDS_START : WORDS_NONE;
}

/* Of one form: the words of the query in it, or around it. */
static enum tier tier_of_form(const char *words, const char *around, const struct query *q)
{
    enum words_hit least = WORDS_WHOLE;

    for (int n = 0; n < q->words; n++) {
        enum words_hit hit = hit_of(words, q->word[n]);
        if (hit == WORDS_NONE && hit_of(around, q->word[n]) == WORDS_NONE)
            return TIER_NONE;
        least = hit < least ? hit : least;
    }
    if (least == WORDS_WHOLE)
        return !strcmp(words, q->phrase)          ? TIER_SAME_WORDS
               : strstr(words, q->phrase) != NULL ? TIER_PHRASE
                                                  : TIER_WHOLE;
    return least == WORDS_START ? TIER_START : least == WORDS_MIDDLE ? TIER_MIDDLE : TIER_AROUND;
}

static enum tier tier_of(const struct find_entry *e, const struct query *q)
{
    enum tier best = TIER_NONE;

    if (!*q->typed)
        return TIER_MIDDLE;
    if (q->letters)
        return fuzzy_score(q->typed, e->name, NULL) > 0 ? TIER_MIDDLE : TIER_NONE;
    if (is_form(e, q->typed))
        return TIER_AS_PRINTED;
    if (!q->words) /* signs alone */
        return TIER_NONE;
    for (const char *words = e->words; *words; words += strlen(words) + 1) {
        enum tier tier = tier_of_form(words, e->around, q);
        best = tier < best ? tier : best;
    }
    return best;
}

static uint32_t rank_of(const struct find_entry *e, enum tier tier)
{
    size_t length = strlen(tier == TIER_AROUND ? e->around : e->name);
    uint32_t states = tier > TIER_SAME_WORDS && e->kind == FIND_STATE;

    return states << 30 | (uint32_t)tier << 24 | (uint32_t)e->kind << 16 |
           (uint32_t)(length < UINT16_MAX ? length : UINT16_MAX);
}

static int best_first(const void *a, const void *b)
{
    const struct find_hit *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->entry < y->entry ? -1 : x->entry > y->entry;
}

/* What is shown before anything is typed. */
static bool is_offered(const struct find_entry *e)
{
    return e->kind < FIND_CLASS;
}

static int collect(const struct find_index *const *x, int count, const struct query *q,
                   struct find_result *out, struct err *e)
{
    size_t room = 0;

    for (int i = 0; i < count; i++) {
        for (size_t n = 0; n < x[i]->count; n++) {
            const struct find_entry *entry = &x[i]->items[n];
            if (!*q->typed && q->kind == FIND_ANY && !is_offered(entry))
                continue;
            enum tier tier = tier_of(entry, q);
            if (tier == TIER_NONE)
                continue;
            out->of_kind[entry->kind]++;
            if (q->kind != FIND_ANY && q->kind != entry->kind)
                continue;
            if (!mem_grow(&out->hits, &room, out->count, 1)) {
                free(out->hits);
                *out = (struct find_result){0};
                return err_set(e, ERR_MEMORY, "not enough memory to find %.60s", q->typed);
            }
            uint32_t rank = *q->typed ? rank_of(entry, tier) : (uint32_t)entry->kind << 16;
            out->hits[out->count++] = (struct find_hit){entry, rank};
        }
    }
    return 0;
}

static bool is_known(const struct find_index *const *x, int count, const struct query *q,
                     const char *word)
{
    struct query one = {.typed = word, .words = 1, .kind = q->kind};

    snprintf(one.word[0], sizeof one.word[0], "%s", word);
    snprintf(one.phrase, sizeof one.phrase, " %s ", word);
    for (int i = 0; i < count; i++) {
        for (size_t n = 0; n < x[i]->count; n++) {
            const struct find_entry *entry = &x[i]->items[n];
            if ((q->kind == FIND_ANY || q->kind == entry->kind) && tier_of(entry, &one) < TIER_NONE)
                return true;
        }
    }
    return false;
}

/* Leaves out the words that no name holds; false: there is none of them, or no other. */
static bool drop_unknown(const struct find_index *const *x, int count, struct query *q,
                         char unknown[static 64])
{
    size_t size = 0, written = 0;
    int known = 0;

    for (int n = 0; n < q->words; n++) {
        if (is_known(x, count, q, q->word[n])) {
            memmove(q->word[known++], q->word[n], WORD_ROOM);
            written += (size_t)snprintf(q->phrase + written, sizeof q->phrase - written, " %s",
                                        q->word[known - 1]);
        } else if (size < 40) {
            size +=
                (size_t)snprintf(unknown + size, 64 - size, "%s%.20s", size ? " " : "", q->word[n]);
        }
    }
    bool drops = known && known < q->words;
    q->words = known;
    if (drops)
        snprintf(q->phrase + written, sizeof q->phrase - written, " ");
    else
        unknown[0] = 0;
    return drops;
}

int find_run(const struct find_index *const *x, int count, const char *typed, int kind,
             struct find_result *out, struct err *e)
{
    char text[EDIT_ROOM];
    struct query q;

    *out = (struct find_result){0};
    read_query(&q, typed, kind, text);
    int rc = collect(x, count, &q, out, e);
    if (!rc && !out->count && !q.letters && q.words > 1 && drop_unknown(x, count, &q, out->unknown))
        rc = collect(x, count, &q, out, e);
    if (!rc && out->count)
        qsort(out->hits, out->count, sizeof *out->hits, best_first);
    return rc;
}
