#!/bin/sh
# make bench-imaging: sets up and measures; arguments go to bench.py.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$("$here/setup.sh" | tail -1)
exec "$work/venv/bin/python" "$here/bench.py" "$work" "$@"
