"""Makes the benchmark's files from photographs: JPEGs (baseline and progressive), PNGs and GIFs of four sizes."""

import sys
from pathlib import Path

from PIL import Image

SIZES = {"12mp": (4000, 3000), "2mp": (1920, 1080), "800x600": (800, 600), "640x480": (640, 480)}
SOURCE = "abstract/Elephants_5640x3172.jpg"


def covering(picture: Image.Image, size: tuple[int, int]) -> Image.Image:
    """Returns the middle of a picture, cropped to a size's proportions and resampled."""
    scale = min(picture.width / size[0], picture.height / size[1])
    width, height = size[0] * scale, size[1] * scale
    left, top = max(0, (picture.width - width) / 2), max(0, (picture.height - height) / 2)
    box = (left, top, min(picture.width, left + width), min(picture.height, top + height))
    return picture.resize(size, Image.Resampling.LANCZOS, box)


def main(photographs: Path, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    source = None
    for name, size in SIZES.items():
        kinds: dict[str, dict] = {
            f"{name}.jpg": {"quality": 90},
            f"{name}-progressive.jpg": {"quality": 90, "progressive": True},
            f"{name}.png": {},
            f"{name}.gif": {},
            f"{name}-interlaced.gif": {"interlace": 1},
            f"{name}.webp": {"quality": 80},
            f"{name}.avif": {"quality": 60, "speed": 8},
        }
        if name == "2mp":
            kinds["2mp-lossless.webp"] = {"lossless": True, "quality": 30}
            kinds["2mp-alpha.webp"] = {"quality": 80}
            kinds["2mp-alpha.avif"] = {"quality": 60, "speed": 8}
        if all((out / file).exists() for file in kinds):
            continue
        source = source or Image.open(photographs / SOURCE).convert("RGB")
        picture = covering(source, size)
        for file, options in kinds.items():
            partial = out / f"partial-{file}"
            # GIFs have 256 colours, with the dots of a picture that was reduced to them.
            shown = picture.quantize(256) if file.endswith(".gif") else picture
            if file.endswith(".gif"):
                options.setdefault("interlace", 0)
            if "alpha" in file:
                # A round part is seen, with soft edges.
                shown = picture.copy()
                shown.putalpha(Image.radial_gradient("L").resize(size).point(lambda level: 255 - level))
            shown.save(partial, **options)
            partial.rename(out / file)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
