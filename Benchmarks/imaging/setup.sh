#!/bin/sh
# Installs or builds everything for the imaging benchmark: the rivals, the photographs, the program.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=${NUTHATCH_BENCH_DIR:-$root/build/bench-imaging}
mkdir -p "$work"

if [ ! -x "$work/venv/bin/python" ]; then
  python3 -m venv "$work/venv"
fi
if ! "$work/venv/bin/python" -c 'import PIL, numpy, pyvips, cv2' 2>/dev/null; then
  "$work/venv/bin/pip" install --quiet pillow numpy pyvips pyvips-binary opencv-python-headless
fi

if [ ! -d "$work/photographs" ]; then
  package=$work/package
  rm -rf "$package" && mkdir -p "$package"
  (cd "$package" && apt-get download mate-backgrounds 2>/dev/null && dpkg -x mate-backgrounds_*.deb .)
  mv "$package/usr/share/backgrounds/mate" "$work/photographs"
  rm -rf "$package"
fi

"$work/venv/bin/python" "$here/pictures.py" "$work/photographs" "$work/pictures"
# Otherwise SwiftPM may miss new C files of the library.
touch "$root/Benchmarks/Package.swift"
NUTHATCH_OWN_BUILD=1 swift build --package-path "$root/Benchmarks" -c release --product ImagingBench >&2
echo "$work"
