#!/bin/sh
# photographs.sh WORK COUNT: makes 12 MP progressive JPEGs from parts of the photographs of Debian's package mate-backgrounds.
set -eu
work=$1
package=$work/package
rm -rf "$package" && mkdir -p "$package"
trap 'rm -rf "$package"' EXIT
cd "$package"
apt-get download mate-backgrounds >/dev/null 2>&1
dpkg -x mate-backgrounds_*.deb .
"$work/venv/bin/python" - "$package/usr/share/backgrounds/mate" "$work/large" "$2" <<'END'
import sys
from pathlib import Path
from PIL import Image

sources = sorted(Path(sys.argv[1]).rglob("*.jpg"))
for number in range(int(sys.argv[3])):
    with Image.open(sources[number % len(sources)]) as picture:
        # Use another part each time, so that no two files are equal.
        edge = 4 * (number // len(sources))
        box = (edge, edge, picture.width - edge, picture.height - edge)
        out = picture.convert("RGB").resize((4000, 3000), Image.Resampling.LANCZOS, box)
    out.save(f"{sys.argv[2]}/{number}.jpg", quality=90, progressive=True)
END
