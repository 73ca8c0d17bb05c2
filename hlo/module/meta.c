#include "hlo/module/meta.h"

bool hlo_meta_is_known(const struct hlo_meta *meta)
{
    return *meta->op_type || *meta->op_name || *meta->source_file;
}

void hlo_meta_write(const struct hlo_meta *meta, struct str *out)
{
    const char *const texts[][2] = {{"op_type=", meta->op_type},
                                    {"op_name=", meta->op_name},
                                    {"source_file=", meta->source_file}};
    const char *between = "{";

    for (size_t n = 0; n < sizeof texts / sizeof *texts; n++) {
        if (!*texts[n][1])
            continue;
        str_add(out, between);
        str_add(out, texts[n][0]);
        str_add_quoted(out, texts[n][1]);
        between = " ";
    }
    if (meta->source_line)
        str_format(out, "%ssource_line=%u", between, meta->source_line);
    str_add_char(out, '}');
}
