#include "tui/watch/export_form.h"

#include "engine/cluster/cluster.h"
#include "engine/plan/export_dot.h"
#include "engine/plan/export_hlo.h"
#include "engine/plan/export_html.h"
#include "engine/plan/export_jax.h"
#include "engine/plan/export_jax_step.h"
#include "engine/plan/export_stablehlo.h"
#include "engine/plan/export_trainers.h"
#include "engine/plan/plan.h"
#include "engine/plan/plan_file.h"
#include "engine/plan/plan_json.h"
#include "engine/plan/plan_settings.h"
#include "engine/plan/sharding.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

static int write_json(const struct plan *p, const struct report_about *about, struct str *text,
                      struct str *warnings, struct err *e)
{
    struct plan again;
    int rc = plan_write_json(p, text, e);

    (void)about;
    (void)warnings;
    if (rc)
        return rc;
    rc = plan_file_parse(p->problem, text->text, text->size, &again, e);
    if (rc)
        return rc;
    plan_release(&again);
    return rc;
}

static int write_hlo(const struct plan *p, enum sharding_form form, struct str *text,
                     struct str *warnings, struct err *e)
{
    int rc = export_hlo(p, form, text, warnings, e);

    return rc ? rc : export_hlo_check(p, text->text, text->size, e);
}

static int write_hlo_v2(const struct plan *p, const struct report_about *about, struct str *text,
                        struct str *warnings, struct err *e)
{
    (void)about;
    return write_hlo(p, SHARDING_V2, text, warnings, e);
}

static int write_hlo_v1(const struct plan *p, const struct report_about *about, struct str *text,
                        struct str *warnings, struct err *e)
{
    (void)about;
    return write_hlo(p, SHARDING_V1, text, warnings, e);
}

/* A relaxed plan is not in PartitionSpecs of arguments and results: of it the loader alone. A
 * strict plan has both; where StableHLO cannot express the step, PartitionSpecs alone. */
static int write_jax(const struct plan *p, const struct report_about *about, struct str *text,
                     struct str *warnings, struct err *e)
{
    (void)about;
    if (p->relaxed)
        return export_jax_step(p, text, warnings, e);
    int rc = export_jax(p, text, warnings, e);
    rc = rc ? rc : export_jax_check(p, text->text, text->size, e);
    if (rc)
        return rc;
    rc = export_jax_step(p, text, warnings, e);
    if (rc != ERR_INPUT)
        return rc;
    str_format(warnings, "the file splits arguments and results alone, not the step inside: %s\n",
               e->what);
    return 0;
}

static int write_stablehlo(const struct plan *p, const struct report_about *about, struct str *text,
                           struct str *warnings, struct err *e)
{
    int rc = export_stablehlo(p, text, warnings, e);

    (void)about;
    return rc ? rc : export_stablehlo_check(p, text->text, text->size, e);
}

static int write_dot(const struct plan *p, const struct report_about *about, struct str *text,
                     struct str *warnings, struct err *e)
{
    int rc = export_dot(p, text, e);

    (void)about;
    (void)warnings;
    return rc ? rc : export_dot_check(p, text->text, text->size, e);
}

static int write_report(const struct plan *p, const struct report_about *about, struct str *text,
                        struct str *warnings, struct err *e)
{
    int rc = export_report(p, about, text, e);

    (void)warnings;
    return rc ? rc : export_report_check(p, text->text, text->size, e);
}

static int write_html(const struct plan *p, const struct report_about *about, struct str *text,
                      struct str *warnings, struct err *e)
{
    (void)warnings;
    return export_html(p, about, text, e);
}

static int write_command(const struct plan *p, const struct report_about *about, struct str *text,
                         struct str *warnings, struct err *e)
{
    (void)warnings;
    str_add(text, about->command);
    int rc = plan_settings_write(p, " --set ", text, e);
    str_add_char(text, '\n');
    return rc ? rc : plan_settings_check(p, text->text, e);
}

static int write_flags(const struct plan *p, const struct report_about *about, struct str *text,
                       struct str *warnings, struct err *e)
{
    int rc = export_flags(p, text, e);

    (void)about;
    (void)warnings;
    return rc ? rc : plan_settings_check(p, text->text, e);
}

static int write_dtensor(const struct plan *p, const struct report_about *about, struct str *text,
                         struct str *warnings, struct err *e)
{
    int rc = export_dtensor(p, text, e);

    (void)about;
    (void)warnings;
    return rc ? rc : plan_settings_check(p, text->text, e);
}

static int write_cluster(const struct plan *p, const struct report_about *about, struct str *text,
                         struct str *warnings, struct err *e)
{
    const struct cluster *c = &p->problem->cluster;
    struct cluster *again = mem_alloc(sizeof *again);

    (void)about;
    (void)warnings;
    cluster_write(c, text);
    int rc = cluster_read(again, text->text, text->size, e);
    if (rc)
        goto out;
    if (cluster_fingerprint(again) != cluster_fingerprint(c))
        rc = err_set(e, ERR_INPUT, "the cluster does not read back as it is");
out:
    free(again);
    return rc;
}

const struct export_form export_forms[] = {
    {"json", "the plan, for automap and for scripts", ".plan.json", write_json, NULL},
    {"hlo", "the module with a sharding at every instruction", ".sharded.hlo.txt", write_hlo_v2,
     NULL},
    {"hlo-v1", "the same, devices listed one by one", ".sharded-v1.hlo.txt", write_hlo_v1, NULL},
    {"jax", "Python that applies it to unchanged code", ".plan.py", write_jax, NULL},
    {"report", "what it costs and why, as Markdown with plots", ".plan.md", write_report, NULL},
    {"html", "the same as one page for a browser", ".plan.html", write_html, NULL},
    {"dot", "the graph with its shapes, for Graphviz", ".plan.dot", write_dot, NULL},
    {"command", "the command line that makes it again", ".plan.sh", write_command,
     "settings do not say where it reshards; json does"},
    {"cluster", "the cluster as it is now, edits and all", ".cluster.yaml", write_cluster, NULL},
    {"flags", "settings of Megatron-LM, torchtitan, ..", ".plan.flags", write_flags,
     "settings do not say where it reshards; json does"},
    {"dtensor", "placements of torch.distributed.tensor", ".dtensor.json", write_dtensor,
     "settings do not say where it reshards; json does"},
    {"stablehlo", "the module with Shardy's annotations", ".sharded.mlir", write_stablehlo, NULL},
    {0},
};

const struct export_form *export_form_by_name(const char *name)
{
    for (const struct export_form *f = export_forms; f->name; f++) {
        if (!strcmp(f->name, name))
            return f;
    }
    return NULL;
}

int export_form_write(const struct export_form *f, const struct plan *p,
                      const struct report_about *about, struct str *text, struct str *warnings,
                      struct err *e)
{
    if (p->relaxed && f->not_relaxed)
        return err_set(e, ERR_INPUT, "a relaxed plan has no form %s: %s", f->name, f->not_relaxed);
    int rc = f->write(p, about, text, warnings, e);

    return !rc && text->failed ? err_set(e, ERR_MEMORY, "not enough memory for the export") : rc;
}
