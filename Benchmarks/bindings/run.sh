#!/usr/bin/env bash
# Measures hits from C and Python, and of other libraries. These are installed from PyPI into build/bench-bindings (or
# $NUTHATCH_BENCH_DIR).
set -euo pipefail
cd "$(dirname "$0")/../.."

venv=${NUTHATCH_BENCH_DIR:-build/bench-bindings}/venv
requirements=Benchmarks/bindings/requirements.txt
if ! cmp -s "$requirements" "$venv/.made-from"; then
  rm -rf "$venv"
  python3 -m venv "$venv"
  "$venv/bin/python" -m pip install --quiet --no-input --only-binary :all: -r "$requirements" </dev/null
  cp "$requirements" "$venv/.made-from"
fi

folder=$(mktemp -d)
coproc SERVER { exec build/nuthatch-testserver; }
trap 'exec {SERVER[1]}>&-; wait; rm -rf "$folder"' EXIT
read -r url <&"${SERVER[0]}"

gcc -O2 -Wall -Wextra -Iinclude Benchmarks/bindings/hits.c -o "$folder/hits" -Lbuild -lnuthatch "-Wl,-rpath,$PWD/build"
"$folder/hits" "$folder/cache" "${url%/}/png/300/300"
NUTHATCH_LIBRARY=$PWD/build/libnuthatch.so.1 PYTHONPATH=bindings/python:Tests/support "$venv/bin/python" Benchmarks/bindings/hits.py "$@"
