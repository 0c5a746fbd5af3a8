#!/usr/bin/env bash
# Measures other stores with records of the same sizes: a file for each entry, LMDB, SQLite, diskcache.
# Installs what it needs. If a package can't be installed, prints that its measurement is skipped.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$root/build/bench-store
mkdir -p "$work"

missing=()
for package in gcc liblmdb-dev libsqlite3-dev; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
if ((${#missing[@]})); then
  as_root=()
  [[ $(id -u) == 0 ]] || as_root=(sudo -n)
  DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y --no-install-recommends "${missing[@]}" \
    </dev/null >"$work/apt.log" 2>&1 || echo "  ${missing[*]} can't be installed"
fi

folder=$(mktemp -d "${TMPDIR:-/tmp}/nuthatch-rivals-XXXXXX")
trap 'rm -rf "$folder"' EXIT
echo
echo "others: 10,000 records of 1 and 16 KiB, 4,000 of 64 KiB, wanted by Zipf's law; found, and kept"
if gcc -O2 -o "$work/rivals" "$here/rivals.c" -llmdb -lsqlite3 -lm 2>"$work/cc.log"; then
  "$work/rivals" "$folder"
else
  echo "  files, LMDB, SQLite: skipped, they can't be built here"
fi
if [[ ! -x $work/venv/bin/python ]]; then python3 -m venv "$work/venv" || true; fi
if "$work/venv/bin/python" -c 'import diskcache' 2>/dev/null ||
  "$work/venv/bin/python" -m pip install --quiet --no-input diskcache </dev/null 2>"$work/pip.log"; then
  "$work/venv/bin/python" "$here/with_diskcache.py" "$folder"
else
  echo "  diskcache: skipped, pip can't get it"
fi
