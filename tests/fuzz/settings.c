/* Any bytes as a theme ('t' first) or as settings with keys: an error with its place, or taken. */
#include "tui/files/config.h"
#include "tui/files/theme_file.h"
#include "tui/views/actions.h"
#include "tui/views/panel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_settings(const char *path)
{
    static const struct key_table *tables[2];
    struct config c;
    struct err e = {0};

    if (config_load(&c, path, &e))
        return;
    tables[0] = &common_keys;
    struct keymap *m = keymap_new(tables, 1, c.mode);
    const struct yaml *keys = c.doc.root ? yaml_get(c.doc.root, "keys") : NULL;
    if (keys && keymap_configure(m, &c.doc, keys, &e) && !e.what[0])
        abort();
    keymap_free(m);
    config_release(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[] = "/tmp/automap-settings-XXXXXX.yaml";
    struct theme theme;
    struct err e = {0};
    int fd = mkstemps(path, 5);

    if (fd < 0 || (size && write(fd, data + 1, size - 1) < 0))
        abort();
    close(fd);
    if (size && data[0] == 't') {
        if (theme_load(&theme, path, &e) && !e.what[0])
            abort();
    } else {
        read_settings(path);
    }
    unlink(path);
    return 0;
}
