"""Unusual pictures from other projects are decoded as in references, at full size."""

import io
import struct
from pathlib import Path
from typing import Any, Callable

import browser
import numpy as np
import nuthatch
import pytest
from compare import distance
from PIL import Image, ImageCms, ImageOps
from reference_png import decode as decode_png

Decode = Callable[..., Any]


def files(corpus: Path, folder: str, pattern: str = "*") -> list:
    found = sorted((corpus / folder).glob(pattern))
    assert found, f"nothing in {folder}"
    return found


def test_pngsuite_is_decoded_exactly(pixels_of: Decode, corpus: Path) -> None:
    far = {}
    for path in files(corpus, "pngsuite", "*.png"):
        if not path.name.startswith("x"):
            data = path.read_bytes()
            apart = distance(pixels_of(data), decode_png(data))
            if apart > 2:
                far[path.name] = apart
    assert far == {}


def test_damaged_pictures_of_pngsuite_are_refused(image_of: Decode, corpus: Path) -> None:
    taken = []
    for path in files(corpus, "pngsuite", "x*.png"):
        try:
            image_of(path.read_bytes())
            taken.append(path.name)
        except nuthatch.Error as error:
            assert error.code in ("corrupt", "truncated", "not_an_image", "unsupported_format"), (
                path.name,
                error,
            )
    assert taken == []


def test_pictures_with_exif_orientations_are_upright_and_alike(image_of: Decode, corpus: Path) -> None:
    for kind in ("Landscape", "Portrait"):
        images = [
            image_of(path.read_bytes(), 300) for path in files(corpus, "exif-orientation", f"{kind}_*.jpg")
        ]
        assert len(images) == 9
        assert len({image.size for image in images}) == 1
        first = np.array(images[0]).astype(float)
        assert (first.shape[1] > first.shape[0]) == (kind == "Landscape")
        for image in images[1:]:
            # Each was compressed separately, and shows the number of its orientation.
            assert np.abs(np.array(image) - first).mean() < 6


def without_profile(jpeg: bytes) -> bytes:
    """Returns a JPEG without its ICC profile: the references ignore it."""
    kept, place = bytearray(jpeg[:2]), 2
    while jpeg[place + 1] != 0xDA:
        end = place + 2 + int.from_bytes(jpeg[place + 2 : place + 4], "big")
        if jpeg[place + 1] != 0xE2 or not jpeg[place + 4 :].startswith(b"ICC_PROFILE"):
            kept += jpeg[place:end]
        place = end
    return bytes(kept + jpeg[place:])


def test_jpegs_are_decoded_as_their_references(pixels_of: Decode, corpus: Path) -> None:
    far, refused = {}, {}
    for path in files(corpus, "jpeg-decoder-reftest", "*.jpg"):
        reference = path.with_suffix(".png")
        if not reference.exists():
            continue
        try:
            data = path.read_bytes()
            ours = pixels_of(without_profile(data) if b"ICC_PROFILE" in data else data)
        except nuthatch.UnsupportedFormat as error:
            refused[path.name] = str(error)
            continue
        apart = distance(ours, decode_png(reference.read_bytes()))
        if apart > 3:
            far[path.name] = apart
    assert far == {}
    assert all("lossless" in name or "12" in reason for name, reason in refused.items()), refused


def test_webps_are_decoded_as_by_pillow(pixels_of: Decode, corpus: Path) -> None:
    far, refused = {}, {}
    for path in files(corpus, "webp", "*.webp") + files(corpus, "gif-bmp-ico", "*.webp"):
        data = path.read_bytes()
        try:
            wanted = np.array(Image.open(io.BytesIO(data)).convert("RGBA"))
        except OSError as error:
            refused[path.name] = str(error)
            continue
        apart = distance(pixels_of(data), wanted)
        if apart > 2:
            far[path.name] = apart
    assert (far, refused) == ({}, {})


#: Of these, grain is left out; Pillow adds it.
GRAINY = ("filmgrain", "Chimera-AV1-10bit", "Chimera_10bit_cropped")


def is_hdr(avif: bytes) -> bool:
    """Whether the box `colr` of a file names PQ or HLG."""
    place = avif.find(b"colrnclx")
    return place >= 0 and int.from_bytes(avif[place + 10 : place + 12], "big") in (16, 18)


def shown(image: Image.Image, avif: bytes) -> np.ndarray:
    """Returns the pixels upright. Pillow ignores `clap`, so what it hides is cut off here."""
    exif = image.getexif()
    place = avif.find(b"clap\0") + 4
    if place > 4:
        numbers = struct.unpack(">IIIIiIiI", avif[place : place + 32])
        width, height = numbers[0] // numbers[1], numbers[2] // numbers[3]
        left = numbers[4] / numbers[5] + (image.width - width) / 2
        top = numbers[6] / numbers[7] + (image.height - height) / 2
        image = image.crop((int(left), int(top), int(left) + width, int(top) + height))
    turned = image.copy()
    turned.getexif()[0x0112] = exif.get(0x0112, 1)
    return np.array(ImageOps.exif_transpose(turned).convert("RGBA"))


def test_avifs_of_standard_range_are_decoded_as_by_pillow(pixels_of: Decode, corpus: Path) -> None:
    far, refused = {}, {}
    for path in files(corpus, "avif", "*.avif"):
        data = path.read_bytes()
        if is_hdr(data) or any(name in path.name for name in GRAINY):
            continue
        try:
            wanted = shown(Image.open(io.BytesIO(data)), data)
        except OSError as error:
            refused[path.name] = str(error)
            continue
        apart = distance(pixels_of(data), wanted)
        if apart > 2:
            far[path.name] = apart
    assert (far, refused) == ({}, {})


def test_avifs_of_high_range_are_those_of_chromium(pixels_of: Decode, corpus: Path, tmp_path: Path) -> None:
    ours, refused = {}, {}
    for path in files(corpus, "avif", "*.avif"):
        data = path.read_bytes()
        if is_hdr(data):
            try:
                ours[path] = browser.on_white(pixels_of(data)[:512, :512])
            except nuthatch.UnsupportedFormat as error:
                refused[path.name] = str(error)
    # Neither Pillow nor Chromium decodes colours of constant luminance.
    assert all("of the matrix 10" in reason for reason in refused.values()), refused
    if browser.PATH is None:
        pytest.skip("Chromium isn't installed")
    # The upper left part, at full size.
    sizes = {path: (pixels.shape[1], pixels.shape[0]) for path, pixels in ours.items()}
    theirs = browser.shown(sizes, tmp_path, 512, style="object-fit:none;object-position:0 0")
    found = {path.name: browser.decibels(pixels, theirs[path]) for path, pixels in ours.items()}
    print("\n".join(f"{name}: {value:.1f} dB" for name, value in found.items()))
    assert {name: value for name, value in found.items() if value < 30} == {}


def test_a_cmyk_jpeg_is_converted_by_its_profile(pixels_of: Decode, corpus: Path) -> None:
    data = (corpus / "jpeg-decoder-reftest" / "ycck.jpg").read_bytes()
    inks = Image.open(io.BytesIO(data))
    # Pillow returns Adobe's inverted inks correctly.
    source = ImageCms.ImageCmsProfile(io.BytesIO(inks.info["icc_profile"]))
    wanted = ImageCms.profileToProfile(inks, source, ImageCms.createProfile("sRGB"), outputMode="RGB")
    assert distance(pixels_of(data), np.array(wanted.convert("RGBA"))) <= 3


def shown_by_the_first_frame(image: Image.Image) -> np.ndarray:
    """Returns which pixels of a GIF's canvas the first frame covers. Pillow fills the others with a colour."""
    left, top, right, bottom = image.tile[0][1]
    covered = np.zeros((image.height, image.width), bool)
    covered[top:bottom, left:right] = True
    return covered


def test_gifs_bmps_and_icons_are_decoded_as_by_pillow(pixels_of: Decode, corpus: Path) -> None:
    far, refused = {}, {}
    for path in files(corpus, "gif-bmp-ico"):
        if path.suffix not in (".gif", ".bmp", ".ico"):
            continue
        data = path.read_bytes()
        try:
            image = Image.open(io.BytesIO(data))
            covered = shown_by_the_first_frame(image) if image.format == "GIF" else None
            wanted = np.array(image.convert("RGBA"))
        except OSError:
            with pytest.raises(nuthatch.Error) as error:
                pixels_of(data)
            refused[path.name] = error.value.code
            continue
        ours = pixels_of(data)
        if covered is not None:
            assert not ours[~covered].any(), path.name
            wanted[~covered] = 0
        apart = distance(ours, wanted)
        if apart > 2:
            far[path.name] = apart
    assert far == {}
    assert set(refused.values()) <= {"corrupt", "truncated", "unsupported_format"}, refused


def test_no_picture_of_the_corpus_crashes_or_hangs_the_decoder(image_of: Decode, corpus: Path) -> None:
    words = {"not_an_image", "unsupported_format", "corrupt", "truncated", "too_large", "too_many_pixels"}
    for path in sorted(corpus.rglob("*")):
        if path.is_file():
            try:
                image = image_of(path.read_bytes(), 128)
                assert 1 <= image.width <= 128 and 1 <= image.height <= 128
                assert len(bytes(image.pixels)) == image.width * image.height * 4
            except nuthatch.Error as error:
                assert error.code in words, (path.name, error)
