#!/usr/bin/env bash
# What hits cost, from the languages that Nuthatch is used from. The best and the median of nine rounds.
set -euo pipefail
cd "$(dirname "$0")/../.."

folder=$(mktemp -d)
coproc SERVER { exec build/nuthatch-testserver; }
trap 'exec {SERVER[1]}>&-; wait; rm -rf "$folder"' EXIT
read -r url <&"${SERVER[0]}"

gcc -O2 -Wall -Wextra -Iinclude Benchmarks/bindings/hits.c -o "$folder/hits" -Lbuild -lnuthatch "-Wl,-rpath,$PWD/build"
"$folder/hits" "$folder/cache" "${url%/}/png/300/300"
