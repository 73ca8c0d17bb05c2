/* The finder: every name, as it is printed anywhere, finds itself first, on models of many
 * frameworks; what a row's name is copied as, too; and words find what a person means by them. */
#include "engine/decide/classes.h"
#include "engine/problem/problem.h"
#include "explorer.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "tui/screen/words.h"
#include "tui/views/actions.h"
#include "tui/watch/find.h"
#include "tui/watch/plan_load.h"
#include "tui/watch/series_names.h"
#include "tui/watch/short_names.h"
#include "tui/watch/watch.h"
#include "zoo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

enum { MODELS_MOST = 64, ZOO_BYTES = 400 << 10, NAMES_ASKED = 400 };

static void test_words(void **state)
{
    static const struct {
        const char *text, *words;
    } cases[] = {{"decoder/layer_003/q.kernel", " decoder layer 3 q kernel "},
                 {"Decoder › layer 3 › q", " decoder layer 3 q "},
                 {"layers 0–5 ×6", " layers 0 5 6 "},
                 {"f32[32 12/4]", " f 32 32 12 4 "},
                 {"größe_007", " größe 7 "},
                 {"...", ""},
                 {"0", " 0 "}};
    char out[128], word[WORD_ROOM];
    size_t at = 0;

    (void)state;
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        assert_int_equal(words_write(out, sizeof out, cases[n].text), strlen(cases[n].words));
        assert_string_equal(out, cases[n].words);
    }
    for (size_t room = 0; room < 20; room++) { /* cut, never past the end */
        char small[20] = "###################";
        assert_true(words_write(small, room, "decoder/layer_003") <= room);
    }
    assert_int_equal(words_hit(" layer 12 q kernel ", "1"), WORDS_NONE);
    assert_int_equal(words_hit(" layer 12 q kernel ", "12"), WORDS_WHOLE);
    assert_int_equal(words_hit(" layer 12 q kernel ", "ker"), WORDS_START);
    assert_int_equal(words_hit(" layer 12 q kernel ", "ern"), WORDS_MIDDLE);
    assert_int_equal(words_hit(" layer 12 q kernel ", "er"), WORDS_NONE);
    assert_string_equal(words_next(" a b ", &at, word), "a");
    assert_string_equal(words_next(" a b ", &at, word), "b");
    assert_null(words_next(" a b ", &at, word));
}

/* Every name and every row, not a part of them: some minutes. */
static bool asks_all(void)
{
    return getenv("AUTOMAP_ALL") != NULL;
}

static bool is_form(const struct find_entry *e, const char *name)
{
    const char *form;

    for (int i = 0; (form = find_form(e, i)); i++) {
        if (!strcmp(form, name))
            return true;
    }
    return false;
}

/* The first that is found has that very name. */
static bool finds_itself(const struct find_index *const *x, int count, const char *name)
{
    struct find_result r;
    struct err e;

    assert_int_equal(find_run(x, count, name, FIND_ANY, &r, &e), 0);
    bool first = r.count > 0 && is_form(r.hits[0].entry, name);
    if (!first)
        printf("\"%s\" finds %s first\n", name, r.count ? r.hits[0].entry->name : "nothing");
    free(r.hits);
    return first;
}

static void ask_every_form(const struct find_index *x, const struct find_index *const *all,
                           size_t *asked, size_t *missed)
{
    size_t step = asks_all() ? 1 : x->count / NAMES_ASKED + 1;

    for (size_t n = 0; n < x->count; n += step) {
        const char *form;
        for (int i = 0; (form = find_form(&x->items[n], i)); i++) {
            if (strlen(form) > 200)
                continue; /* longer than a line takes */
            ++*asked;
            *missed += !finds_itself(all, 2, form);
        }
    }
}

static void shorten(char out[static SHORT_NAME_ROOM], const char *given, int columns)
{
    watch_short_name(out, SHORT_NAME_ROOM, given, columns);
}

/* The rows of the linkage groups as narrow as any screen draws them: a name is found, and first a
 * group that is written so there. */
static void ask_every_width(const struct watch *w, const struct find_index *const *all,
                            size_t *asked, size_t *missed)
{
    char shown[NAME_ROOM], other[NAME_ROOM];
    struct find_result r;
    struct err e;

    for (int n = 0; n < w->move_count; n++) {
        for (int columns = 12; columns < 48; columns += asks_all() ? 1 : 7) {
            watch_short_name(shown, sizeof shown, w->move[n].stem, columns);
            assert_int_equal(find_run(all, 2, shown, FIND_ANY, &r, &e), 0);
            int found = r.count && r.hits[0].entry->kind == FIND_GROUP ? (int)r.hits[0].entry->id
                                                                       : MOVE_NONE;
            bool same = r.count && is_form(r.hits[0].entry, shown); /* maybe a module named so */
            if (found != MOVE_NONE)
                same |= !strcmp(watch_short_name(other, sizeof other, w->move[found].stem, columns),
                                shown);
            if (!same)
                printf("\"%s\" of %s finds %s first\n", shown, w->move[n].name,
                       r.count ? r.hits[0].entry->name : "nothing");
            free(r.hits);
            ++*asked;
            *missed += !same;
        }
    }
}

/* Labels that were told apart find a group that is labelled so. */
static void ask_labels(const struct watch *w, const struct find_index *const *all, int columns,
                       shorten_name *by, size_t *asked, size_t *missed)
{
    enum { SERIES = 128 };
    const char *name[SERIES] = {NULL};
    char written[SERIES][SHORT_NAME_ROOM];
    struct find_result r;
    struct err e;
    int count = 0;

    for (int n = 0; n < w->move_count && count < SERIES; n = watch_series_end(w, n))
        name[count++] = watch_series_name(w, n, watch_series_end(w, n));
    short_names(name, count, columns, by, written);
    for (int n = 0; n < count; n++) {
        assert_int_equal(find_run(all, 2, written[n], FIND_ANY, &r, &e), 0);
        bool same = r.count && is_form(r.hits[0].entry, written[n]);
        if (!same)
            printf("\"%s\" of %s finds %s first\n", written[n], name[n],
                   r.count ? r.hits[0].entry->name : "nothing");
        free(r.hits);
        ++*asked;
        *missed += !same;
    }
}

/* A table of variables in which rows are looked up is an embedding, whatever it is called: the
 * group that decides a dim of it is among those found so. Returns how many tables there are. */
static size_t ask_embeddings(const struct watch *w, const struct find_index *const *all)
{
    const struct problem *p = w->problem;
    size_t tables = 0;

    for (uint32_t n = 0; n < p->roles.param_count; n++) {
        const struct hlo_param_role *r = &p->roles.params[n];
        hlo_id id = p->m->value_instruction[r->value];
        hlo_id reader = hlo_at(p->m, id)->user_count ? hlo_user(p->m, id, 0) : HLO_NONE;
        if (r->role != HLO_ROLE_VARIABLE || reader == HLO_NONE ||
            hlo_at(p->m, reader)->opcode != HLO_OP_GATHER || hlo_operand(p->m, reader, 0) != id)
            continue;
        class_id k = p->classes.class_of[p->classes.dim_base[r->value]];
        int move = k == CLASS_NONE ? MOVE_NONE : watch_move_of(w, k);
        struct find_result found;
        struct err e;
        bool is_found = move == MOVE_NONE; /* nobody decides it */
        assert_int_equal(find_run(all, 2, "@embed", FIND_ANY, &found, &e), 0);
        for (size_t i = 0; i < found.count; i++)
            is_found |= (int)found.hits[i].entry->id == move;
        if (!is_found)
            printf("%s is not found as an embedding\n", r->name);
        assert_true(is_found);
        free(found.hits);
        tables += move != MOVE_NONE;
    }
    return tables;
}

/* What Y copies from the rows of the panels, one after the other. */
static void ask_every_row(struct app *app, const struct find_index *const *all, size_t *asked,
                          size_t *missed)
{
    const char *const panels[] = {"1g", "2g", "3g"};
    const char *name;

    for (size_t n = 0; n < sizeof panels / sizeof *panels; n++) {
        for (const char *k = panels[n]; *k; k++)
            app_key(app, (uint32_t)*k);
        for (int row = 0; row < (asks_all() ? 600 : 60); row++) {
            app_key(app, 'Y');
            if (app_take_wish(app, &name) == APP_COPY && *name) {
                ++*asked;
                *missed += !finds_itself(all, 2, name);
            }
            app_key(app, row % 7 == 3 && n == 0 ? 'l' : 'j');
            app_touch(app);
            app_frame(app);
        }
    }
}

/* As rows are drawn beyond their names: folded groups with their count, plans as V p writes them,
 * lines where the file has no sources. */
static void ask_as_drawn(const struct watch *w, const struct find_index *const *all, size_t *asked,
                         size_t *missed)
{
    const struct hlo_module *m = w->problem->m;
    struct live_plan *plans[WATCH_PLANS_MOST];
    uint32_t plan_count = plan_load_all(w, plans);
    char drawn[NAME_ROOM + 16];
    struct find_result r;
    struct err e;

    for (int n = 0; n < w->move_count;) {
        int end = watch_series_end(w, n);
        const char *name = watch_series_name(w, n, end);
        snprintf(drawn, sizeof drawn, "%s ×%d", name, end - n);
        assert_int_equal(find_run(all, 2, drawn, FIND_ANY, &r, &e), 0);
        bool is_found = r.count && is_form(r.hits[0].entry, name);
        if (!is_found)
            printf("\"%s\" finds %s first\n", drawn, r.count ? r.hits[0].entry->name : "nothing");
        free(r.hits);
        ++*asked;
        *missed += !is_found;
        n = end;
    }
    for (uint32_t n = 0; n < plan_count; n++) {
        ++*asked;
        *missed += !finds_itself(all, 2, plan_found_by(plans[n], drawn, sizeof drawn));
    }
    for (hlo_id id = 0; id < m->count; id += m->count / 20 + 1) {
        bool is_argument = hlo_at(m, id)->opcode == HLO_OP_PARAMETER;
        if (hlo_meta(m, id)->source_file[0] || !hlo_at(m, id)->line || is_argument)
            continue;
        snprintf(drawn, sizeof drawn, "line %u", (unsigned)hlo_at(m, id)->line);
        ++*asked;
        *missed += !finds_itself(all, 2, drawn);
    }
}

static void test_every_name_finds_itself(void **state)
{
    (void)state;
    const char *paths[MODELS_MOST] = {AUTOMAP_SOURCE_DIR "/examples/models/t5-tiny.hlo.txt.gz",
                                      AUTOMAP_SOURCE_DIR "/examples/models/resnet20.hlo.txt.gz"};
    glob_t found = {0};
    size_t count = 2 + zoo_models(&found, paths + 2, MODELS_MOST - 2, ZOO_BYTES), opened = 0;
    size_t asked = 0, missed = 0, tables = 0;

    for (size_t n = 0; n < count; n++) {
        struct app *app = explorer_try(paths[n], NULL, 200, 60, &(struct err){0});
        struct err e;
        if (!app)
            continue;
        opened++;
        assert_int_equal(app_tell(app, "episode 2", &e), 0);
        app_frame(app);
        struct find_index module = {0}, now = {0};
        find_index_module(&module, app_watch(app));
        find_index_search(&now, app_watch(app));
        const struct find_index *const all[] = {&now, &module};
        assert_true(!module.failed && !now.failed);
        ask_every_form(&module, all, &asked, &missed);
        ask_every_form(&now, all, &asked, &missed);
        ask_every_width(app_watch(app), all, &asked, &missed);
        ask_labels(app_watch(app), all, 9, shorten, &asked, &missed);
        ask_labels(app_watch(app), all, SERIES_INITIALS, series_initials, &asked, &missed);
        ask_as_drawn(app_watch(app), all, &asked, &missed);
        ask_every_row(app, all, &asked, &missed);
        tables += ask_embeddings(app_watch(app), all);
        find_index_release(&module);
        find_index_release(&now);
        app_free(app);
        if (asks_all())
            printf("%s: %zu names, %zu find another first\n", paths[n], asked, missed);
    }
    printf("%zu models, %zu names, %zu find another first\n", opened, asked, missed);
    assert_int_equal(missed, 0);
    assert_true(asked > 1000 && tables > 0);
    globfree(&found);
}

/* The first of kind `kind` that is found. */
static const char *first_of(const struct find_index *const *x, const char *typed, int kind,
                            char out[static 256])
{
    struct find_result r;
    struct err e;

    assert_int_equal(find_run(x, 2, typed, kind, &r, &e), 0);
    snprintf(out, 256, "%s", r.count ? r.hits[0].entry->name : "");
    free(r.hits);
    return out;
}

static void test_what_is_meant(void **state)
{
    static const struct {
        const char *typed, *name;
        int kind;
    } cases[] = {{"layer 1 self q", "decoder/layer_001/self/q/kernel", FIND_VARIABLE},
                 {"decoder layer_001 q kernel self", "decoder/layer_001/self/q/kernel", FIND_ANY},
                 {"kernel q cross 0", "decoder/layer_000/cross/q/kernel", FIND_VARIABLE},
                 {"dec cross 0 q", "decoder/layer_000/cross/q/kernel", FIND_VARIABLE},
                 {"#embed", "embedding", FIND_ANY},
                 {"decoder/layer_001's cross q", "decoder/layer_001/cross/q/kernel", FIND_ANY},
                 {"layers 1 self q kernel", "decoder/layer_001/self/q/kernel", FIND_VARIABLE},
                 {"decoder cross ×2", "decoder cross 0", FIND_GROUP},
                 {"layers 0–1 ×2", "layers 0–1", FIND_MODULE},
                 {"embed", "embedding", FIND_ANY},
                 {"@embed", "vocab 96", FIND_ANY},
                 {"encoder self", "encoder self", FIND_ANY},
                 {"~encslf", "encoder self", FIND_GROUP}};
    struct app *app = explorer_try(AUTOMAP_SOURCE_DIR "/examples/models/t5-tiny.hlo.txt.gz", NULL,
                                   200, 60, &(struct err){0});
    struct find_index module = {0}, now = {0};
    char out[256];
    struct err e;

    (void)state;
    assert_non_null(app);
    assert_int_equal(app_tell(app, "episode 2", &e), 0);
    find_index_module(&module, app_watch(app));
    find_index_search(&now, app_watch(app));
    const struct find_index *const all[] = {&now, &module};
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++)
        assert_string_equal(first_of(all, cases[n].typed, cases[n].kind, out), cases[n].name);
    struct find_result r; /* "layers 0–1" is not layer 0 */
    assert_int_equal(find_run(all, 2, "cross 0", FIND_MODULE, &r, &e), 0);
    assert_true(r.count > 0);
    for (size_t n = 0; n < r.count; n++)
        assert_non_null(strstr(find_form(r.hits[n].entry, 1), "layer 0"));
    free(r.hits);
    /* state behind all else */
    assert_int_equal(find_run(all, 2, "layer 0 ffn kernel", FIND_ANY, &r, &e), 0);
    bool state_seen = false;
    for (size_t n = 0; n < r.count; n++) {
        state_seen |= r.hits[n].entry->kind == FIND_STATE;
        assert_true(!state_seen || r.hits[n].entry->kind == FIND_STATE);
    }
    assert_true(state_seen);
    assert_string_equal(r.unknown, "");
    free(r.hits);
    /* a word that this model has no name with is left out, and said; all of them: nothing */
    assert_string_equal(first_of(all, "decoder layer 1 glu wi intermediate", FIND_ANY, out),
                        first_of(all, "decoder layer 1 wi", FIND_ANY, (char[256]){0}));
    assert_int_equal(find_run(all, 2, "glu layer 1 intermediate", FIND_ANY, &r, &e), 0);
    assert_true(r.count > 0);
    assert_string_equal(r.unknown, "glu intermediate");
    free(r.hits);
    assert_int_equal(find_run(all, 2, "glu intermediate", FIND_ANY, &r, &e), 0);
    assert_int_equal(r.count, 0);
    find_index_release(&module);
    find_index_release(&now);
    app_free(app);
}

static const char *screen(struct app *app, const char *keys, struct str *out)
{
    explorer_type(app, keys);
    return explorer_text(app, out);
}

/* "//" goes on to the other panels where this one has nothing, "/" does not; the keys go along. */
static void test_search_of_the_screen(void **state)
{
    (void)state;
    struct app *app = explorer_open("t5-tiny", NULL, 120, 40);
    struct str out = {0};
    struct err e;

    assert_int_equal(app_tell(app, "episode 3", &e), 0);
    assert_non_null(strstr(screen(app, "1g/vocab\r", &out), "// searches all panels"));
    assert_non_null(strstr(out.text, "1 Graph ━"));
    assert_null(strstr(screen(app, "//vocab\r", &out), "nothing on the screen"));
    assert_non_null(strstr(out.text, "2 Linkage groups ━"));
    const struct watch *w = app_watch(app);
    assert_true(!strncmp(w->move[w->cursor].name, "vocab", 5));
    assert_non_null(strstr(screen(app, "1//q/kernel\r", &out), "1 Graph ━")); /* here first */
    assert_non_null(strstr(screen(app, "//nothing is so\r", &out), "nothing on the screen"));
    str_release(&out);
    app_free(app);
}

/* / and \ take what the finder takes; Esc takes a filter away, one step at a time. */
static void test_search_and_filter(void **state)
{
    (void)state;
    struct app *app = explorer_try(AUTOMAP_SOURCE_DIR "/examples/models/t5-tiny.hlo.txt.gz", NULL,
                                   200, 60, &(struct err){0});
    struct str out = {0};

    assert_non_null(app);
    app_resize(app, 120, 40);
    assert_null(strstr(screen(app, "1g/encoder/layer_000/self/q/kernel\r", &out), "nothing in"));
    assert_int_equal(app_watch(app)->here != HLO_NONE, true);
    assert_null(strstr(screen(app, "\\encoder/layer_000/self\r", &out), "nothing here"));
    assert_non_null(strstr(out.text, "\\ encoder/layer_000/self"));
    assert_non_null(strstr(out.text, "q/kernel"));
    assert_non_null(strstr(screen(app, "z", &out), "\\ encoder")); /* zoomed and filtered */
    assert_null(strstr(screen(app, "\033", &out), "\\ encoder"));  /* the filter first */
    assert_null(strstr(out.text, "2 Linkage groups ━"));
    assert_non_null(strstr(screen(app, "\033", &out), "2 Linkage groups"));
    assert_non_null(strstr(screen(app, "\\nothing is called so\r", &out), "nothing here holds"));
    screen(app, "\033", &out);
    screen(app, "\020decoder layer 1 cross q\r", &out); /* goes there, folds open */
    assert_non_null(strstr(out.text, "1 Graph ━"));
    assert_string_equal(hlo_name(app_watch(app)->problem->m, app_watch(app)->here),
                        hlo_name(app_watch(app)->problem->m, app_watch(app)->here));
    assert_non_null(strstr(screen(app, "\020decoder self\r", &out), "2 Linkage groups ━"));
    assert_string_equal(app_watch(app)->move[app_watch(app)->cursor].name, "decoder self");
    assert_non_null(strstr(screen(app, "\020memory over\r", &out), "at the peak"));
    str_release(&out);
    app_free(app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_every_name_finds_itself),
        cmocka_unit_test(test_what_is_meant),
        cmocka_unit_test(test_search_and_filter),
        cmocka_unit_test(test_search_of_the_screen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
