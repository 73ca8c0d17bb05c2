/* Names of arguments as JAX, Keras, TensorFlow and PyTorch write them, and what they tell. */
#include "hlo/meaning/roles.h"
#include "hlo/meaning/roles_internal.h"
#include "hlo/support/mem.h"

#include <ctype.h>
#include <string.h>

/* ---- paths ---- */

static void add_part(struct str *out, const char *text, size_t size, uint32_t *parts)
{
    if (!size)
        return;
    if (*parts)
        str_add_char(out, '/');
    for (size_t i = 0; i < size; i++)
        str_add_char(out, text[i]);
    (*parts)++;
}

/* A quoted key may hold anything, escaped quotes too: ['x/y\\z']. `*at` is behind the quote. */
static void add_key(struct str *out, const char *text, size_t *at, char quote, uint32_t *parts)
{
    if (*parts)
        str_add_char(out, '/');
    (*parts)++;
    while (text[*at] && text[*at] != quote) {
        if (text[*at] == '\\') {
            if (text[*at + 1] == quote && (text[*at + 2] == ']' || !text[*at + 2]))
                return; /* metadata escapes the quotes themselves: [\'a\'] */
            if (text[*at + 1] == '\\')
                (*at)++;
        }
        str_add_char(out, text[(*at)++]);
    }
}

uint32_t hlo_path_of_op_name(const char *op_name, struct str *out)
{
    uint32_t parts = 0;

    for (size_t i = 0; op_name[i];) {
        if (op_name[i] == '\\' || op_name[i] == '[' || op_name[i] == ']' || op_name[i] == '.') {
            i++;
        } else if (op_name[i] == '\'' || op_name[i] == '"') {
            char quote = op_name[i++];
            add_key(out, op_name, &i, quote, &parts);
            i += op_name[i] == '\\';
            i += op_name[i] == quote;
        } else {
            size_t size = strcspn(op_name + i, "[].\\'\"");
            add_part(out, op_name + i, size, &parts);
            i += size;
        }
    }
    return parts;
}

/* "['" and "']" became two underscores each, "']['" four. */
uint32_t hlo_path_of_instruction(const char *name, struct str *out)
{
    size_t size = strlen(name), digits = size;
    uint32_t parts = 0;

    while (digits && isdigit((unsigned char)name[digits - 1]))
        digits--;
    if (digits && digits < size && name[digits - 1] == '.')
        size = digits - 1;
    for (size_t i = 0; i < size;) {
        size_t end = i;
        while (end < size && !(name[end] == '_' && end + 1 < size && name[end + 1] == '_'))
            end++;
        size_t stop = end == size && parts && end > i && name[end - 1] == '_' ? end - 1 : end;
        add_part(out, name + i, stop - i, &parts);
        size_t run = end;
        while (run < size && name[run] == '_')
            run++;
        i = run > end + 4 ? end + 4 : run; /* further underscores belong to the key */
    }
    return parts;
}

bool hlo_is_argument_path(const char *op_name)
{
    if (!*op_name || !strcmp(op_name, "XLA_Args") || !strcmp(op_name, "xla__device_data") ||
        !strncmp(op_name, "jit(", 4) || !strncmp(op_name, "pjit", 4) ||
        !strncmp(op_name, "pmap(", 5))
        return false;
    return strchr(op_name, '[') || !strchr(op_name, '/');
}

/* ---- what words mean ---- */

struct word {
    const char *text;
    uint8_t role;
};

/* Anywhere in the path, first match from the left decides. */
static const struct word words_anywhere[] = {
    {"opt", HLO_ROLE_OPTIMIZER_STATE},
    {"opt_state", HLO_ROLE_OPTIMIZER_STATE},
    {"opt_states", HLO_ROLE_OPTIMIZER_STATE},
    {"optimizer", HLO_ROLE_OPTIMIZER_STATE},
    {"optimizer_state", HLO_ROLE_OPTIMIZER_STATE},
    {"optimizer_variables", HLO_ROLE_OPTIMIZER_STATE},
    {"optim_state", HLO_ROLE_OPTIMIZER_STATE},
    {"mu", HLO_ROLE_OPTIMIZER_STATE},
    {"nu", HLO_ROLE_OPTIMIZER_STATE},
    {"momentum", HLO_ROLE_OPTIMIZER_STATE},
    {"velocity", HLO_ROLE_OPTIMIZER_STATE},
    {"trace", HLO_ROLE_OPTIMIZER_STATE},
    {"ema", HLO_ROLE_OPTIMIZER_STATE},
    {"exp_avg", HLO_ROLE_OPTIMIZER_STATE},
    {"exp_avg_sq", HLO_ROLE_OPTIMIZER_STATE},
    {"batch_stats", HLO_ROLE_OTHER_STATE},
    {"running_mean", HLO_ROLE_OTHER_STATE},
    {"running_var", HLO_ROLE_OTHER_STATE},
    {"moving_mean", HLO_ROLE_OTHER_STATE},
    {"moving_variance", HLO_ROLE_OTHER_STATE},
    {"num_batches_tracked", HLO_ROLE_OTHER_STATE},
    {"non_trainable", HLO_ROLE_OTHER_STATE},
    {"non_trainable_variables", HLO_ROLE_OTHER_STATE},
    {"model_state", HLO_ROLE_OTHER_STATE},
    {"buffers", HLO_ROLE_OTHER_STATE},
    {"metrics", HLO_ROLE_OTHER_STATE},
    {"params", HLO_ROLE_VARIABLE},
    {"param", HLO_ROLE_VARIABLE},
    {"parameters", HLO_ROLE_VARIABLE},
    {"trainable", HLO_ROLE_VARIABLE},
    {"trainable_variables", HLO_ROLE_VARIABLE},
};

/* As the first part only. */
static const struct word words_first[] = {
    {"batch", HLO_ROLE_INPUT},      {"data", HLO_ROLE_INPUT},
    {"inputs", HLO_ROLE_INPUT},     {"input", HLO_ROLE_INPUT},
    {"x", HLO_ROLE_INPUT},          {"y", HLO_ROLE_INPUT},
    {"xs", HLO_ROLE_INPUT},         {"ys", HLO_ROLE_INPUT},
    {"images", HLO_ROLE_INPUT},     {"image", HLO_ROLE_INPUT},
    {"labels", HLO_ROLE_INPUT},     {"label", HLO_ROLE_INPUT},
    {"targets", HLO_ROLE_INPUT},    {"target", HLO_ROLE_INPUT},
    {"tokens", HLO_ROLE_INPUT},     {"input_ids", HLO_ROLE_INPUT},
    {"example", HLO_ROLE_INPUT},    {"examples", HLO_ROLE_INPUT},
    {"features", HLO_ROLE_INPUT},   {"attention_mask", HLO_ROLE_INPUT},
    {"weights", HLO_ROLE_VARIABLE}, {"variables", HLO_ROLE_VARIABLE},
};

/* As the first or last part. */
static const struct word words_hyper[] = {
    {"lr", HLO_ROLE_HYPER},
    {"rate", HLO_ROLE_HYPER},
    {"learning_rate", HLO_ROLE_HYPER},
    {"step", HLO_ROLE_HYPER},
    {"steps", HLO_ROLE_HYPER},
    {"count", HLO_ROLE_HYPER},
    {"rng", HLO_ROLE_HYPER},
    {"key", HLO_ROLE_HYPER},
    {"seed", HLO_ROLE_HYPER},
    {"dropout_rng", HLO_ROLE_HYPER},
    {"global_step", HLO_ROLE_HYPER},
    {"epoch", HLO_ROLE_HYPER},
    {"iteration", HLO_ROLE_HYPER},
    {"iterations", HLO_ROLE_HYPER},
    {"weight_decay", HLO_ROLE_HYPER},
};

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

static enum hlo_role look_up(const struct word *table, size_t count, const char *part, size_t size)
{
    const char first = size ? (char)tolower((unsigned char)*part) : '\0';

    for (size_t i = 0; i < count; i++) {
        const char *w = table[i].text;
        size_t k = 0;
        if (*w != first) /* which settles nearly all */
            continue;
        while (k < size && w[k] && tolower((unsigned char)part[k]) == w[k])
            k++;
        if (k == size && !w[k])
            return (enum hlo_role)table[i].role;
    }
    return HLO_ROLE_COUNT;
}

/* A part of an instruction name may be two joined by an underscore, with a list index behind:
 * state_params, state_opt_state_0. */
static enum hlo_role look_up_part(const struct word *table, size_t count, const char *part,
                                  size_t size)
{
    static const char *const heads[] = {"", "state_", "self_", "train_state_", "ts_"};
    enum hlo_role role = HLO_ROLE_COUNT;

    for (size_t h = 0; h < COUNT(heads) && role == HLO_ROLE_COUNT; h++) {
        size_t n = strlen(heads[h]), end = size;
        if (size <= n || strncmp(part, heads[h], n))
            continue;
        role = look_up(table, count, part + n, end - n);
        while (end > n && isdigit((unsigned char)part[end - 1]))
            end--;
        while (end > n && part[end - 1] == '_')
            end--;
        if (role == HLO_ROLE_COUNT && end < size)
            role = look_up(table, count, part + n, end - n);
    }
    return role;
}

/* Keras on JAX passes lists: state[0] trainable, [1] other, [2] optimizer, [3] metrics; data. */
static enum hlo_role role_of_keras(const char *path)
{
    static const uint8_t roles[] = {HLO_ROLE_VARIABLE, HLO_ROLE_OTHER_STATE,
                                    HLO_ROLE_OPTIMIZER_STATE, HLO_ROLE_OTHER_STATE};

    if (strncmp(path, "state/", 6) || path[6] < '0' || path[6] > '3' || path[7] != '/')
        return HLO_ROLE_COUNT;
    return path[8 + strspn(path + 8, "0123456789")] ? HLO_ROLE_COUNT
                                                    : (enum hlo_role)roles[path[6] - '0'];
}

enum hlo_role hlo_role_of_path(const char *path, bool is_scalar)
{
    enum hlo_role role = role_of_keras(path);
    const char *last = strrchr(path, '/');
    size_t first = strcspn(path, "/");
    enum hlo_role root = look_up(words_first, COUNT(words_first), path, first);

    last = last ? last + 1 : path;
    if (root == HLO_ROLE_INPUT && !is_scalar)
        return root;
    if (is_scalar &&
        look_up_part(words_hyper, COUNT(words_hyper), last, strlen(last)) == HLO_ROLE_HYPER)
        return HLO_ROLE_HYPER;
    for (const char *p = path; *p && role == HLO_ROLE_COUNT;) {
        size_t size = strcspn(p, "/");
        role = look_up_part(words_anywhere, COUNT(words_anywhere), p, size);
        p += size;
        p += *p == '/';
    }
    if (role != HLO_ROLE_COUNT)
        return role;
    if (root != HLO_ROLE_COUNT)
        return root == HLO_ROLE_INPUT ? HLO_ROLE_COUNT : root; /* a scalar named x says nothing */
    role = look_up_part(words_hyper, COUNT(words_hyper), path, first);
    if (role == HLO_ROLE_COUNT)
        role = look_up_part(words_hyper, COUNT(words_hyper), last, strlen(last));
    return role;
}

const char *hlo_path_without_root(const char *path)
{
    const char *rest = path;

    for (const char *p = path; *p;) {
        size_t size = strcspn(p, "/");
        if (look_up_part(words_anywhere, COUNT(words_anywhere), p, size) == HLO_ROLE_VARIABLE &&
            p[size] == '/')
            rest = p + size + 1;
        p += size;
        p += *p == '/';
    }
    return *rest ? rest : path;
}
