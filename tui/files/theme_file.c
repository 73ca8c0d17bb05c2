#include "tui/files/theme_file.h"

#include "engine/text/yaml.h"
#include "hlo/support/mem.h"
#include "tui/files/user_files.h"
#include "tui/screen/grid.h"

#include <stdio.h>
#include <string.h>

struct builtin {
    const char *name;
    const unsigned char *text;
    size_t size;
};
extern const struct builtin theme_files[]; /* generated from themes/, ends with name NULL */

/* The names of a terminal's 16 colours and what xterm shows for them. */
static const struct {
    const char *name;
    uint8_t r, g, b;
} named[16] = {
    {"black", 0, 0, 0},
    {"red", 205, 0, 0},
    {"green", 0, 205, 0},
    {"yellow", 205, 205, 0},
    {"blue", 0, 0, 238},
    {"magenta", 205, 0, 205},
    {"cyan", 0, 205, 205},
    {"white", 229, 229, 229},
    {"bright-black", 127, 127, 127},
    {"bright-red", 255, 0, 0},
    {"bright-green", 0, 255, 0},
    {"bright-yellow", 255, 255, 0},
    {"bright-blue", 92, 92, 255},
    {"bright-magenta", 255, 0, 255},
    {"bright-cyan", 0, 255, 255},
    {"bright-white", 255, 255, 255},
};

const char *theme_builtin(size_t index)
{
    size_t count = 0;
    while (theme_files[count].name)
        count++;
    return index < count ? theme_files[index].name : NULL;
}

struct reader {
    const struct yaml_doc *doc;
    const struct yaml *colours; /* the map of names, or NULL */
    struct theme *theme;
    struct err *e;
};

static bool read_hex(const char *text, struct colour *c)
{
    unsigned r, g, b;
    int end = 0;
    if (sscanf(text, "#%2x%2x%2x%n", &r, &g, &b, &end) != 3 || end != 7 || text[7])
        return false;
    *c = (struct colour){COLOUR_RGB, 0, (uint8_t)r, (uint8_t)g, (uint8_t)b};
    return true;
}

static bool read_plain_colour(const char *text, struct colour *c)
{
    if (!strcmp(text, "default")) {
        *c = (struct colour){COLOUR_DEFAULT, 0, 0, 0, 0};
        return true;
    }
    for (uint8_t i = 0; i < 16; i++) {
        if (!strcmp(text, named[i].name)) {
            *c = (struct colour){COLOUR_NAMED, i, named[i].r, named[i].g, named[i].b};
            return true;
        }
    }
    return read_hex(text, c);
}

static int read_colour(const struct reader *r, const struct yaml *node, struct colour *c)
{
    const char *text = node->text;
    if (!text)
        return yaml_wrong(r->doc, node->mark, r->e,
                          "a colour expected: \"#rrggbb\", a name, or default");
    const struct yaml *alias = yaml_get(r->colours, text);
    const char *meant = alias ? alias->text : text;
    if (!meant || !read_plain_colour(meant, c))
        return yaml_wrong(
            r->doc, node->mark, r->e,
            "no colour \"%s\": \"#rrggbb\", one of the 16 names, a name from colours, or "
            "default expected",
            text);
    return 0;
}

static int read_attr(const struct reader *r, const struct yaml *node, unsigned *attr)
{
    static const struct {
        const char *name;
        unsigned bits;
    } words[] = {
        {"none", 0}, {"bold", BOLD}, {"reverse", REVERSE}, {"bold reverse", BOLD | REVERSE}};
    const char *text = node->text;

    for (size_t i = 0; text && i < sizeof words / sizeof *words; i++) {
        if (!strcmp(text, words[i].name)) {
            *attr = words[i].bits;
            return 0;
        }
    }
    return yaml_wrong(r->doc, node->mark, r->e, "attr is none, bold, reverse or \"bold reverse\"");
}

static int read_look(const struct reader *r, const struct yaml *node, struct look *look)
{
    if (node->kind != YAML_MAP)
        return yaml_wrong(r->doc, node->mark, r->e,
                          "a role is a map: {fg: colour, bg: colour, attr: bold}");
    *look = (struct look){0};
    for (const struct yaml *value = node->first; value; value = value->next) {
        const char *name = value->key;
        int rc;
        if (!strcmp(name, "fg"))
            rc = read_colour(r, value, &look->fg);
        else if (!strcmp(name, "bg"))
            rc = read_colour(r, value, &look->bg);
        else if (!strcmp(name, "attr"))
            rc = read_attr(r, value, &look->attr);
        else
            rc = yaml_wrong(r->doc, value->key_mark, r->e,
                            "unknown key \"%s\"; a role has fg, bg and attr", name);
        if (rc)
            return rc;
    }
    return 0;
}

static int role_by_name(const char *name)
{
    for (int i = 0; name && i < ROLE_COUNT; i++) {
        if (!strcmp(role_name((enum role)i), name))
            return i;
    }
    return -1;
}

static int read_roles(const struct reader *r, const struct yaml *node)
{
    bool seen[ROLE_COUNT] = {false};
    for (const struct yaml *value = node->first; value; value = value->next) {
        const char *name = value->key;
        int role = role_by_name(name);
        if (role < 0)
            return yaml_wrong(r->doc, value->key_mark, r->e, "no role \"%s\"", name);
        if (read_look(r, value, &r->theme->roles[role]))
            return r->e->code;
        seen[role] = true;
    }
    for (int role = 0; role < ROLE_COUNT; role++) {
        if (!seen[role])
            return yaml_wrong(r->doc, node->mark, r->e, "role \"%s\" is missing",
                              role_name((enum role)role));
    }
    return 0;
}

static int read_words(const struct reader *r, const struct yaml *node, char *out, size_t room)
{
    const char *text = node->text;
    if (!text || strlen(text) >= room)
        return yaml_wrong(r->doc, node->mark, r->e, "at most %zu characters expected", room - 1);
    memcpy(out, text, strlen(text) + 1);
    return 0;
}

static int read_top(const struct reader *r, const char *name, const struct yaml *value)
{
    if (!strcmp(name, "name"))
        return read_words(r, value, r->theme->name, sizeof r->theme->name);
    if (!strcmp(name, "summary"))
        return read_words(r, value, r->theme->summary, sizeof r->theme->summary);
    if (!strcmp(name, "background"))
        return read_colour(r, value, &r->theme->background);
    if (!strcmp(name, "paint")) {
        const char *text = value->text;
        if (!text || (strcmp(text, "true") && strcmp(text, "false")))
            return yaml_wrong(r->doc, value->mark, r->e, "paint is true or false");
        r->theme->paint = !strcmp(text, "true");
        return 0;
    }
    return strcmp(name, "roles") ? 0 : read_roles(r, value);
}

static int read_theme(const struct reader *r)
{
    static const char *const known[] = {"name",  "summary", "background",
                                        "paint", "colours", "roles"};
    const struct yaml *root = r->doc->root, *roles = yaml_get(root, "roles");

    if (!root || root->kind != YAML_MAP)
        return yaml_wrong(r->doc, 0, r->e, "a theme is a map: name, background, roles");
    for (const struct yaml *value = root->first; value; value = value->next) {
        const char *name = value->key;
        size_t k = 0;
        while (k < 6 && strcmp(known[k], name))
            k++;
        if (k == 6)
            return yaml_wrong(r->doc, value->key_mark, r->e,
                              "unknown key \"%s\"; a theme has name, summary, "
                              "background, paint, colours and roles",
                              name);
        if (read_top(r, name, value))
            return r->e->code;
    }
    if (!roles || roles->kind != YAML_MAP)
        return yaml_wrong(r->doc, root->mark, r->e, "a theme needs a map of roles");
    if (r->theme->background.kind == COLOUR_DEFAULT)
        return yaml_wrong(r->doc, root->mark, r->e, "a theme needs a background colour");
    return 0;
}

int theme_parse(struct theme *t, const char *text, size_t size, struct err *e)
{
    struct yaml_doc doc;
    struct theme fresh = {0};

    if (yaml_read(&doc, text, size, e))
        return e->code;
    struct reader r = {&doc, yaml_get(doc.root, "colours"), &fresh, e};
    int rc = read_theme(&r);
    yaml_release(&doc);
    if (rc)
        return rc;
    *t = fresh;
    return rc;
}

static int load_file(struct theme *t, const char *path, struct err *e)
{
    char *text = NULL;
    size_t size = 0;

    if (file_read(&text, &size, path, SETTINGS_MOST, e))
        return e->code;
    int rc = theme_parse(t, text, size, e);
    if (rc)
        err_in_file(e, path);
    free(text);
    return rc;
}

int theme_load(struct theme *t, const char *name, struct err *e)
{
    size_t length = strlen(name);

    for (const struct builtin *b = theme_files; b->name; b++) {
        if (!strcmp(b->name, name))
            return theme_parse(t, (const char *)b->text, b->size, e);
    }
    if (strchr(name, '/') || (length > 5 && !strcmp(name + length - 5, ".yaml")))
        return load_file(t, name, e);

    struct str names = {.limit = 256};
    for (const struct builtin *b = theme_files; b->name; b++)
        str_format(&names, "%s%s", b == theme_files ? "" : ", ", b->name);
    err_set(e, ERR_INPUT, "no theme \"%.40s\"; there are %s, or a path", name,
            names.text ? names.text : "none");
    str_release(&names);
    return e->code;
}
