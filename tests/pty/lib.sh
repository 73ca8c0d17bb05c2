# Sourced by the tests of this folder: the real binary in tmux. Nothing sleeps for luck: `see` waits
# for a text to be on the screen.
source_dir=$1 automap=$2
command -v tmux >/dev/null || { echo "no tmux"; exit 77; }
home=$(mktemp -d)
socket=automap-$$-$RANDOM
export TMUX= HOME=$home XDG_STATE_HOME=$home/state XDG_CONFIG_HOME=$home/config
unset NO_COLOR
t() { tmux -L "$socket" -f /dev/null "$@"; }
trap 't kill-server 2>/dev/null; rm -rf "$home"' EXIT

shell="env LC_ALL=C.UTF-8 TERM=tmux-256color PS1='sh> ' sh"
# start WxH: a shell in a window of that size.
start() {
    t new-session -d -x "${1%x*}" -y "${1#*x}" "$shell"
    t set-option -g escape-time 0
    see 'sh>'
}
# A new shell on a new terminal, where the old one was left in disorder.
start_over() { t respawn-pane -k "$shell"; see 'sh>'; gone '━━━'; }
screen() { t capture-pane -p; }
type() { t send-keys "$@"; }
run() { t send-keys -l "$1"; t send-keys Enter; }

# The newest automap of this test, started with the arguments $*: others may run beside it, and their
# home is another.
pid_of() {
    for pid in $(pgrep -f "^$automap${*:+ $*}"); do
        grep -qz "^HOME=$home\$" "/proc/$pid/environ" 2>/dev/null && echo "$pid"
    done | tail -1
}

patience=2400 # looks, 20 a second where nobody else works
# see TEXT: waits until the screen holds it.
see() {
    for _ in $(seq $patience); do
        screen 2>/dev/null | grep -qF -- "$1" && return 0
        sleep 0.05
    done
    echo "never seen: $1"; screen; exit 1
}
# matches REGEX: as `see`, by an extended regular expression.
matches() {
    for _ in $(seq $patience); do
        screen 2>/dev/null | grep -qE -- "$1" && return 0
        sleep 0.05
    done
    echo "never seen: $1"; screen; exit 1
}
gone() {
    for _ in $(seq $patience); do
        screen | grep -qF -- "$1" || return 0
        sleep 0.05
    done
    echo "still there: $1"; screen; exit 1
}
# sane: back on the main screen, cursor shown, no mouse, echo and line editing on.
sane() {
    for _ in $(seq $patience); do
        [ "$(t display -p '#{alternate_on}#{mouse_any_flag}#{cursor_flag}')" = 001 ] && break
        sleep 0.05
    done
    modes=$(t display -p 'alternate #{alternate_on} mouse #{mouse_any_flag} cursor #{cursor_flag}')
    [ "$modes" = "alternate 0 mouse 0 cursor 1" ] || { echo "after $1: $modes"; screen; exit 1; }
    run "clear; stty -a | tr ' ;' '\n\n' | grep -Ex 'icanon|echo|isig|icrnl|opost|ixon' | sort | xargs echo modes:"
    see "modes: "
    screen | grep -q "^modes: echo icanon icrnl isig ixon opost" ||
        { echo "after $1: the terminal's modes are wrong"; screen; exit 1; }
    run clear; gone "modes: "
}
