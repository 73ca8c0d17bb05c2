#!/usr/bin/env bash
# automap profile: a trace of the JAX profiler (three steps of a small net on a CPU, jax 0.10.2) as a
# profile that plan reads; sums are those of the trace, worked out with the standard library alone.
# usage: profile.sh SOURCE_DIR AUTOMAP
set -u
data=$1/tests/data/profile automap=$2 failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad() {
    echo "profile: $*"
    failed=1
}
command -v python3 >/dev/null || exit 77

"$automap" profile "$data/mlp.trace.json.gz" "$data/mlp.hlo.txt.gz" --compiled "$data/mlp-compiled.hlo.txt.gz" -o "$work/profile.json" 2>"$work/said" || bad "no profile"
grep -q '(100.0 %) found' "$work/said" || bad "coverage: $(cat "$work/said")"
python3 - "$data/mlp.trace.json.gz" "$work/profile.json" <<'PY' || bad "sums differ"
import collections, gzip, json, statistics, sys
runs = collections.defaultdict(lambda: collections.defaultdict(float))
for e in json.load(gzip.open(sys.argv[1]))['traceEvents']:
    if 'hlo_op' in e.get('args', {}):
        runs[e['args']['hlo_op']][e['args']['run_id']] += e['dur'] / 1e3
trace = sum(statistics.median(r.values()) for r in runs.values())
profile = json.load(open(sys.argv[2]))
products = sum(v for k, v in profile.items() if k.startswith('dot'))
sys.exit(not (abs(sum(profile.values()) - trace) < 1e-3 * trace and products > 0.9 * trace))
PY
# Calls that the compiler inlined, with one name in two computations, and a fusion without a name.
cat >"$work/calls.hlo" <<'END'
HloModule calls
inner {
  a = f32[64,64]{1,0} parameter(0)
  ROOT d = f32[64,64]{1,0} dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="cell/dot"}
}
other {
  b = f32[64,64]{1,0} parameter(0)
  ROOT t = f32[64,64]{1,0} tanh(b), metadata={op_name="cell/dot"}
}
ENTRY main {
  x = f32[64,64]{1,0} parameter(0)
  c = f32[64,64]{1,0} call(x), to_apply=inner, metadata={op_name="jit(f)/one/call"}
  o = f32[64,64]{1,0} call(c), to_apply=other, metadata={op_name="jit(f)/two/call"}
  e = f32[64,64]{1,0} exponential(o), metadata={op_name="jit(f)/exp"}
  ROOT s = f32[64,64]{1,0} sine(e), metadata={op_name="jit(f)/sin"}
}
END
cat >"$work/calls-compiled.hlo" <<'END'
HloModule compiled
fused {
  p = f32[64,64]{1,0} parameter(0)
  i = f32[64,64]{1,0} exponential(p), metadata={op_name="jit(f)/exp"}
  ROOT r = f32[64,64]{1,0} copy(i)
}
ENTRY main {
  x = f32[64,64]{1,0} parameter(0)
  d.1 = f32[64,64]{1,0} dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="jit(f)/one/call/cell/dot"}
  t.1 = f32[64,64]{1,0} tanh(d.1), metadata={op_name="jit(f)/two/call/cell/dot"}
  f.1 = f32[64,64]{1,0} fusion(t.1), kind=kLoop, calls=fused
  ROOT s.1 = f32[64,64]{1,0} sine(f.1), metadata={op_name="jit(f)/three/sin"}
}
END
python3 - "$work/calls.json" <<'END'
import json,sys
ev=[{"ph":"X","pid":1,"ts":i,"dur":d,"name":n,"args":{"hlo_op":n,"run_id":"1"}} for i,(n,d) in enumerate([("d.1",1000),("t.1",200),("f.1",30),("s.1",4)])]
json.dump({"traceEvents":ev},open(sys.argv[1],"w"))
END
"$automap" profile "$work/calls.json" "$work/calls.hlo" --compiled "$work/calls-compiled.hlo" -o "$work/calls.profile" 2>"$work/said" || bad "no profile of calls"
[ "$(tr -d ' \n' <"$work/calls.profile")" = '{"d":1,"t":0.2,"e":0.03}' ] && grep -q '1.230 ms of 1.234 ms' "$work/said" || bad "calls: $(cat "$work/calls.profile" "$work/said")"
# Two devices that run the same do not add up, whether one process has both or each its own.
python3 - "$data/mlp.trace.json.gz" "$work" <<'PY'
import gzip, json, sys
trace = json.load(gzip.open(sys.argv[1]))
ops = [e for e in trace['traceEvents'] if 'hlo_op' in e.get('args', {})]
second = [dict(e, args=dict(e['args'], device_ordinal='1')) for e in ops]
json.dump({'traceEvents': ops + second}, open(sys.argv[2] + '/devices.json', 'w'))
json.dump({'traceEvents': ops + [dict(e, pid=e['pid'] + 1) for e in ops]}, open(sys.argv[2] + '/hosts.json', 'w'))
PY
for two in devices hosts; do
    "$automap" profile "$work/$two.json" "$data/mlp.hlo.txt.gz" --compiled "$data/mlp-compiled.hlo.txt.gz" -o "$work/$two.profile" 2>/dev/null
    cmp -s "$work/profile.json" "$work/$two.profile" || bad "two $two add up"
done
"$automap" plan "$data/mlp.hlo.txt.gz" --devices 1 --profile "$work/profile.json" | grep -q 'step  *2,111.[0-9] ms' || bad "plan does not read it"
"$automap" profile "$data/mlp.trace.json.gz" "$data/mlp-compiled.hlo.txt.gz" 2>"$work/said" >"$work/compiled.json" || bad "no profile of what ran"
grep -q '(100.0 %) found in 10 of' "$work/said" || bad "coverage of what ran: $(cat "$work/said")"
grep -q '"ynn_fusion.2": ' "$work/compiled.json" || bad "no time of a fusion"
# The same times as tables: an xplane's operations of all three steps, nsys' kernels of one.
python3 - "$data/mlp.trace.json.gz" "$work" <<'PY'
import collections, csv, gzip, json, statistics, sys
runs = collections.defaultdict(lambda: collections.defaultdict(float))
for e in json.load(gzip.open(sys.argv[1]))['traceEvents']:
    if 'hlo_op' in e.get('args', {}):
        runs[e['args']['hlo_op']][e['args']['run_id']] += e['dur']
us = {op: statistics.median(r.values()) for op, r in runs.items()}
with open(sys.argv[2] + '/xplane.csv', 'w') as f:
    rows = csv.writer(f)
    rows.writerow(['Rank', 'HLO op category', 'HLO op name', 'Total time (us)', 'Total self time (us)', 'Avg. time (us)'])
    for n, (op, t) in enumerate(us.items()):
        rows.writerow([n, 'a "quoted", word', op, 1e9, repr(3 * t), t])
with open(sys.argv[2] + '/nsys.csv', 'w') as f:
    f.write('Processing [report.sqlite] with [cuda_gpu_kern_sum.py]...\n\n')
    rows = csv.writer(f)
    rows.writerow(['Time (%)', 'Total Time (ns)', 'Instances', 'Avg (ns)', 'Name'])
    for op, t in us.items():
        rows.writerow([1, repr(1e3 * t / 2), 1, 5, ''.join(c if c.isalnum() else '_' for c in op)])
        rows.writerow([1, repr(1e3 * t / 2), 1, 5, ''.join(c if c.isalnum() else '_' for c in op)])
PY
for table in 'xplane.csv --steps 3' nsys.csv; do
    "$automap" profile "$work/"$table "$data/mlp.hlo.txt.gz" --compiled "$data/mlp-compiled.hlo.txt.gz" -o "$work/table.json" 2>/dev/null || bad "no profile of $table"
    python3 - "$work/profile.json" "$work/table.json" <<'PY' || bad "times of $table differ from the trace's"
import json, sys
a, b = (json.load(open(f)) for f in sys.argv[1:])
sys.exit(a.keys() != b.keys() or any(abs(a[k] - b[k]) > 1e-6 * a[k] for k in a))
PY
done
fails() { # code, words
    local code=$1 words=$2 rc
    shift 2
    "$automap" profile "$@" >"$work/out" 2>&1
    rc=$?
    [ $rc = "$code" ] && grep -q -- "$words" "$work/out" || bad "$*: exit $rc, $(head -2 "$work/out")"
}
echo '{"traceEvents": []}' >"$work/empty"
echo '{"traceEvents": [' >"$work/open"
fails 2 'no event of an HLO operation' "$work/empty" "$data/mlp.hlo.txt.gz"
printf 'Name,Total Time (ns)\nfusion,fast\n' >"$work/fast.csv"
echo 'a, b' >"$work/titles.csv"
fails 2 'fast.csv:2:8: expected a time of 0 or more' "$work/fast.csv" "$data/mlp.hlo.txt.gz"
fails 2 'neither JSON nor a table' "$work/titles.csv" "$data/mlp.hlo.txt.gz"
fails 2 'no JSON here' "$work/open" "$data/mlp.hlo.txt.gz"
fails 2 'is in .*mlp.hlo.txt.gz; --compiled FILE says what ran' "$data/mlp.trace.json.gz" "$data/mlp.hlo.txt.gz"
fails 1 'a trace and a model' "$data/mlp.trace.json.gz"
exit $failed
