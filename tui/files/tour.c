#include "tui/files/tour.h"

#include "engine/text/yaml.h"
#include "hlo/support/mem.h"
#include "hlo/support/text.h"
#include "tui/files/user_files.h"
#include "tui/screen/keys.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

struct kept {
    char *text;
    struct yaml_doc doc;
};

static int wrong_tour(const struct yaml_doc *d, const struct yaml *n, struct err *e,
                      const char *what)
{
    return yaml_wrong(d, n->mark, e, "%s", what);
}

/* Text as it is shown: one line, no controls. */
static int take_text(const struct yaml_doc *d, const struct yaml *n, size_t most, const char **out,
                     struct err *e)
{
    if (n->kind != YAML_SCALAR || !n->text[0])
        return wrong_tour(d, n, e, "some text expected");
    if (strlen(n->text) > most)
        return yaml_wrong(d, n->mark, e, "%zu bytes, at most %zu expected", strlen(n->text), most);
    if (!text_is_clean(n->text, strlen(n->text)))
        return wrong_tour(d, n, e, "text without control characters expected");
    *out = n->text;
    return 0;
}

static int take_list(const struct yaml_doc *d, const struct yaml *n, const char **items, int *count,
                     struct err *e)
{
    if (n->kind != YAML_LIST || n->count > TOUR_ITEMS_MOST)
        return yaml_wrong(d, n->mark, e, "a list of at most %d expected", TOUR_ITEMS_MOST);
    for (const struct yaml *i = n->first; i; i = i->next) {
        if (take_text(d, i, TOUR_SAY_MOST, &items[(*count)++], e))
            return e->code;
    }
    return 0;
}

static int take_step(const struct yaml_doc *d, const struct yaml *n, struct tour_step *s,
                     struct err *e)
{
    if (n->kind != YAML_MAP)
        return wrong_tour(d, n, e, "a step is a map of say, do and see");
    for (const struct yaml *k = n->first; k; k = k->next) {
        int rc = !strcmp(k->key, "say")  ? take_text(d, k, TOUR_SAY_MOST, &s->say, e)
                 : !strcmp(k->key, "do") ? take_list(d, k, s->items, &s->item_count, e)
                 : !strcmp(k->key, "see")
                     ? take_list(d, k, s->see, &s->see_count, e)
                     : yaml_wrong(d, k->key_mark, e, "no key \"%.40s\"; say, do, see", k->key);
        if (rc)
            return rc;
        for (int i = 0; !strcmp(k->key, "do") && i < s->item_count; i++) {
            const char *item = s->items[i];
            if (item[0] != ':' && !(item[0] == '/' && item[1]) && !key_parse(item))
                return yaml_wrong(
                    d, k->mark, e,
                    "\"%.40s\" is neither a key, a command line after ':', nor a text after /",
                    item);
        }
    }
    if (!s->say || !s->see_count)
        return wrong_tour(d, n, e, "a step needs say, and see with what is on the screen then");
    return 0;
}

static int take_steps(const struct yaml_doc *d, const struct yaml *n, struct tour *t, struct err *e)
{
    if (n->kind != YAML_LIST || n->count < 1 || n->count > TOUR_STEPS_MOST)
        return yaml_wrong(d, n->mark, e, "a list of 1 to %d steps expected", TOUR_STEPS_MOST);
    for (const struct yaml *s = n->first; s; s = s->next) {
        if (take_step(d, s, &t->steps[t->step_count++], e))
            return e->code;
    }
    return 0;
}

static int take_key(const struct yaml_doc *d, const struct yaml *k, struct tour *t, struct err *e)
{
    const char *word;
    int64_t seed = 0;

    if (!strcmp(k->key, "steps"))
        return take_steps(d, k, t, e);
    if (take_text(d, k, TOUR_SAY_MOST, &word, e))
        return e->code;
    if (!strcmp(k->key, "title"))
        t->title = word;
    else if (!strcmp(k->key, "about"))
        t->about = word;
    else if (!strcmp(k->key, "model"))
        t->model = word;
    else if (!strcmp(k->key, "cluster"))
        t->cluster = word;
    else if (!strcmp(k->key, "seed") && sscanf(word, "%" SCNd64, &seed) == 1 && seed >= 0)
        t->seed = (uint64_t)seed;
    else if (!strcmp(k->key, "rules") && (!strcmp(word, "paper") || !strcmp(word, "full")))
        t->paper_rules = word[0] == 'p';
    else
        return yaml_wrong(d, k->key_mark, e, "\"%.40s: %.40s\" is not part of a tour", k->key,
                          word);
    return 0;
}

static int take_tour(const struct yaml_doc *d, struct tour *t, struct err *e)
{
    if (d->root->kind != YAML_MAP)
        return wrong_tour(d, d->root, e, "a tour is a map of title, about, model and steps");
    for (const struct yaml *k = d->root->first; k; k = k->next) {
        if (take_key(d, k, t, e))
            return e->code;
    }
    if (!t->title || !t->about || !t->model || !t->step_count)
        return wrong_tour(d, d->root, e, "a tour needs title, about, model and steps");
    return 0;
}

int tour_load(struct tour **out, const char *data_dir, const char *name, struct err *e)
{
    char path[PATH_MAX];
    size_t size;

    if (!data_dir || !name[0] || strchr(name, '/') || strlen(name) > 32)
        return err_set(e, ERR_INPUT, "no tour %.40s; automap tour lists them", name);
    snprintf(path, sizeof path, "%s/examples/tours/%s.yaml", data_dir, name);
    if (!file_is_there(path))
        return err_set(e, ERR_INPUT, "no tour %.40s; automap tour lists them", name);
    struct tour *t = mem_alloc(sizeof *t);
    struct kept *k = mem_alloc(sizeof *k);
    t->kept = k;
    if (file_read(&k->text, &size, path, SETTINGS_MOST, e)) {
        free(k);
        free(t);
        return e->code;
    }
    if (yaml_read(&k->doc, k->text, size, e)) {
        free(k->text);
        free(k);
        free(t);
        return err_in_file(e, path);
    }
    if (take_tour(&k->doc, t, e)) {
        tour_free(t);
        return err_in_file(e, path);
    }
    *out = t;
    return 0;
}

void tour_free(struct tour *t)
{
    if (!t)
        return;
    struct kept *k = t->kept;
    yaml_release(&k->doc);
    free(k->text);
    free(k);
    free(t);
}

static int by_name(const void *x, const void *y)
{
    return strcmp(((const struct tour_name *)x)->name, ((const struct tour_name *)y)->name);
}

int tour_names(struct tour_name out[static TOURS_MOST], const char *data_dir)
{
    char path[PATH_MAX];
    int count = 0;

    snprintf(path, sizeof path, "%s/examples/tours", data_dir ? data_dir : "");
    DIR *d = data_dir ? opendir(path) : NULL;
    for (const struct dirent *f; d && count < TOURS_MOST && (f = readdir(d));) {
        size_t size = strlen(f->d_name);
        if (size <= 5 || size - 5 >= sizeof out->name || strcmp(f->d_name + size - 5, ".yaml") != 0)
            continue;
        snprintf(out[count++].name, sizeof out->name, "%.*s", (int)(size - 5), f->d_name);
    }
    if (d)
        closedir(d);
    qsort(out, (size_t)count, sizeof *out, by_name);
    return count;
}
