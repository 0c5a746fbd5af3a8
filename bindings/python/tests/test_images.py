"""Thumbnails and their memory."""

import gc
import io
import pickle
import sys
from pathlib import Path

import numpy
import nuthatch
import pytest
from pictures import png
from PIL import Image as PILImage
from testserver import TestServer, answer, ok


@pytest.fixture
def url(server: TestServer) -> str:
    server.on("/a.png", ok(png(640, 480), "image/png"))
    return server.url("/a.png")


def test_a_thumbnail_has_all_attributes(server: TestServer, cache: nuthatch.Cache, url: str) -> None:
    image = cache.thumbnail(url, 64)
    assert (image.width, image.height, image.size, image.original_size) == (64, 48, (64, 48), (640, 480))
    assert (image.url, image.is_in_cache, image.source, image.is_partial) == (url, False, "network", False)
    assert repr(image) == f"<Image 64x48 {url}>"
    assert (server.requests("/a.png")[0].header("Accept") or "").startswith("image/jpeg")


def test_pixels_are_a_view_without_a_copy(cache: nuthatch.Cache, url: str) -> None:
    image = cache.thumbnail(url, 64)
    view = image.pixels
    assert (view.shape, view.format, view.readonly, view.c_contiguous) == ((48, 64, 4), "B", True, True)
    with pytest.raises(TypeError):
        view[0, 0, 0] = 1
    array = numpy.asarray(image)
    assert array.shape == (48, 64, 4) and not array.flags.writeable
    assert array.__array_interface__["data"][0] == numpy.asarray(image.pixels).__array_interface__["data"][0]
    assert array.tobytes() == bytes(view)
    if sys.version_info >= (3, 12):
        assert bytes(memoryview(image)) == bytes(view)


def test_pixels_stay_valid_after_image_and_cache(tmp_path: Path, url: str) -> None:
    with nuthatch.Cache(tmp_path / "c") as cache:
        image = cache.thumbnail(url, 64)
    view, array = image.pixels, numpy.asarray(image)
    before = bytes(view)
    del image
    gc.collect()
    junk = [bytearray(64 * 48 * 4) for _ in range(200)]
    assert bytes(view) == before == array.tobytes() and junk


def test_fit_and_enlarge_set_the_size(cache: nuthatch.Cache, url: str) -> None:
    assert cache.thumbnail(url, (100, 30)).size == (40, 30)
    assert cache.thumbnail(url, (100, 30), fit="cover").size == (100, 30)
    assert cache.thumbnail(url, (100, 30), fit="stretch").size == (100, 30)
    assert cache.thumbnail(url, 1000).size == (640, 480)
    assert cache.thumbnail(url, 1000, enlarge=True, scaling="fast").size == (1000, 750)
    response = cache.get(url)
    assert [response.image(size).width for size in (8, 16, 32)] == [8, 16, 32]


def test_an_encoded_image_decodes_to_the_same_pixels(cache: nuthatch.Cache, url: str, tmp_path: Path) -> None:
    image = cache.thumbnail(url, 64)
    image.save(tmp_path / "a.png")
    image.save(str(tmp_path / "b.JPG"), quality=95)
    again = PILImage.open(tmp_path / "a.png").convert("RGBA")
    assert again.tobytes() == bytes(image.pixels) == image.to_pil().tobytes()
    assert PILImage.open(tmp_path / "b.JPG").size == (64, 48)
    assert PILImage.open(io.BytesIO(image._repr_png_())).size == (64, 48)
    assert len(image.encode("png", small=True)) <= len(image.encode("png"))
    with pytest.raises(nuthatch.Invalid):
        image.save(tmp_path / "a.gif")
    with pytest.raises(nuthatch.Invalid):
        image.encode("gif")
    with pytest.raises(nuthatch.Invalid):
        image.encode("jpeg", quality=101)


def test_an_image_is_encoded_as_webp(server: TestServer, cache: nuthatch.Cache, tmp_path: Path) -> None:
    server.on("/a.png", ok(png(64, 48, mode="rgba"), "image/png"))
    image = cache.thumbnail(server.url("/a.png"), 64)
    image.save(tmp_path / "a.webp", lossless=True)
    assert PILImage.open(tmp_path / "a.webp").convert("RGBA").tobytes() == bytes(image.pixels)
    assert len(image.encode("webp", lossless=True, small=True)) <= len(image.encode("webp", lossless=True))
    lossy = PILImage.open(io.BytesIO(image.encode("webp"))).convert("RGBA")
    assert lossy.getchannel("A").tobytes() == image.to_pil().getchannel("A").tobytes()
    assert len(image.encode("webp", quality=20)) < len(image.encode("webp", quality=95))
    for format, wanted in (("png", {"lossless": True}), ("webp", {"lossless": True, "quality": 80})):
        with pytest.raises(nuthatch.Invalid, match="lossless"):
            image.encode(format, **wanted)
    with pytest.raises(nuthatch.Invalid):
        image.encode("webp", quality=0)


def gif(frames: int) -> bytes:
    pictures = [PILImage.new("P", (40, 30), number) for number in range(frames)]
    for picture in pictures:
        picture.putpalette(bytes(range(256)) * 3)
    file = io.BytesIO()
    pictures[0].save(file, "GIF", save_all=True, append_images=pictures[1:], loop=0)
    return file.getvalue()


def test_an_image_says_what_its_source_is(server: TestServer, tmp_path: Path) -> None:
    server.on("/a.png", ok(png(640, 480), "image/png"))
    server.on("/film.gif", ok(gif(5), "image/gif"))
    wanted = {"/a.png": ("png", False, 1, 8), "/film.gif": ("gif", True, 5, 8)}

    def told(image: nuthatch.Image) -> object:
        return image.format, image.is_animated, image.frame_count, image.depth

    for _ in range(2):
        with nuthatch.Cache(tmp_path / "c") as cache:
            for path, facts in wanted.items():
                for image in (cache.thumbnail(server.url(path), 32), cache.peek(server.url(path), 32)):
                    assert image and told(image) == facts and told(pickle.loads(pickle.dumps(image))) == facts


def test_a_pickle_of_an_earlier_version_says_nothing_of_the_source(cache: nuthatch.Cache, url: str) -> None:
    make, (kind, data, at, told), *_ = cache.thumbnail(url, 16).__reduce__()
    for name in ("format", "is_animated", "frame_count", "depth"):
        del told[name]
    image = make(kind, data, at, told)
    assert (image.format, image.is_animated, image.frame_count, image.depth) == (None, False, None, None)


def test_convert_returns_other_pixel_formats(server: TestServer, cache: nuthatch.Cache) -> None:
    source = PILImage.new("RGBA", (3, 2), (200, 100, 50, 128))
    source.putpixel((0, 0), (1, 2, 3, 255))
    file = io.BytesIO()
    source.save(file, "PNG")
    server.on("/a.png", ok(file.getvalue(), "image/png"))
    image = cache.thumbnail(server.url("/a.png"), 8)
    assert image.convert("rgba") == image.pixels
    straight, premultiplied = [50, 100, 200, 128], [25, 50, 100, 128]
    assert image.convert("bgra").tolist()[1][2] == straight
    assert image.convert("bgra_premultiplied").tolist()[1][2] == premultiplied
    assert image.convert("rgba_premultiplied").tolist()[1][2] == [100, 50, 25, 128]
    flat = PILImage.new("RGBA", (3, 2), "white")
    flat.alpha_composite(source)
    for format, mode in (("rgb", "RGB"), ("grey", "L")):
        made = image.convert(format)
        assert made.shape == ((2, 3, 3) if format == "rgb" else (2, 3))
        wanted = flat.convert(mode).tobytes()
        assert all(abs(one - other) <= 1 for one, other in zip(made.tobytes(), wanted))
    bgr = image.convert("bgr")
    assert bgr.tolist()[0][0] == [3, 2, 1]
    bgr[0, 0, 0] = 7  # a copy with its own memory
    assert image.convert("bgr")[0, 0, 0] == 3
    with pytest.raises(nuthatch.Invalid, match="premultiplied"):
        image.convert("cmyk")


def test_a_body_that_is_not_a_picture_raises_notanimage(server: TestServer, cache: nuthatch.Cache) -> None:
    server.on("/text", ok("hello", "image/png"))
    server.on("/tiff", ok(b"II*\0\x08\0\0\0" + bytes(40)))
    server.on("/404", answer(404, png(8, 8)))
    server.on("/cut", ok(png(64, 64)[:-200]))
    with pytest.raises(nuthatch.NotAnImage) as caught:
        cache.thumbnail(server.url("/text"), 64)
    assert (caught.value.code, caught.value.url) == ("not_an_image", server.url("/text"))
    with pytest.raises(nuthatch.UnsupportedFormat, match="tiff"):
        cache.thumbnail(server.url("/tiff"), 64)
    with pytest.raises(nuthatch.HTTPStatusError) as status:
        cache.thumbnail(server.url("/404"), 64)
    assert (status.value.code, status.value.status) == ("http", 404)
    with pytest.raises(nuthatch.Corrupt):
        cache.thumbnail(server.url("/cut"), 64)
    assert cache.thumbnail(server.url("/cut"), 64, allow_damaged=True).is_partial
    # After a pickle, the library has only the bytes. The message has no URL.
    copy = pickle.loads(pickle.dumps(cache.get(server.url("/text"))))
    with pytest.raises(nuthatch.NotAnImage, match=r"[^ :]$"):
        copy.image(8)


def test_image_limits_and_wrong_arguments_are_refused(
    server: TestServer, cache: nuthatch.Cache, url: str
) -> None:
    with pytest.raises(nuthatch.TooLarge) as caught:
        cache.thumbnail(url, 64, max_pixels=1000)
    assert caught.value.code == "too_many_pixels"
    before = server.count()
    site = cache.site(url)
    for size in (0, -1, 65536, 2**40, (1, 0), (1, 2, 3), 25.6, "256", "ab", None, [1]):
        for ask in (cache.thumbnail, cache.peek, site.thumbnail, site.peek):
            with pytest.raises(nuthatch.Invalid, match="size must be"):
                ask(url, size)  # type: ignore[operator]
    with pytest.raises(nuthatch.Invalid):
        cache.thumbnail(url, 64, fit="fill")
    assert server.count() == before


def test_max_pixels_of_a_cache_applies_to_bodies(
    server: TestServer, cache: nuthatch.Cache, tmp_path: Path, url: str
) -> None:
    with nuthatch.Cache(tmp_path / "strict", max_pixels=1000) as strict:
        # The second answer comes from memory.
        for response in (strict.get(url), strict.get(url)):
            with pytest.raises(nuthatch.TooLarge, match=r"640x480, more than max_pixels \(1000\)") as caught:
                response.image(64)
            assert caught.value.code == "too_many_pixels"
            assert response.image(64, max_pixels=640 * 480).size == (64, 48)
        assert strict.get(url, max_pixels=640 * 480).image(64).size == (64, 48)
    with pytest.raises(nuthatch.TooLarge):
        cache.get(url, max_pixels=1000).image(64)
    assert cache.get(url).image(64).size == (64, 48)


def test_any_type_of_whole_number_is_a_size(cache: nuthatch.Cache, url: str) -> None:
    class Whole:
        def __index__(self) -> int:
            return 64

    for size in (64, Whole(), (Whole(), 64), [64, 64]):
        assert cache.thumbnail(url, size).size == (64, 48)  # type: ignore[arg-type]
        assert cache.peek(url, size) is not None  # type: ignore[arg-type]


def test_the_memory_of_images_is_freed(cache: nuthatch.Cache, url: str) -> None:
    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

    response = cache.get(url)
    for _ in range(50):
        response.image(640)
    before = resident()
    for _ in range(300):
        response.image(640)
    # 300 leaked pictures would take 370 MB.
    assert resident() - before < 64 << 20
