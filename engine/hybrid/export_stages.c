#include "engine/hybrid/export_stages.h"

#include "engine/cluster/collectives.h"
#include "engine/cluster/mesh.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/hybrid/hybrid_export.h"
#include "engine/hybrid/stage_modules.h"
#include "engine/hybrid/written_out.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/simulation.h"
#include "engine/problem/problem.h"
#include "engine/text/units.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/text/write_text.h"

#include <cjson/cJSON.h>
#include <string.h>

#define STAGES_SCHEMA "automap.stages/1"

struct writer {
    const struct hybrid *h;
    const struct hlo_module *m;
    struct stage_modules modules;
    struct str name;
};

/* ---- values ---- */

static const char *name_of(struct writer *w, hlo_value v)
{
    str_clear(&w->name);
    stage_modules_name(w->m, v, &w->name);
    return w->name.failed || !w->name.text ? "" : w->name.text;
}

static cJSON *axes_of(const struct cluster_mesh *mesh, label over)
{
    cJSON *list = cJSON_CreateArray();

    for (uint32_t x = 0; x < mesh->axes; x++)
        if (over >> x & 1)
            cJSON_AddItemToArray(list, cJSON_CreateString(x ? "y" : "x"));
    return list;
}

static void add_value(struct writer *w, const struct stage_module *x, const struct stage_value *v,
                      bool is_output, cJSON *to)
{
    static const char *const whole[] = {
        [STAGE_EACH] = "each", [STAGE_SUM] = "sum", [STAGE_JOIN] = "join"};
    const struct hlo_shape *s = hlo_value_shape(w->m, v->value);
    enum stage_place place = is_output ? STAGE_HANDED_ON : STAGE_READ;
    cJSON *o = cJSON_CreateObject(), *dims, *spec;

    cJSON_AddStringToObject(o, "value", name_of(w, v->value));
    if (v->argument != HLO_NONE)
        cJSON_AddNumberToObject(o, "argument", v->argument);
    cJSON_AddStringToObject(o, "type", hlo_type_info[s->type].name);
    dims = cJSON_AddArrayToObject(o, "dims");
    spec = cJSON_AddArrayToObject(o, "spec");
    for (uint32_t d = 0; d < s->rank; d++) {
        int64_t size = s->dims[d];
        if (v->is_part && d == v->dim)
            size /= w->h->micro_batches;
        cJSON_AddItemToArray(dims, cJSON_CreateNumber((double)size));
        label over = stage_modules_split(&w->modules, x->stage, v->value, d, place);
        cJSON_AddItemToArray(spec, axes_of(&w->modules.mesh[x->stage], over));
    }
    if (v->is_part)
        cJSON_AddNumberToObject(o, "batch_dim", v->dim);
    if (is_output) {
        cJSON_AddStringToObject(o, "whole", whole[v->whole]);
        cJSON_AddBoolToObject(o, "is_read_by_batch", v->is_read_by_batch);
    }
    cJSON_AddItemToArray(to, o);
}

/* ---- modules, stages, results ---- */

static cJSON *module_json(struct writer *w, const struct stage_module *x)
{
    cJSON *o = cJSON_CreateObject(), *list;

    cJSON_AddStringToObject(o, "pass", stage_pass_names[x->pass]);
    cJSON_AddNumberToObject(o, "stage", x->stage);
    list = cJSON_AddArrayToObject(o, "inputs");
    for (uint32_t n = 0; n < x->inputs; n++)
        add_value(w, x, &x->input[n], false, list);
    list = cJSON_AddArrayToObject(o, "outputs");
    for (uint32_t n = 0; n < x->outputs; n++)
        add_value(w, x, &x->output[n], true, list);
    list = cJSON_AddArrayToObject(o, "collectives");
    for (uint32_t n = 0; n < x->collectives; n++) {
        const struct stage_collective *c = &x->collective[n];
        cJSON *item = cJSON_CreateObject();
        cJSON_AddStringToObject(item, "value", name_of(w, c->value));
        cJSON_AddStringToObject(item, "kind", collective_name((enum collective_kind)c->kind));
        cJSON_AddItemToObject(item, "axes", axes_of(&w->modules.mesh[x->stage], c->over));
        cJSON_AddNumberToObject(item, "count", c->count);
        cJSON_AddNumberToObject(item, "bytes", c->bytes);
        cJSON_AddItemToArray(list, item);
    }
    cJSON_AddStringToObject(o, "hlo", x->text.text);
    return o;
}

static void add_stages(const struct hybrid *h, cJSON *to)
{
    cJSON *list = cJSON_AddArrayToObject(to, "stages");

    for (uint32_t n = 0; n < h->stages; n++) {
        const struct hybrid_stage *s = &h->stage[n];
        const int devices[] = {(int)s->device, (int)s->end_device},
                  sizes[] = {(int)s->size[0], (int)s->size[1]};
        cJSON *o = cJSON_CreateObject();
        cJSON_AddItemToObject(o, "devices", cJSON_CreateIntArray(devices, 2));
        cJSON_AddItemToObject(o, "axes", cJSON_CreateIntArray(sizes, (int)s->axes));
        cJSON_AddBoolToObject(o, "recompute", s->point.recompute);
        cJSON_AddItemToArray(list, o);
    }
}

static void add_order(const struct pipe_schedule *s, cJSON *to)
{
    cJSON *list = cJSON_AddArrayToObject(to, "order");

    for (uint32_t k = 0; k < s->count; k++) {
        const struct pipe_task *t = &s->task[k];
        if (t->node % 2 || t->kind == PIPE_REDUCE)
            continue;
        cJSON *item = cJSON_CreateArray();
        cJSON_AddItemToArray(
            item, cJSON_CreateString(
                      stage_pass_names[t->kind == PIPE_FORWARD ? STAGE_FORWARD : STAGE_BACKWARD]));
        cJSON_AddItemToArray(item, cJSON_CreateNumber(t->node / 2));
        cJSON_AddItemToArray(item, cJSON_CreateNumber(t->micro_batch));
        cJSON_AddItemToArray(list, item);
    }
}

static void add_arguments(const struct writer *w, cJSON *to)
{
    const struct hlo_roles *r = &w->h->problem->roles;
    cJSON *list = cJSON_AddArrayToObject(to, "arguments");

    for (uint32_t n = 0; n < r->param_count; n++)
        cJSON_AddItemToArray(list, cJSON_CreateString(r->params[n].name ? r->params[n].name : ""));
}

static void add_results(struct writer *w, cJSON *to)
{
    cJSON *list = cJSON_AddArrayToObject(to, "results");

    for (uint32_t n = 0; n < w->modules.results; n++) {
        const struct stage_result *r = &w->modules.result[n];
        cJSON_AddItemToArray(list, r->argument == HLO_NONE
                                       ? cJSON_CreateString(name_of(w, r->value))
                                       : cJSON_CreateNumber(r->argument));
    }
}

static cJSON *stages_json(struct writer *w, const struct pipe_schedule *s)
{
    const struct hybrid *h = w->h;
    cJSON *o = cJSON_CreateObject(), *list;

    cJSON_AddStringToObject(o, "schema", STAGES_SCHEMA);
    cJSON_AddStringToObject(o, "model", h->problem->file->name);
    cJSON_AddNumberToObject(o, "devices", h->problem->cluster.devices);
    cJSON_AddNumberToObject(o, "batch", h->options.batch);
    cJSON_AddNumberToObject(o, "micro_batches", h->micro_batches);
    cJSON_AddStringToObject(o, "schedule",
                            h->chunks > 1 ? "interleaved" : pipe_schedule_names[h->schedule]);
    add_stages(h, o);
    add_arguments(w, o);
    list = cJSON_AddArrayToObject(o, "modules");
    for (uint32_t n = 0; n < w->modules.count; n++)
        cJSON_AddItemToArray(list, module_json(w, &w->modules.module[n]));
    add_order(s, o);
    add_results(w, o);
    return o;
}

static int write_stages(const struct hybrid *h, struct str *out, struct err *e)
{
    struct written_out written;
    struct writer w = {0};
    struct pipe_schedule s;
    cJSON *o = NULL;
    char *text = NULL;
    int rc = hybrid_schedule(h, false, &s, e);

    if (rc)
        return rc;
    rc = written_out_new(h, &written, e);
    if (rc)
        goto out_schedule;
    w.h = written.plan;
    w.m = w.h->problem->m;
    rc = stage_modules_new(w.h, &w.modules, e);
    if (rc)
        goto out;
    o = stages_json(&w, &s);
    text = cJSON_PrintUnformatted(o);
    str_add(out, text ? text : "");
    if (!text || out->failed || w.name.failed)
        rc = err_no_memory(e, "for the modules of stages");
    stage_modules_release(&w.modules);
out:
    written_out_release(&written);
    str_release(&w.name);
    cJSON_free(text);
    cJSON_Delete(o);
out_schedule:
    pipe_schedule_free(&s);
    return rc;
}

int export_stages(const struct hybrid *h, struct str *out, struct err *e)
{
    int rc = write_stages(h, out, e);

    str_add_char(out, '\n');
    return rc;
}

/* ---- a program for JAX ---- */

static const char head[] =
    "\"\"\"A training step in stages, each on devices of its own, split over them by XLA.\n"
    "\n"
    "    step = Step()                  # jax.devices() in order; Step(devices) for others\n"
    "    results = step(*arguments)     # in the order of ARGUMENTS; as the whole step gives them\n"
    "\n"
    "Written for JAX 0.10. A stage's passes are modules of HLO, compiled here for its mesh. "
    "Values\n"
    "go from mesh to mesh by jax.device_put. Results stay on the devices of their stage: put in\n"
    "again as arguments they are not moved.\"\"\"\n"
    "import json\n"
    "\n"
    "import jax\n"
    "import numpy as np\n"
    "from jax.sharding import Mesh, NamedSharding, PartitionSpec\n"
    "from jaxlib import _jax\n"
    "\n"
    "hlo = getattr(__import__(\"jaxlib\", fromlist=[\"_hlo\"]), \"_hlo\", _jax)\n"
    "PLAN = json.loads(r\"\"\"";

static const char body[] =
    "\"\"\")\n"
    "ARGUMENTS = PLAN[\"arguments\"]\n"
    "\n"
    "\n"
    "def compile_hlo(text, devices):\n"
    "    \"\"\"An executable that XLA's partitioner has split over these devices.\"\"\"\n"
    "    proto = hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()\n"
    "    options = _jax.CompileOptions()\n"
    "    build = options.executable_build_options\n"
    "    options.num_partitions = build.num_partitions = len(devices)\n"
    "    build.use_spmd_partitioning, build.use_shardy_partitioner = True, False\n"
    "    build.device_assignment = _jax.DeviceAssignment.create(np.array([[d.id for d in "
    "devices]]))\n"
    "    return devices[0].client.compile_and_load(_jax.mlir.hlo_to_stablehlo(proto),\n"
    "                                              _jax.DeviceList(tuple(devices)), options)\n"
    "\n"
    "\n"
    "class Pass:\n"
    "    \"\"\"One pass of one stage.\"\"\"\n"
    "\n"
    "    def __init__(self, module, mesh):\n"
    "        self.name, self.stage, self.mesh = module[\"pass\"], module[\"stage\"], mesh\n"
    "        self.inputs, self.outputs = module[\"inputs\"], module[\"outputs\"]\n"
    "        self.in_shardings = [self.sharding(v) for v in self.inputs]\n"
    "        self.out_shardings = [self.sharding(v) for v in self.outputs]\n"
    "        self.run = compile_hlo(module[\"hlo\"], list(mesh.devices.flat))\n"
    "        self.is_of_batch = self.name in (\"forward\", \"backward\")\n"
    "\n"
    "    def sharding(self, value):\n"
    "        return NamedSharding(self.mesh, PartitionSpec(*(tuple(axes) or None for axes in "
    "value[\"spec\"])))\n"
    "\n"
    "    def __call__(self, arrays):\n"
    "        arrays = [jax.device_put(x, s) for x, s in zip(arrays, self.in_shardings)]\n"
    "        parts = self.run.execute_sharded(arrays).disassemble_into_single_device_arrays()\n"
    "        return [jax.make_array_from_single_device_arrays(tuple(v[\"dims\"]), s, list(p))\n"
    "                for v, s, p in zip(self.outputs, self.out_shardings, parts)]\n"
    "\n"
    "\n"
    "class Step:\n"
    "    def __init__(self, devices=None):\n"
    "        devices = list(devices or jax.devices())\n"
    "        self.meshes = [Mesh(np.array(devices[slice(*s[\"devices\"])]).reshape(s[\"axes\"]), "
    "tuple(\"xy\")[:len(s[\"axes\"])])\n"
    "                       for s in PLAN[\"stages\"]]\n"
    "        self.passes = [Pass(m, self.meshes[m[\"stage\"]]) for m in PLAN[\"modules\"]]\n"
    "        self.of_batch = {(p.name, p.stage): p for p in self.passes if p.is_of_batch}\n"
    "        self.readers = {}  # passes of a micro-batch that read a value\n"
    "        for p in self.of_batch.values():\n"
    "            for v in p.inputs:\n"
    "                self.readers[v[\"value\"]] = self.readers.get(v[\"value\"], 0) + 1\n"
    "\n"
    "    def __call__(self, *arguments):\n"
    "        self.arguments, self.values = arguments, {}\n"
    "        self.left = {}  # reads that are still to come, of values of a micro-batch\n"
    "        self.joined = {}  # parts to be put together\n"
    "        for p in self.passes:\n"
    "            if p.name == \"prepare\":\n"
    "                self.run(p)\n"
    "        for name, stage, micro_batch in PLAN[\"order\"]:\n"
    "            if (name, stage) in self.of_batch:\n"
    "                self.run(self.of_batch[name, stage], micro_batch)\n"
    "        for (value, dim), parts in self.joined.items():\n"
    "            self.values[value] = jax.numpy.concatenate([parts[k] for k in sorted(parts)], "
    "dim)\n"
    "        for p in self.passes:\n"
    "            if not p.is_of_batch and p.name != \"prepare\":\n"
    "                self.run(p)\n"
    "        return [self.values[r] if isinstance(r, str) else arguments[r] for r in "
    "PLAN[\"results\"]]\n"
    "\n"
    "    def run(self, p, micro_batch=None):\n"
    "        results = p([self.read(v, micro_batch) for v in p.inputs])\n"
    "        for v, x in zip(p.outputs, results):\n"
    "            if micro_batch is None:\n"
    "                self.values[v[\"value\"]] = x\n"
    "                continue\n"
    "            if v[\"is_read_by_batch\"]:\n"
    "                self.values[v[\"value\"], micro_batch] = x\n"
    "                self.left[v[\"value\"], micro_batch] = self.readers[v[\"value\"]]\n"
    "            if v[\"whole\"] == \"sum\":\n"
    "                self.values[v[\"value\"]] = self.values[v[\"value\"]] + x if v[\"value\"] in "
    "self.values else x\n"
    "            elif v[\"whole\"] == \"join\":\n"
    "                self.joined.setdefault((v[\"value\"], v[\"batch_dim\"]), {})[micro_batch] = "
    "x\n"
    "\n"
    "    def read(self, v, micro_batch):\n"
    "        key = v[\"value\"], micro_batch\n"
    "        if \"argument\" not in v and key in self.values:  # of this micro-batch alone\n"
    "            self.left[key] -= 1\n"
    "            return self.values[key] if self.left[key] else self.values.pop(key)\n"
    "        x = self.arguments[v[\"argument\"]] if \"argument\" in v else "
    "self.values[v[\"value\"]]\n"
    "        if \"batch_dim\" not in v:\n"
    "            return x\n"
    "        size = v[\"dims\"][v[\"batch_dim\"]]\n"
    "        at = [slice(None)] * len(v[\"dims\"])\n"
    "        at[v[\"batch_dim\"]] = slice(size * micro_batch, size * (micro_batch + 1))\n"
    "        return x[tuple(at)]\n";

int export_stages_jax(const struct hybrid *h, struct str *out, struct err *e)
{
    char a[UNITS_ROOM], b[UNITS_ROOM];

    if (hybrid_is_by_value(h))
        str_format(
            out, "# Stages keep everything or run again, a step of %s; chosen value by value %s.\n",
            units_ms(a, hybrid_step_ms(h)), units_ms(b, h->by_value_ms));
    str_add(out, head);
    int rc = write_stages(h, out, e);

    str_add(out, body);
    return rc ? rc : out->failed ? err_no_memory(e, "for the modules of stages") : 0;
}
