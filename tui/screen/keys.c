#include "tui/screen/keys.h"

#include "hlo/support/mem.h"
#include "tui/screen/utf8.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    uint32_t key;
} names[] = {
    {"Up", KEYC_UP},        {"Down", KEYC_DOWN},           {"Left", KEYC_LEFT},
    {"Right", KEYC_RIGHT},  {"Home", KEYC_HOME},           {"End", KEYC_END},
    {"PgUp", KEYC_PAGE_UP}, {"PgDn", KEYC_PAGE_DOWN},      {"Ins", KEYC_INSERT},
    {"Del", KEYC_DELETE},   {"Backspace", KEYC_BACKSPACE}, {"Enter", KEYC_ENTER},
    {"Tab", KEYC_TAB},      {"S-Tab", KEYC_BACK_TAB},      {"Esc", KEYC_ESC},
    {"Space", ' '},
};

uint32_t key_parse(const char *name)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!strcmp(names[i].name, name))
            return names[i].key;
    }
    if (!strncmp(name, "C-", 2) && name[2] >= 'a' && name[2] <= 'z' && !name[3])
        return (uint32_t)(name[2] - 'a' + 1);
    int number = 0, end = 0;
    if (sscanf(name, "F%2d%n", &number, &end) == 1 && !name[end] && number >= 1 && number <= 12)
        return KEYC_F1 + (uint32_t)number - 1;
    const char *s = name;
    uint32_t c = utf8_next(&s);
    return c > ' ' && c != 0x7f && c != 0xfffd && !*s ? c : 0;
}

char *key_text(char out[static KEY_NAME_ROOM], uint32_t key)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i].key == key) {
            snprintf(out, KEY_NAME_ROOM, "%s", names[i].name);
            return out;
        }
    }
    if (key >= KEYC_F1 && key <= KEYC_LAST_NAMED)
        snprintf(out, KEY_NAME_ROOM, "F%u", (unsigned)(key - KEYC_F1 + 1));
    else if (key < ' ')
        snprintf(out, KEY_NAME_ROOM, "C-%c", (char)(key + 'a' - 1));
    else
        utf8_put(out, key);
    return out;
}

bool key_sequence_parse(struct key_sequence *s, const char *text)
{
    int count = 0;

    *s = (struct key_sequence){0};
    while (*text) {
        char word[KEY_NAME_ROOM];
        size_t size = strcspn(text, " ");
        if (size >= sizeof word || count == KEYS_IN_A_ROW)
            return false;
        memcpy(word, text, size);
        word[size] = 0;
        if (size && !(s->keys[count++] = key_parse(word)))
            return false;
        text += size + (text[size] == ' ');
    }
    return count > 0;
}

char *key_sequence_name(char out[static KEYS_TEXT_ROOM], const struct key_sequence *s)
{
    size_t size = 0;
    out[0] = 0;
    for (int i = 0; i < KEYS_IN_A_ROW && s->keys[i]; i++) {
        char name[KEY_NAME_ROOM];
        size += (size_t)snprintf(out + size, KEYS_TEXT_ROOM - size, "%s%s", i ? " " : "",
                                 key_text(name, s->keys[i]));
    }
    return out;
}

struct binding {
    struct key_sequence sequences[KEYS_PER_ACTION];
    char text[KEYS_PER_ACTION][KEYS_TEXT_ROOM];
    int count;
    bool changed;
};

struct keymap {
    const struct key_table *const *tables;
    int count;
    struct binding **bindings; /* [table][action] */
};

static void bind_sequence(struct binding *b, const struct key_sequence *s)
{
    if (b->count == KEYS_PER_ACTION)
        return;
    b->sequences[b->count] = *s;
    key_sequence_name(b->text[b->count], s);
    b->count++;
}

/* Default keys are constants of ours: what does not parse is a bug. */
static void bind_defaults(struct binding *b, const char *text)
{
    while (text && *text) {
        char part[KEYS_TEXT_ROOM];
        struct key_sequence s;
        const char *end = strstr(text, " or ");
        size_t size = end ? (size_t)(end - text) : strlen(text);
        BUG_ON(size >= sizeof part);
        memcpy(part, text, size);
        part[size] = 0;
        BUG_ON(!key_sequence_parse(&s, part));
        bind_sequence(b, &s);
        text = end ? end + 4 : NULL;
    }
}

struct keymap *keymap_new(const struct key_table *const *tables, int count, enum key_mode mode)
{
    struct keymap *m = mem_alloc(sizeof *m);
    m->tables = tables;
    m->count = count;
    m->bindings = mem_alloc((size_t)count * sizeof *m->bindings);
    for (int t = 0; t < count; t++) {
        m->bindings[t] = mem_alloc((size_t)tables[t]->count * sizeof **m->bindings);
        for (int a = 0; a < tables[t]->count; a++) {
            const struct action *action = &tables[t]->actions[a];
            bind_defaults(&m->bindings[t][a],
                          mode == KEYS_PLAIN && action->plain ? action->plain : action->vi);
        }
    }
    return m;
}

void keymap_free(struct keymap *m)
{
    if (!m)
        return;
    for (int t = 0; t < m->count; t++)
        free(m->bindings[t]);
    free(m->bindings);
    free(m);
}

static int table_index(const struct keymap *m, const struct key_table *t)
{
    for (int i = 0; t && i < m->count; i++) {
        if (m->tables[i] == t)
            return i;
    }
    return -1;
}

/* Keys of `s` that agree with what was typed: all typed, and whether s ends there. */
static enum key_match agrees(const struct key_sequence *s, const uint32_t *keys, int count)
{
    for (int i = 0; i < count; i++) {
        if (i == KEYS_IN_A_ROW || s->keys[i] != keys[i])
            return KEY_NONE;
    }
    return count == KEYS_IN_A_ROW || !s->keys[count] ? KEY_ACTION : KEY_MORE;
}

static enum key_match find_in(const struct keymap *m, int table, const uint32_t *keys, int count,
                              int *action)
{
    enum key_match best = KEY_NONE;
    for (int a = 0; a < m->tables[table]->count; a++) {
        const struct binding *b = &m->bindings[table][a];
        for (int i = 0; i < b->count; i++) {
            enum key_match match = agrees(&b->sequences[i], keys, count);
            if (match == KEY_ACTION) {
                *action = a;
                return KEY_ACTION;
            }
            if (match == KEY_MORE)
                best = KEY_MORE;
        }
    }
    return best;
}

enum key_match keymap_find(const struct keymap *m, const struct key_table *own,
                           const uint32_t *keys, int count, const struct key_table **table,
                           int *action)
{
    int order[2] = {table_index(m, own), 0};
    for (int i = 0; i < 2; i++) {
        if (order[i] < 0 || (i == 1 && order[0] == 0))
            continue;
        enum key_match match = find_in(m, order[i], keys, count, action);
        if (match != KEY_NONE) {
            *table = m->tables[order[i]];
            return match;
        }
    }
    return KEY_NONE;
}

const struct action *keymap_follows(const struct keymap *m, const struct key_table *own,
                                    const uint32_t *keys, int count, int *at,
                                    char key[static KEY_NAME_ROOM])
{
    int order[2] = {table_index(m, own), 0}, row = 0;

    for (int t = order[0] > 0 ? 0 : 1; t < 2 && count < KEYS_IN_A_ROW; t++) {
        for (int a = 0; a < m->tables[order[t]]->count; a++, row++) {
            const struct binding *b = &m->bindings[order[t]][a];
            for (int i = 0; row >= *at && i < b->count; i++) {
                if (agrees(&b->sequences[i], keys, count) != KEY_MORE)
                    continue;
                key_text(key, b->sequences[i].keys[count]);
                *at = row + 1;
                return &m->tables[order[t]]->actions[a];
            }
        }
    }
    return NULL;
}

const char *keymap_keys(const struct keymap *m, const struct key_table *t, int action, int i)
{
    int table = table_index(m, t);
    if (table < 0 || action < 0 || action >= t->count || i >= m->bindings[table][action].count)
        return NULL;
    return m->bindings[table][action].text[i];
}

int keymap_changed(const struct keymap *m)
{
    int changed = 0;
    for (int t = 0; t < m->count; t++) {
        for (int a = 0; a < m->tables[t]->count; a++)
            changed += m->bindings[t][a].changed;
    }
    return changed;
}

/* "pause" for the common table, "graph.fold" for others. */
static void full_name(char *out, size_t room, const struct key_table *t, int action)
{
    snprintf(out, room, "%s%s%s", t->name, *t->name ? "." : "", t->actions[action].name);
}

static bool clash(const struct key_sequence *a, const struct key_sequence *b)
{
    for (int i = 0; i < KEYS_IN_A_ROW && a->keys[i] && b->keys[i]; i++) {
        if (a->keys[i] != b->keys[i])
            return false;
    }
    return true;
}

static const char *clash_between(const struct binding *a, const struct binding *b)
{
    for (int i = 0; i < a->count; i++) {
        for (int j = 0; j < b->count; j++) {
            if (clash(&a->sequences[i], &b->sequences[j]))
                return a->text[i];
        }
    }
    return NULL;
}

/* Two actions of one table that cannot both be reached: 0, or an error that names them. */
static int check_reach(const struct keymap *m, struct err *e)
{
    for (int t = 0; t < m->count; t++) {
        for (int a = 0; a < m->tables[t]->count; a++) {
            for (int b = a + 1; b < m->tables[t]->count; b++) {
                char first[64], second[64];
                const char *key = clash_between(&m->bindings[t][a], &m->bindings[t][b]);
                if (!key)
                    continue;
                full_name(first, sizeof first, m->tables[t], a);
                full_name(second, sizeof second, m->tables[t], b);
                return err_set(e, ERR_INPUT, "\"%s\" means both %s and %s", key, first, second);
            }
        }
    }
    return 0;
}

static struct binding *by_name(const struct keymap *m, const char *name)
{
    for (int t = 0; t < m->count; t++) {
        for (int a = 0; a < m->tables[t]->count; a++) {
            char full[64];
            full_name(full, sizeof full, m->tables[t], a);
            if (!strcmp(full, name))
                return &m->bindings[t][a];
        }
    }
    return NULL;
}

static int bind_node(struct binding *b, const struct yaml_doc *d, const struct yaml *node,
                     struct err *e)
{
    const char *text = node->text;
    struct key_sequence s;

    if (!text || !key_sequence_parse(&s, text))
        return yaml_wrong(d, node->mark, e,
                          "no key \"%.40s\"; x, C-x, Space, Enter, F1 or \"V g\" expected",
                          text ? text : "?");
    if (b->count == KEYS_PER_ACTION)
        return yaml_wrong(d, node->mark, e, "at most %d keys for one action", KEYS_PER_ACTION);
    bind_sequence(b, &s);
    return 0;
}

static int configure_one(struct keymap *m, const struct yaml_doc *d, const struct yaml *value,
                         struct err *e)
{
    const char *name = value->key;
    struct binding *b = by_name(m, name);

    if (!b)
        return yaml_wrong(d, value->key_mark, e,
                          "no action \"%.60s\"; ? in the explorer lists them", name);
    b->count = 0;
    b->changed = true;
    if (value->kind != YAML_LIST)
        return bind_node(b, d, value, e);
    for (const struct yaml *item = value->first; item; item = item->next) {
        if (bind_node(b, d, item, e))
            return e->code;
    }
    return 0;
}

int keymap_configure(struct keymap *m, const struct yaml_doc *d, const struct yaml *node,
                     struct err *e)
{
    if (node->kind != YAML_MAP)
        return yaml_wrong(d, node->mark, e, "keys is a map: {pause: Space, graph.fold: [h, Left]}");
    for (const struct yaml *value = node->first; value; value = value->next) {
        if (configure_one(m, d, value, e))
            return e->code;
    }
    struct err clashing = {0};
    return check_reach(m, &clashing) ? yaml_wrong(d, node->mark, e, "%s", clashing.what) : 0;
}
