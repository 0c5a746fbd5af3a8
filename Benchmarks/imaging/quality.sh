#!/bin/sh
# Sets up and compares thumbnails with an exact reference.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$("$here/setup.sh" | tail -1)
exec "$work/venv/bin/python" "$here/quality.py" "$work"
