#!/bin/bash
# Draws every view of the explorer as a person sees it, to be looked at after a change of the screen:
#   tests/ref/screens/draw.sh AUTOMAP DIRECTORY [VIEW ...]
# writes DIRECTORY/MODEL/VIEW.SIZE.THEME.svg and a contact sheet for each size and theme,
# DIRECTORY/SIZE.THEME.html. README.md here says more.
automap=$1 out=$2
shift 2 || { sed -n '2,5s/^# //p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
export AUTOMAP_DATA_DIR=${AUTOMAP_DATA_DIR:-$(cd "$here/../../.." && pwd)}
export XDG_STATE_HOME=$(mktemp -d) XDG_CONFIG_HOME=/nonexistent # no sessions of its own, no settings
trap 'rm -rf "$XDG_STATE_HOME"' EXIT
export LC_ALL=C.UTF-8 OPENBLAS_CORETYPE=Haswell OPENBLAS_NUM_THREADS=1
unset NO_COLOR
zoo=${AUTOMAP_SHARED:-$AUTOMAP_DATA_DIR/../shared}/zoo
models=${MODELS:-t5-base6:v100-1x4 $(ls "$zoo"/hf-flax/llama_2layer.*.hlo.gz "$zoo"/torch_xla/resnet18.*.hlo.gz 2>/dev/null)}
sizes=${SIZES:-80x24 120x40 200x60} themes=${THEMES:-dark light mono ascii}

views() { # name, options before the keys, keys; "-": none
    sed 's/#.*//; /^ *$/d' "$here/views.txt"
}

theme_options() {
    case $1 in
    dark) ;;
    ascii) echo --ascii ;;
    *) echo --theme "$1" ;;
    esac
}

failed=0
for model in $models; do
    file=${model%%:*} cluster=
    [ "$file" = "$model" ] || cluster=${model#*:}
    name=$(basename "$file")
    name=${name%%.*}
    mkdir -p "$out/$name"
    while IFS='|' read -r view options keys; do
        view=${view// /}
        [ $# = 0 ] || [[ " $* " == *" $view "* ]] || continue
        opened=("$file" $cluster)
        [[ $options == *ALONE* ]] && opened=() options=${options/ALONE/}
        for size in $sizes; do
            for theme in $themes; do
                svg=$out/$name/$view.$size.$theme.svg
                eval "\"\$automap\" screen \"\${opened[@]}\" --size $size $(theme_options "$theme") $options" \
                    ${keys:+--keys "\"\$keys\""} --svg >"$svg" || { echo "$name $view $size $theme: not drawn"; failed=1; }
            done
        done
    done < <(views)
done

for size in $sizes; do
    for theme in $themes; do
        {
            echo "<!doctype html><meta charset=utf-8><title>$size $theme</title>"
            echo "<style>body{background:#777;font:14px sans-serif} figure{display:inline-block;margin:8px} img{width:${SHEET_WIDTH:-640}px}</style>"
            for svg in "$out"/*/*."$size.$theme".svg; do
                [ -e "$svg" ] && echo "<figure><img src='${svg#"$out"/}'><figcaption>${svg#"$out"/}</figcaption></figure>"
            done
        } >"$out/$size.$theme.html"
    done
done
exit $failed
