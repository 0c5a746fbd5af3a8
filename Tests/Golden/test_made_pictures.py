"""Pictures of every kind are written by Pillow. The library decodes them as Pillow does."""

import io
from typing import Any, Callable

import numpy as np
import pytest
from compare import distance, psnr
from PIL import Image, ImageCms
from reference_png import decode as decode_png

Decode = Callable[..., Any]


def photograph(width: int = 151, height: int = 97) -> Image.Image:
    """Returns a picture with smooth and sharp parts and all colours, without symmetry."""
    y, x = np.mgrid[0:height, 0:width]
    red = 127 + 120 * np.sin(x / 9 + y / 31)
    green = (x * 255 / width + 40 * ((x // 16 + y // 16) % 2)).clip(0, 255)
    blue = 255 * np.exp(-((x - width / 3) ** 2 + (y - height / 2) ** 2) / 900)
    return Image.fromarray(np.dstack([red, green, blue]).astype(np.uint8))


def written(image: Image.Image, kind: str, **options: Any) -> bytes:
    data = io.BytesIO()
    image.save(data, kind, **options)
    return data.getvalue()


def as_pillow_reads(data: bytes) -> np.ndarray:
    return np.array(Image.open(io.BytesIO(data)).convert("RGBA"))


def on_black(pixels: np.ndarray) -> np.ndarray:
    """Returns alpha, and the colours multiplied by it."""
    alpha = pixels[:, :, 3:].astype(float)
    return np.dstack([pixels[:, :, :3] * alpha / 255, alpha])


@pytest.mark.parametrize("sampling", [0, 1, 2])
@pytest.mark.parametrize("progressive", [False, True])
@pytest.mark.parametrize("size", [(151, 97), (1, 1), (8, 8), (17, 1), (1, 33), (64, 48)])
def test_a_jpeg_is_decoded_as_by_pillow(
    pixels_of: Decode, sampling: int, progressive: bool, size: Any
) -> None:
    data = written(photograph(*size), "JPEG", subsampling=sampling, progressive=progressive, quality=90)
    assert distance(pixels_of(data), as_pillow_reads(data)) <= 1


@pytest.mark.parametrize("options", [{"quality": 20}, {"optimize": True}, {"restart_marker_rows": 1}])
def test_a_jpeg_with_unusual_encoding_is_decoded_as_by_pillow(pixels_of: Decode, options: Any) -> None:
    data = written(photograph(), "JPEG", **options)
    assert distance(pixels_of(data), as_pillow_reads(data)) <= 1


def test_a_grey_jpeg_is_decoded_as_by_pillow(pixels_of: Decode) -> None:
    data = written(photograph().convert("L"), "JPEG")
    assert distance(pixels_of(data), as_pillow_reads(data)) <= 1


def test_a_cmyk_jpeg_is_decoded_as_by_pillow(pixels_of: Decode) -> None:
    data = written(photograph().convert("CMYK"), "JPEG", quality=95)
    assert distance(pixels_of(data), as_pillow_reads(data)) <= 2


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "AVIF"])
def test_the_exif_orientation_is_applied(image_of: Decode, orientation: int, kind: str) -> None:
    from PIL import ImageOps

    exif = Image.Exif()
    exif[0x0112] = orientation
    data = written(photograph(), kind, exif=exif, **({"quality": 90} if kind == "WEBP" else {}))
    upright = ImageOps.exif_transpose(Image.open(io.BytesIO(data))).convert("RGBA")
    image = image_of(data)
    assert image.size == image.original_size == upright.size
    assert distance(np.array(image), np.array(upright)) <= 1


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "I;16"])
def test_a_png_is_decoded_as_by_the_reference_decoder(pixels_of: Decode, mode: str) -> None:
    source = photograph()
    if mode == "I;16":
        ramp = np.arange(97 * 151, dtype=np.uint16).reshape(97, 151) * 4
        data = written(Image.fromarray(ramp), "PNG")
    elif mode in ("LA", "RGBA"):
        source.putalpha(source.convert("L"))
        data = written(source.convert(mode), "PNG")
    else:
        data = written(source.convert(mode), "PNG")
    assert distance(pixels_of(data), decode_png(data)) <= 1


def indexed(colours: int, size: Any = (151, 97)) -> Image.Image:
    return photograph(*size).quantize(colours)


@pytest.mark.parametrize("colours", [2, 3, 16, 100, 256])
@pytest.mark.parametrize("interlaced", [0, 1])
@pytest.mark.parametrize("size", [(151, 97), (1, 1), (7, 5), (1, 33), (640, 480)])
def test_a_gif_is_decoded_as_by_pillow(pixels_of: Decode, colours: int, interlaced: int, size: Any) -> None:
    data = written(indexed(colours, size), "GIF", interlace=interlaced)
    assert distance(pixels_of(data), as_pillow_reads(data)) == 0
    data = written(indexed(colours, size), "GIF", interlace=interlaced, transparency=1)
    assert distance(pixels_of(data), as_pillow_reads(data)) == 0


def test_a_grey_gif_and_the_first_frame_of_an_animation_are_decoded_as_by_pillow(pixels_of: Decode) -> None:
    grey = written(photograph().convert("L"), "GIF")
    assert distance(pixels_of(grey), as_pillow_reads(grey)) == 0
    frames = [photograph().rotate(turn).quantize(60) for turn in (0, 40, 80)]
    for disposal in (0, 1, 2, 3):
        data = written(frames[0], "GIF", save_all=True, append_images=frames[1:], disposal=disposal, loop=0)
        assert distance(pixels_of(data), as_pillow_reads(data)) == 0


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA"])
@pytest.mark.parametrize("size", [(151, 97), (1, 1), (7, 5), (1, 33), (32, 8)])
def test_a_bmp_is_decoded_as_by_pillow(pixels_of: Decode, mode: str, size: Any) -> None:
    source = photograph(*size)
    if mode == "RGBA":
        source.putalpha(source.convert("L"))
    data = written(source.convert(mode), "BMP")
    assert distance(pixels_of(data), as_pillow_reads(data)) == 0


@pytest.mark.parametrize("kind", ["bmp", "png"])
@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA"])
def test_an_icon_is_decoded_as_by_pillow(pixels_of: Decode, kind: str, mode: str) -> None:
    source = photograph(64, 48)
    if mode == "RGBA":
        source.putalpha(source.convert("L"))
    data = written(source.convert(mode), "ICO", bitmap_format=kind, sizes=[(16, 12), (64, 48), (32, 24)])
    assert distance(pixels_of(data), as_pillow_reads(data)) == 0


@pytest.mark.parametrize("options", [{"quality": 30}, {"quality": 95, "method": 6}, {"lossless": True}])
@pytest.mark.parametrize("mode", ["RGB", "RGBA"])
@pytest.mark.parametrize("size", [(151, 97), (1, 1), (2, 3), (17, 1), (1, 33), (64, 48)])
def test_a_webp_is_decoded_as_by_pillow(pixels_of: Decode, options: Any, mode: str, size: Any) -> None:
    source = photograph(*size)
    if mode == "RGBA":
        source.putalpha(source.convert("L"))
    data = written(source, "WEBP", exact=True, **options)
    assert distance(pixels_of(data), as_pillow_reads(data)) <= 1


@pytest.mark.parametrize("opaque", [False, True])
@pytest.mark.parametrize("options", [{"lossless": True}, {"quality": 80}, {"allow_mixed": True}])
def test_an_animated_webp_shows_its_first_frame_as_by_pillow(
    pixels_of: Decode, options: Any, opaque: bool
) -> None:
    frames = []
    for place in range(3):
        frame = Image.new("RGBA", (120, 90), (0, 0, 0, 0))
        part = photograph(40, 30)
        part.putalpha(Image.new("L", part.size, 255) if opaque else part.convert("L"))
        frame.paste(part, (20 + 10 * place, 30))
        frames.append(frame)
    data = written(frames[0], "WEBP", save_all=True, append_images=frames[1:], duration=100, **options)
    ours, theirs = pixels_of(data), as_pillow_reads(data)
    if opaque:
        # Where the frame isn't, Pillow shows black, because none of the frames has alpha.
        assert (ours[:, :, 3] == 0).sum() >= 120 * 90 - 42 * 32
        theirs[ours[:, :, 3] == 0] = 0
    assert distance(ours, theirs) <= 1


@pytest.mark.parametrize("sampling", ["4:2:0", "4:2:2", "4:4:4", "4:0:0"])
@pytest.mark.parametrize("levels", ["full", "limited"])
@pytest.mark.parametrize("mode", ["RGB", "RGBA"])
@pytest.mark.parametrize("size", [(151, 97), (1, 1), (2, 3), (17, 1), (1, 33), (64, 48)])
def test_an_avif_is_decoded_as_by_pillow(
    pixels_of: Decode, sampling: str, levels: str, mode: str, size: Any
) -> None:
    source = photograph(*size)
    if mode == "RGBA":
        source.putalpha(source.convert("L"))
    data = written(source, "AVIF", subsampling=sampling, range=levels, quality=70, speed=10)
    assert distance(pixels_of(data), as_pillow_reads(data)) <= 2


@pytest.mark.parametrize("options", [{"quality": 20}, {"quality": 100}, {"tile_rows": 1, "tile_cols": 1}])
def test_an_avif_with_unusual_encoding_is_decoded_as_by_pillow(pixels_of: Decode, options: Any) -> None:
    data = written(photograph(300, 200), "AVIF", speed=10, **options)
    assert distance(pixels_of(data), as_pillow_reads(data)) <= 2


def test_premultiplied_alpha_of_an_avif_is_divided_as_by_pillow(pixels_of: Decode) -> None:
    source = photograph()
    # Near 0, a level of the colours becomes many.
    source.putalpha(source.convert("L").point(lambda level: 100 + level // 2))
    data = written(source, "AVIF", alpha_premultiplied=True, quality=90, speed=10)
    assert distance(pixels_of(data), as_pillow_reads(data)) <= 4


@pytest.mark.parametrize("sampling", ["4:2:0", "4:2:2", "4:4:4", "4:0:0"])
@pytest.mark.parametrize("levels", ["full", "limited"])
def test_thumbnails_of_a_large_avif_with_alpha_are_those_of_its_pixels(
    pixels_of: Decode, sampling: str, levels: str
) -> None:
    """Planes are reduced before they get their colours. Invisible pixels must not show."""
    width, height = 1001, 701
    source = np.array(photograph(width, height).convert("RGBA"))
    y, x = np.mgrid[0:height, 0:width]
    # Round holes with soft edges, over the loudest colour.
    source[:, :, 3] = (127 + 400 * np.sin(x / 23) * np.sin(y / 31)).clip(0, 255)
    source[source[:, :, 3] == 0] = (255, 0, 255, 0)
    data = written(Image.fromarray(source), "AVIF", subsampling=sampling, range=levels, quality=80, speed=10)
    whole = written(Image.open(io.BytesIO(data)), "PNG")
    for side in (250, 120, 60):
        ours, theirs = (on_black(pixels_of(file, side)) for file in (data, whole))
        assert psnr(ours, theirs) > 44, side


def test_the_first_picture_of_an_avif_sequence_is_shown_as_by_pillow(pixels_of: Decode) -> None:
    for mode in ("RGB", "RGBA"):
        frames = [photograph().rotate(turn).convert(mode) for turn in (0, 40, 80)]
        data = written(frames[0], "AVIF", save_all=True, append_images=frames[1:], duration=100, speed=10)
        assert distance(pixels_of(data), as_pillow_reads(data)) <= 2


def profile(name: str) -> bytes:
    return ImageCms.ImageCmsProfile(ImageCms.createProfile(name)).tobytes()


def test_an_srgb_profile_does_not_change_a_picture(pixels_of: Decode) -> None:
    plain = written(photograph(), "PNG")
    tagged = written(photograph(), "PNG", icc_profile=profile("sRGB"))
    assert distance(pixels_of(plain), pixels_of(tagged)) <= 1


def test_a_broken_profile_does_not_change_a_picture(pixels_of: Decode) -> None:
    plain = written(photograph(), "JPEG")
    tagged = written(photograph(), "JPEG", icc_profile=b"not a profile" * 20)
    assert distance(pixels_of(plain), pixels_of(tagged)) == 0


def test_a_downscaled_picture_is_close_to_pillows(pixels_of: Decode) -> None:
    """The filters differ, so the pixels differ, but not visibly."""
    source = photograph(1200, 900)
    data = written(source, "PNG")
    for side in (400, 128, 37):
        ours = pixels_of(data, side)
        theirs = source.resize((ours.shape[1], ours.shape[0]), Image.Resampling.LANCZOS, reducing_gap=None)
        assert psnr(ours[:, :, :3], np.array(theirs)) > 34, side
