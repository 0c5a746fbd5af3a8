#!/bin/sh
# Compares the forms of stored thumbnails with alpha. Arguments go to alpha.py: folders with pictures.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$("$here/setup.sh" | tail -1)
exec "$work/venv/bin/python" "$here/alpha.py" "$work" "$@"
