#!/usr/bin/env python3
"""Does what `automap plan --recompute auto` says for JAX, and looks whether it comes true.

The step of model.py is lowered and loaded. For each limit the names that automap proposes are written
into the source at the lines it gives, the policies it prints are passed to jax.checkpoint around the
scanned body (a scan for each kind of layer), and the step is compiled and run again. Held against
each other: the parameters after the step; the residuals that JAX saves of the body under each policy,
name by name and on the host, against the rows of automap's report; the temporaries of XLA's compiled
step; and what automap finds kept when it reads the rewritten module.

follow.py AUTOMAP WORK_DIR      one row for each limit; exit 1 where something did not come true
"""
import ast, json, os, re, subprocess, sys
os.environ.setdefault('JAX_PLATFORMS', 'cpu')
import jax, numpy as np
from jax._src.ad_checkpoint import saved_residuals
from jax.ad_checkpoint import checkpoint_name

HERE = os.path.dirname(os.path.abspath(__file__))
CLUSTER = '''name: one
devices:
  cpu: {memory: 64 GB, peak: {f32: 19 TFLOP/s}, bandwidth: 1000 GB/s, launch: 1 us}
servers:
  - {devices: 1%s}
'''
HOST = ', host: {link: 25 GB/s}'
LIMITS = (0.84, ''), (0.45, ''), (0.62, HOST)  # of what keeping everything takes; a way to the host


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
    source = '\n'.join(lines)
    ends = [int(e) + 1 for e in re.findall(r'(?:scan|then) over layers \d+\.\.(\d+)', code)]
    names = list(policies)
    assert len(names) == len(ends) + 1, (names, ends)
    if not ends:
        return source.replace('scan(body,', 'scan(jax.checkpoint(body, policy=policy, '
                              'prevent_cse=False),'), policies, [(0, None)]
    parts = list(zip([0] + ends, ends + [None]))
    scans = ''.join(f'(slice({a}, {b}), {n}), ' for (a, b), n in zip(parts, names))
    kinds = f'''
def run(x, layers):
    for part, policy in ({scans}):
        x, _ = jax.lax.scan(jax.checkpoint(body, policy=policy, prevent_cse=False), x,
                            jax.tree.map(lambda a: a[part], layers))
    return x
'''
    return re.sub(r'\ndef run\(.*?\n(?=\n\n)', kinds, source, flags=re.S), policies, parts


def residuals(module, policies, parts):
    """Bytes that JAX saves of the layers, by name; 'layer_input' the body's, 'host' what is there,
    'other' what has no name."""
    p = inputs(module)[0]
    x, layer = p['embed'][inputs(module)[2]], jax.tree.map(lambda a: a[0], p['layers'])
    sums = {}
    for policy, (first, end) in zip(policies.values(), parts):
        layers = len(range(*slice(first, end).indices(module['L'])))
        body = jax.checkpoint(module['body'], policy=policy, prevent_cse=False)
        for aval, said in saved_residuals(lambda x, w: body(x, w)[0], x, layer):
            name = re.match(r"named '(\w+)'", said)
            kind = ('host' if '<host>' in str(aval) else name.group(1) if name else
                    'layer_input' if said == 'from the argument x' else
                    None if said.startswith('from the argument w') else 'other')
            if kind:
                sums[kind] = sums.get(kind, 0) + layers * aval.size * aval.dtype.itemsize
    return sums


def compare_residuals(saved, report):
    """Names whose bytes are not as the report has them."""
    said = {}
    for row in report['values']:
        said[row['name']] = row['kept_bytes']
    said['host'] = report.get('host_bytes', 0)
    return [f"{n}: JAX saves {saved.get(n, 0)}, said {said.get(n, 0)}"
            for n in sorted(set(saved) | {n for n in said if f"'{n}'" in report['names'] or
                                          n in ('host', 'layer_input')})
            if saved.get(n, 0) != said.get(n, 0)]


def main(automap, work):
    source = open(os.path.join(HERE, 'model.py')).read()
    base = os.path.join(work, 'base.pb')
    clusters = {}
    for host in ('', HOST):
        clusters[host] = os.path.join(work, 'host.yaml' if host else 'one.yaml')
        with open(clusters[host], 'w') as f:
            f.write(CLUSTER % host)
    module = load(source)
    written, expected = lower(module, base)
    all_kept = figures(ask(automap, base, clusters[''], 0))['memory']
    print(f'as written: XLA {written / 1e6:.0f} MB')
    print('limit MB  kept said  kept read back  host  memory said  read back  XLA  numbers  residuals')
    failed = 0
    for limit, host in LIMITS:
        text = ask(automap, base, clusters[host], limit * all_kept)
        report = json.loads(ask(automap, base, clusters[host], limit * all_kept, '--json'))
        said = figures(text)
        new, policies, parts = rewrite(source, text)
        report['names'] = text[text.index('# for JAX'):]
        path = os.path.join(work, f'at{limit}.pb')
        rewritten = load(new, **policies)
        wrong = compare_residuals(residuals(rewritten, policies, parts), report)
        temp, got = lower(rewritten, path)
        back = figures(ask(automap, path, clusters[''], 0))
        error = max(float(np.abs(a - b).max() / (np.abs(a).max() + 1e-9))
                    for a, b in zip(jax.tree.leaves(expected), jax.tree.leaves(got)))
        state = sum(a.nbytes for a in jax.tree.leaves(inputs(module)[:2]))
        away = report.get('host_bytes', 0)  # the host of a CPU device is the same memory
        predicted = said['memory'] - state + away
        row = dict(kept=back['now_kept'] / (said['kept'] + away),
                   memory=back['now'] / (said['memory'] + away), xla=temp / predicted)
        good = (abs(row['kept'] - 1) < 0.03 and abs(row['memory'] - 1) < 0.1 and
                abs(row['xla'] - 1) < 0.25 and error < 1e-5 and not wrong and
                (away > 0) == bool(host))
        failed += not good
        print(f"{limit * all_kept / 1e6:8.0f} {said['kept'] / 1e6:10.0f} {back['now_kept'] / 1e6:15.0f}"
              f" {away / 1e6:5.0f} {said['memory'] / 1e6:12.0f} {back['now'] / 1e6:10.0f}"
              f" {temp / 1e6:4.0f}  {error:.1e}  {len(policies)} kinds, "
              f"{'; '.join(wrong) if wrong else 'as said'}{'' if good else '   NOT AS SAID'}", flush=True)
    return failed


sys.exit(1 if main(*sys.argv[1:3]) else 0)
