#!/bin/sh
# What WebP and AVIF save and cost beside JPEG. Arguments go to accept.py.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$("$here/setup.sh" | tail -1)
exec "$work/venv/bin/python" "$here/accept.py" "$work" "$@"
