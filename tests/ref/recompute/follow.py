#!/usr/bin/env python3
"""Does what `automap plan --recompute auto` says for JAX, and looks whether it comes true.

The step of model.py is lowered and loaded. For each limit the names that automap proposes are written
into the source at the lines it gives, the policies it prints are passed to jax.checkpoint around the
scanned body (two scans where it says two kinds), and the step is compiled and run again. Held against
each other: the parameters after the step, the temporaries of XLA's compiled step, and what automap
finds kept when it reads the rewritten module.

follow.py AUTOMAP WORK_DIR      one row for each limit; exit 1 where something did not come true
"""
import ast, json, os, re, subprocess, sys
os.environ.setdefault('JAX_PLATFORMS', 'cpu')
import jax, numpy as np
from jax.ad_checkpoint import checkpoint_name

HERE = os.path.dirname(os.path.abspath(__file__))
CLUSTER = '''name: one
devices:
  cpu: {memory: 64 GB, peak: {f32: 19 TFLOP/s}, bandwidth: 1000 GB/s, launch: 1 us}
servers:
  - {devices: 1}
'''
LIMITS = 0.84, 0.45  # of what keeping everything takes


def load(source, **more):
    module = dict(checkpoint_name=checkpoint_name, **more)
    exec(compile(source, os.path.join(HERE, 'model.py'), 'exec'), module)
    return module


def lower(module, path):
    args = inputs(module)
    lowered = jax.jit(module['step'], donate_argnums=(0, 1)).lower(*args)
    with open(path, 'wb') as f:
        f.write(lowered.compiler_ir('hlo').as_serialized_hlo_module_proto())
    compiled = lowered.compile()
    temp = compiled.memory_analysis().temp_size_in_bytes
    return temp, compiled(*args)[0]


def inputs(module):
    rng = np.random.default_rng(0)
    params = module['params'](rng)
    tokens = rng.integers(0, module['V'], (module['B'], module['T'])).astype('int32')
    return params, jax.tree.map(lambda a: a * 0, params), tokens


def ask(automap, model, cluster, limit, *more):
    command = [automap, 'plan', model, cluster, '--recompute', 'auto', *more]
    if limit:
        command += ['--memory-limit', f'{limit:.0f}B']
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def figures(text):
    size = lambda s: float(s[0]) * {'B': 1, 'kB': 1e3, 'MB': 1e6, 'GB': 1e9}[s[1]]
    memory = re.search(r'^  memory +(\S+) (\S+) +(\S+) (\S+) of it kept', text, re.M).groups()
    now = re.search(r'^  the module now +(\S+) (\S+) +(\S+) (\S+) kept', text, re.M).groups()
    return dict(memory=size(memory[:2]), kept=size(memory[2:]), now=size(now[:2]),
                now_kept=size(now[2:]))


def rewrite(source, text):
    """The source with the names in it, and the policies as they were printed."""
    code = text[text.index('# for JAX'):]
    lines = source.split('\n')
    body = next(n for n in ast.parse(source).body if getattr(n, 'name', '') == 'body')
    after = {}
    for name, where in re.findall(r"^#   x = checkpoint_name\(x, '(\w+)'\)  (.*)$", code, re.M):
        if where.startswith('first in the body'):
            after[body.lineno] = ('x', name)
        else:
            line = int(re.search(r'model\.py:(\d+)', where).group(1))
            after[line] = (lines[line - 1].split('=')[0].strip(), name)
    for line in sorted(after, reverse=True):
        lines.insert(line, f"    {after[line][0]} = checkpoint_name({after[line][0]}, '{after[line][1]}')")
    policies = {}
    printed = re.sub(r'\n    names', ' names', re.sub(r',\n    ', ', ', code))
    for line in re.findall(r'^policy\w* = .*$', printed, re.M):
        exec(line, {'jax': jax}, policies)
    split = re.search(r'scan over layers 0\.\.(\d+)', code)
    source = '\n'.join(lines)
    if not split:
        return source.replace('scan(body,', 'scan(jax.checkpoint(body, policy=policy, '
                              'prevent_cse=False),'), policies
    first = int(split.group(1)) + 1
    assert set(policies) == {'policy_first', 'policy_rest'}, policies
    kinds = f'''
def run(x, layers):
    for part, policy in ((slice({first}), policy_first), (slice({first}, None), policy_rest)):
        x, _ = jax.lax.scan(jax.checkpoint(body, policy=policy, prevent_cse=False), x,
                            jax.tree.map(lambda a: a[part], layers))
    return x
'''
    return re.sub(r'\ndef run\(.*?\n(?=\n\n)', kinds, source, flags=re.S), policies


def main(automap, work):
    source = open(os.path.join(HERE, 'model.py')).read()
    cluster, base = os.path.join(work, 'one.yaml'), os.path.join(work, 'base.pb')
    with open(cluster, 'w') as f:
        f.write(CLUSTER)
    module = load(source)
    written, expected = lower(module, base)
    all_kept = figures(ask(automap, base, cluster, 0))['memory']
    print(f'as written: XLA {written / 1e6:.0f} MB')
    print('limit MB  kept said  kept read back  memory said  read back  XLA  numbers')
    failed = 0
    for limit in LIMITS:
        text = ask(automap, base, cluster, limit * all_kept)
        said = figures(text)
        new, policies = rewrite(source, text)
        path = os.path.join(work, f'at{limit}.pb')
        temp, got = lower(load(new, **policies), path)
        back = figures(ask(automap, path, cluster, 0))
        error = max(float(np.abs(a - b).max() / (np.abs(a).max() + 1e-9))
                    for a, b in zip(jax.tree.leaves(expected), jax.tree.leaves(got)))
        state = sum(a.nbytes for a in jax.tree.leaves(inputs(module)[:2]))
        predicted = said['memory'] - state
        row = dict(kinds=text.count('policy_first = '), kept=back['now_kept'] / said['kept'],
                   memory=back['now'] / said['memory'], xla=temp / predicted, error=error)
        good = (abs(row['kept'] - 1) < 0.03 and abs(row['memory'] - 1) < 0.1 and
                abs(row['xla'] - 1) < 0.25 and error < 1e-5)
        failed += not good
        print(f"{limit * all_kept / 1e6:8.0f} {said['kept'] / 1e6:10.0f} {back['now_kept'] / 1e6:15.0f}"
              f" {said['memory'] / 1e6:12.0f} {back['now'] / 1e6:10.0f} {temp / 1e6:4.0f}  {error:.1e}"
              f"  {'two kinds' if row['kinds'] else 'one kind'}{'' if good else '   NOT AS SAID'}",
              flush=True)
    return failed


sys.exit(1 if main(*sys.argv[1:3]) else 0)
