#!/bin/sh
# The journal under 200 kills.
AUTOMAP_KILLS=200 exec "$(dirname "$0")/journal.sh" "$@"
