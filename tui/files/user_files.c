#define _GNU_SOURCE /* memrchr */
#include "tui/files/user_files.h"

#include "hlo/support/file.h"
#include "hlo/support/mem.h"
#include "hlo/support/text.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail_on_path(struct err *e, const char *path, const char *what)
{
    err_set(e, ERR_IO, "%s: %s", what, strerror(errno));
    return err_in_file(e, path);
}

int file_write(const char *path, const char *text, size_t size, bool overwrite, struct err *e)
{
    if (!overwrite && file_is_there(path)) {
        err_set(e, ERR_IO, "is there already; with ! it is overwritten");
        return err_in_file(e, path);
    }
    return hlo_file_write(path, text, size, overwrite ? FILE_REPLACE : 0, e) ? err_in_file(e, path)
                                                                             : 0;
}

int file_read(char **text, size_t *size, const char *path, size_t most, struct err *e)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return fail_on_path(e, path, "cannot open");
    char *bytes = mem_try(most + 2, 1);
    size_t count = bytes ? fread(bytes, 1, most + 1, f) : 0;
    int failed = !bytes || ferror(f);
    fclose(f);
    if (failed || count > most) {
        free(bytes);
        err_set(e, failed ? ERR_IO : ERR_LIMIT, failed ? "cannot read" : "larger than %zu bytes",
                most);
        return err_in_file(e, path);
    }
    bytes[count] = 0;
    *text = bytes;
    *size = count;
    return 0;
}

static bool join_path(char *out, size_t room, const char *a, const char *b)
{
    int size = snprintf(out, room, "%s/%s", a, b);
    return size > 0 && (size_t)size < room;
}

static bool xdg(char *out, size_t room, const char *variable, const char *fallback)
{
    const char *dir = getenv(variable), *home = getenv("HOME");
    char base[PATH_MAX];

    if (dir && dir[0] == '/')
        return join_path(out, room, dir, "automap");
    if (!home || home[0] != '/' || !join_path(base, sizeof base, home, fallback))
        return false;
    return join_path(out, room, base, "automap");
}

bool file_config_dir(char *out, size_t room)
{
    return xdg(out, room, "XDG_CONFIG_HOME", ".config");
}

static bool make_all(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(path, 0700);
        *slash = '/';
    }
    return !mkdir(path, 0700) || errno == EEXIST;
}

bool file_state_dir(char *out, size_t room, bool make)
{
    return xdg(out, room, "XDG_STATE_HOME", ".local/state") && (!make || make_all(out));
}

bool file_is_there(const char *path)
{
    struct stat s;
    return !stat(path, &s);
}

bool file_before_dump(char *out, size_t room, const char *dump)
{
    static const char *const ends[] = {"before_optimizations.txt", "before_optimizations.txt.gz"};
    const char *name = hlo_file_name(dump);

    for (const char *dot = strrchr(name, '.'); dot;
         dot = memrchr(name, '.', (size_t)(dot - name))) {
        for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
            int size = snprintf(out, room, "%.*s%s", (int)(dot + 1 - dump), dump, ends[k]);
            if (size > 0 && (size_t)size < room && strcmp(out, dump) && file_is_there(out))
                return true;
        }
    }
    return false;
}

static bool has_examples(const char *dir)
{
    char path[PATH_MAX];
    return join_path(path, sizeof path, dir, "examples/models") && file_is_there(path);
}

/* From the folder of the executable, each tried in turn: where it is installed, and the source tree
 * of a build in build/PRESET/ and of its tests. */
static const char *const beside_executable[] = {"../share/automap", "../..", "../../.."};

/* The folder the executable is in. */
static bool own_dir(char *out, size_t room)
{
    ssize_t size = readlink("/proc/self/exe", out, room - 1);

    out[size > 0 ? size : 0] = 0;
    char *slash = strrchr(out, '/');
    if (slash)
        *slash = 0;
    return slash;
}

static bool take_data_dir(const char *dir, char *out, size_t room)
{
    if (!dir || !dir[0] || !has_examples(dir))
        return false;
    int length = snprintf(out, room, "%s", dir);
    return length > 0 && (size_t)length < room;
}

bool file_data_dir(char *out, size_t room)
{
    char self[PATH_MAX], path[PATH_MAX], real[PATH_MAX];

    if (take_data_dir(getenv("AUTOMAP_DATA_DIR"), out, room))
        return true;
    size_t count = own_dir(self, sizeof self) ? sizeof beside_executable / sizeof(char *) : 0;
    for (size_t n = 0; n < count; n++) {
        if (join_path(path, sizeof path, self, beside_executable[n]) && realpath(path, real) &&
            take_data_dir(real, out, room))
            return true;
    }
    return take_data_dir(AUTOMAP_DATADIR, out, room);
}

/* Endings that only say what is in a file, the last first. */
static const char *const endings[] = {
    ".gz",    ".txt", ".json", ".pb",         ".yaml",
    ".jsonl", ".hlo", ".meta", ".before_opt", ".before_optimizations",
    NULL};

char *file_stem(char *out, size_t room, const char *path)
{
    const char *base = hlo_file_name(path);
    size_t size = strlen(base);

    if (strcmp(path, "-") == 0)
        base = "standard input", size = strlen(base);
    for (size_t i = 0; endings[i]; i++) { /* each once: "a.meta.hlo.txt.gz" */
        size_t end = strlen(endings[i]);
        if (size > end && !memcmp(base + size - end, endings[i], end))
            size -= end;
    }
    text_clean(out, room, base, size);
    return out;
}
