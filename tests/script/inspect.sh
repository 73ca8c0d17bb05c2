#!/bin/sh
# automap inspect: the page and the object of small models, lists of variables in every form, errors.
# usage: inspect.sh SOURCE_DIR AUTOMAP_BINARY; UPDATE_GOLDEN=1 writes what it should compare with.
set -u
cd "$1" || exit 1
automap=$2
golden=tests/golden/inspect
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

bad() {
    echo "$*" >&2
    failed=1
}

# same NAME COMMAND...: the output equals the golden file.
same() {
    name=$1
    shift
    "$@" >"$work/out" 2>&1 || bad "$name: exit code $?"
    [ "${UPDATE_GOLDEN:-}" ] && cp "$work/out" "$golden/$name"
    diff -u "$golden/$name" "$work/out" >&2 || bad "$name: differs from $golden/$name"
}

# fails CODE WORDS COMMAND...: the exit code, and what the message holds.
fails() {
    code=$1 words=$2
    shift 2
    "$@" >"$work/out" 2>"$work/err"
    got=$?
    [ $got = "$code" ] || bad "$*: exit code $got, expected $code"
    grep -qF -- "$words" "$work/err" || bad "$*: no \"$words\" in: $(cat "$work/err")"
}

models=examples/models
same mlp.txt "$automap" inspect $models/mlp.hlo.txt.gz
same mlp.json "$automap" inspect --json $models/mlp.meta.hlo.txt.gz
same decoder-scan.txt "$automap" inspect $models/decoder-scan.meta.hlo.txt.gz
same t5-11b.txt "$automap" inspect $models/t5-11b.hlo.txt.gz

# The same variables whatever the list looks like.
cat >"$work/plain" <<'LIST'
# trainable
params/layer_0/bias
layer_0/kernel
2 layer_1/bias
params['layer_1']['kernel']

4
params__layer_2____kernel__.1
LIST
printf '["params/layer_0/bias", "layer_0/kernel", 2,\n "params[\047layer_1\047][\047kernel\047]", 4, "%%params__layer_2____kernel__.1"]\n' >"$work/json"
printf -- '---\n- params/layer_0/bias # first\n- "layer_0/kernel"\n- 2\n- params[\047layer_1\047][\047kernel\047]\n- 4\n- \047layer_2/kernel\047\n' >"$work/yaml"
printf '[params/layer_0/bias, layer_0/kernel, 2, layer_1/kernel,\n  4, layer_2/kernel,]\n' >"$work/flow"
for list in "$work/plain" "$work/json" "$work/yaml" "$work/flow" $models/mlp.vars; do
    "$automap" inspect --json --vars "$list" $models/mlp.hlo.txt.gz >"$work/out" || bad "$list: exit code $?"
    found=$(grep -c '"source": "list"' "$work/out")
    [ "$found" = 6 ] || bad "$list: $found variables by list, expected 6"
done
for vars in $models/*.vars; do
    name=${vars%.vars}
    for form in hlo.txt.gz meta.hlo.txt.gz; do
        "$automap" inspect --json --vars "$vars" "$name.$form" >"$work/out" || bad "$vars: exit code $?"
        found=$(grep -c '"source": "list"' "$work/out")
        [ "$found" = "$(wc -l <"$vars")" ] || bad "$vars: $found variables by list"
    done
done

# A module of several.
printf 'module @first {\n  func.func @main(%%a: tensor<2xf32>) -> tensor<2xf32> {\n    return %%a : tensor<2xf32>\n  }\n}\n' >"$work/one"
sed 's/first/second/; s/2xf32/3xf32/g; s/return %a/%0 = stablehlo.negate %a : tensor<3xf32>\n    return %0/' "$work/one" >"$work/two"
{ cat "$work/one"; echo '// -----'; cat "$work/two"; } >"$work/several.mlir"
for number in 0:first 1:second; do
    "$automap" inspect --json --module "${number%:*}" "$work/several.mlir" 2>/dev/null | grep -q "\"${number#*:}\"" || bad "--module $number"
done
fails 2 'no module 2 in a file of 2' "$automap" inspect --module 2 "$work/several.mlir"

echo '["layer_9/kernel"]' >"$work/none"
echo '["layer_0/kernel"' >"$work/open"
echo '{"variables": []}' >"$work/object"
printf -- '- a\nb\n' >"$work/mixed"
echo '0 layer_1/bias' >"$work/wrong"
echo '99' >"$work/far"
: >"$work/empty"
mlp=$models/mlp.hlo.txt.gz
fails 2 '"layer_9/kernel", but no parameter has that name' "$automap" inspect --vars "$work/none" $mlp
fails 2 'open:1:1: a list without an end, expected "]"' "$automap" inspect --vars "$work/open" $mlp
fails 2 'object:1:1: an object, expected a list of names' "$automap" inspect --vars "$work/object" $mlp
fails 2 'mixed:2:1: a line without "- "' "$automap" inspect --vars "$work/mixed" $mlp
fails 2 'calls parameter 0 "layer_1/bias", but its name is "params/layer_0/bias"' "$automap" inspect --vars "$work/wrong" $mlp
fails 2 'names parameter 99, but there are only 22' "$automap" inspect --vars "$work/far" $mlp
fails 2 'a list without names' "$automap" inspect --vars "$work/empty" $mlp
fails 2 'cannot open' "$automap" inspect --vars "$work/missing" $mlp
fails 2 'missing.hlo' "$automap" inspect "$work/missing.hlo"
cat >"$work/call.hlo" <<'HLO'
HloModule call
ENTRY main { x = f32[8,128] parameter(0)
  ROOT y = f32[8,128] custom-call(x), custom_call_target="my_kernel" }
HLO
"$automap" inspect "$work/call.hlo" | grep -q 'my_kernel .*no rule: runs whole, work unknown' || bad "an unknown kernel"
"$automap" inspect "$work/call.hlo" | sed -n '/^kernels:/,/flops/p' | sed "s/-> c d/-> a b/" >"$work/rule.yaml"
"$automap" inspect --kernels "$work/rule.yaml" "$work/call.hlo" | grep -q 'my_kernel .*a rule file' || bad "a rule to start from"
"$automap" inspect --kernels "$work/rule.yaml" --json "$work/call.hlo" | grep -q '"unknown": 0, .*"rule": "a rule file"' || bad "kernels as JSON"
"$automap" plan "$work/call.hlo" --devices 2 >"$work/out" || bad "a plan with an unknown kernel"
grep -q 'kernel my_kernel (1) has no rule: it runs whole, its work is unknown (100.0 % of bytes)' "$work/out" || bad "plan says nothing of an unknown kernel"
sed -n '/^kernels:/,/flops/p' "$work/out" | grep -q "target: 'my_kernel'" || bad "plan prints no rule to start from"
"$automap" plan "$work/call.hlo" --devices 2 --json | grep -q 'kernel my_kernel (1) has no rule' || bad "plan --json says nothing of an unknown kernel"
"$automap" explain "$work/call.hlo" --devices 2 y | grep -q "no kernel rule says how it splits" || bad "explain says nothing of an unknown kernel"
"$automap" plan --kernels "$work/rule.yaml" "$work/call.hlo" --devices 2 | grep -q 'has no rule' && bad "a known kernel is called unknown"
# On the screen: red in the focus graph, words where the cursor is, a line in the log; with a rule none of them.
cat >"$work/focus.hlo" <<'HLO'
HloModule focus
ENTRY main { x = f32[64,64] parameter(0)
  w = f32[64,64] parameter(1)
  y = f32[64,64] custom-call(x), custom_call_target="my_kernel"
  ROOT d = f32[64,64] dot(y, w), lhs_contracting_dims={1}, rhs_contracting_dims={0} }
HLO
"$automap" inspect "tests/data/kernels/norms.hlo.txt.gz" >"$work/norms"
grep -q 'and its kernels, of which XLA counts nothing: 4 MB$' "$work/norms" || bad "kernels add nothing to a step: $(grep kernels "$work/norms")"
printf "kernels:\n  - target: my_kernel\n    dims: 'a b -> a b'\n" >"$work/mine.yaml"
# The sum of all says how much of it nobody knows; a target that nobody knows has no FLOP, not 0.
sums() { # words, model, option ...
    words=$1
    shift
    "$automap" inspect "$@" | grep -q "of which XLA counts nothing: $words\$" || bad "kernels of $* are not $words: $("$automap" inspect "$@" | grep 'counts nothing')"
}
{
    printf 'HloModule many\nENTRY main { y0 = f32[64,64] parameter(0)\n'
    for k in $(seq 70); do
        echo "y$k = f32[64,64] custom-call(y$((k - 1))), custom_call_target=\"k$k\""
    done
    echo 'ROOT y71 = f32[64,64] negate(y70) }'
} >"$work/many.hlo"
printf "kernels:\n  - target: k70\n    dims: 'a b -> a b'\n    flops: 2 * a * b\n" >"$work/last.yaml"
sums '33 kB, and the work of 1 unknown' "$work/focus.hlo"
sums '33 kB' "$work/focus.hlo" --kernels "$work/mine.yaml"
sums '2 MB, and the work of 70 unknown' "$work/many.hlo"
sums '8.2 kFLOP, 2 MB, and the work of 69 unknown' "$work/many.hlo" --kernels "$work/last.yaml"
"$automap" inspect --json "$work/focus.hlo" | grep -q '"unknown": 1, "flops": null' || bad "an unknown kernel has FLOP"
"$automap" inspect --json "$work/focus.hlo" --kernels "$work/mine.yaml" | grep -q '"unknown": 0, "flops": 0' || bad "a kernel without FLOP has null"
look() { # keys, option ...
    local keys=$1
    shift
    "$automap" screen "$work/focus.hlo" --devices 2 --size 160x40 --keys "$keys" "$@"
}
name() { sed -n 's/.*fill="\(#[0-9a-f]*\)">y<.*/\1/p'; } # its colour beside d, the centre
unknown=$(look '1 j j j v' --svg | name) known=$(look '1 j j j v' --svg --kernels "$work/mine.yaml" | name) text=$(look '1 j j j v' --svg | sed -n 's/.*fill="\(#[0-9a-f]*\)">x<.*/\1/p')
[ -n "$unknown" ] && [ "$unknown" != "$known" ] && [ "$known" = "$text" ] || bad "an unknown kernel is $unknown, a known one $known, others $text"
look '1 j j v' | grep -q '^ y .*no kernel rule: runs whole, work unknown' || bad "the cursor says nothing of an unknown kernel"
look '1 j j v' | grep -q 'kernel my_kernel' || bad "the log says nothing of an unknown kernel"
look '1 j j v' --kernels "$work/mine.yaml" | grep -q 'no kernel rule\|kernel my_kernel' && bad "the screen calls a known kernel unknown"
echo 'kernels: [{target: a}]' >"$work/bad.yaml"
fails 2 'bad.yaml:1:11: a kernel rule without dims, like or effect' "$automap" inspect --kernels "$work/bad.yaml" "$work/call.hlo"
fails 1 'a file is needed' "$automap" inspect
fails 1 'no option --nothing' "$automap" inspect --nothing $mlp
"$automap" inspect --help | grep -q '^usage: automap inspect' || bad "--help"
"$automap" inspect - <$mlp >/dev/null || bad "standard input"
# A shipped model by its name, as every other command takes it.
AUTOMAP_DATA_DIR=$1 "$automap" inspect t5-tiny >"$work/named" 2>&1 || bad "inspect t5-tiny: $(cat "$work/named")"
grep -q "^instructions  2,801 in " "$work/named" || bad "not t5-tiny: $(head -5 "$work/named")"
AUTOMAP_DATA_DIR=$1 "$automap" convert t5-tiny "$work/t5-tiny.pb" || bad "convert t5-tiny"

exit $failed
