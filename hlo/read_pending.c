/* The readers and writers of JSON and proto until their files replace these. */
#include "hlo/read.h"

static int refuse(char *input, struct err *e)
{
    free(input);
    return err_set(e, ERR_INPUT, "only HLO text is read so far");
}

int hlo_read_json(char *input, size_t size, const struct hlo_load_options *o,
                  struct hlo_module **out, struct err *e)
{
    (void)size, (void)o, (void)out;
    return refuse(input, e);
}

int hlo_read_proto(char *input, size_t size, const struct hlo_load_options *o,
                   struct hlo_module **out, struct err *e)
{
    (void)size, (void)o, (void)out;
    return refuse(input, e);
}

int hlo_read_proto_text(char *input, size_t size, const struct hlo_load_options *o,
                        struct hlo_module **out, struct err *e)
{
    (void)size, (void)o, (void)out;
    return refuse(input, e);
}

int hlo_write_json(const struct hlo_module *m, struct str *out, struct err *e)
{
    (void)m, (void)out;
    return err_set(e, ERR_INPUT, "only HLO text is written so far");
}

int hlo_write_proto(const struct hlo_module *m, struct str *out, struct err *e)
{
    (void)m, (void)out;
    return err_set(e, ERR_INPUT, "only HLO text is written so far");
}
