"""train.py as it is, planned and run on 8 simulated devices:

    python examples/from_jax/planned.py [AUTOMAP]

1. The step is saved as JAX prints it. 2. automap plans it and writes the plan as Python. 3. That applies the plan to the same
step: same code, same numbers, other devices. On real ones leave out XLA_FLAGS, and describe them in a cluster file."""
import importlib.util
import os
import subprocess
import sys
import tempfile

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import jax  # noqa: E402
import train  # noqa: E402

AUTOMAP = sys.argv[1] if len(sys.argv) > 1 else "automap"
CLUSTER = os.path.join(HERE, "cluster.yaml")
args = (train.parameters, train.optimizer.init(train.parameters), train.batch(0))

with tempfile.TemporaryDirectory() as folder:
    model, plan, code = (os.path.join(folder, name) for name in ("step.mlir", "plan.json", "automap_plan.py"))
    with open(model, "w") as file:
        file.write(train.train_step.lower(*args).as_text(debug_info=True))
    subprocess.run([AUTOMAP, "plan", model, CLUSTER, "--mesh", "2x4", "--optimum", "--divisibility", "exact", "-o", plan],
                   check=True, stdout=subprocess.DEVNULL)
    subprocess.run([AUTOMAP, "export", model, CLUSTER, "--plan", plan, "--format", "jax", "--force", "-o", code], check=True)
    spec = importlib.util.spec_from_file_location("automap_plan", code)
    automap_plan = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(automap_plan)

step = automap_plan.apply(train.train_step, *args, check=True)  # compares one step with the whole one
params, opt_state, _ = step.place(*args)
split = train.train(step, params, opt_state)
whole = train.train(train.train_step, *args[:2])
for n, (a, b) in enumerate(zip(whole, split)):
    print(f"step {n}: loss {a:.5f} on one device, {b:.5f} on 8")
local = sum(x.addressable_shards[0].data.nbytes for x in jax.tree.leaves(params))
print(f"parameters: {local} of {sum(x.nbytes for x in jax.tree.leaves(params))} bytes on a device")
assert all(abs(a - b) < 1e-3 * a for a, b in zip(whole, split)), "the planned steps differ"
assert split[-1] < split[0], "nothing was learned"
