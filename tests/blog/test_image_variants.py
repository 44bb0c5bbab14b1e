"""What is made of an image: upright, in sRGB, without metadata, no larger than it was; or why it is rejected."""

from errno import ENOSPC
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageCms

from blog.images import decoding, variants
from blog.images.decoding import Rejected
from tests.blog.made_images import is_near, make, open_file
from tests.image_files import ORIENTATION, SECRET, draw, encode, make_gif, make_jpeg, make_png


def test_files_of_a_jpeg(tmp_path: Path) -> None:
    result = make(make_jpeg(700, 350), tmp_path)

    assert (result.width, result.height, result.content_type, result.has_alpha) == (700, 350, "image/jpeg", False)
    assert sorted(result.files) == ["320.jpg", "320.webp", "640.jpg", "640.webp", "700.jpg", "700.webp"]
    assert result.files[0] == "700.jpg"
    assert sorted(path.name for path in (tmp_path / "files").iterdir()) == sorted(result.files)
    with open_file(tmp_path, "320.webp") as image:
        assert image.size == (320, 160)
    assert result.size == (tmp_path / "files/700.jpg").stat().st_size
    assert len(result.thumbhash) <= 36


def test_no_file_has_metadata(tmp_path: Path) -> None:
    content = make_jpeg(orientation=6)
    assert SECRET.encode() in content

    for name in make(content, tmp_path, with_avif=True).files:
        written = (tmp_path / "files" / name).read_bytes()
        assert SECRET.encode() not in written
        with open_file(tmp_path, name) as image:
            assert not image.getexif()
            assert not {"exif", "xmp", "icc_profile", "comment"} & set(image.info)


def test_image_is_upright(tmp_path: Path) -> None:
    for orientation in range(1, 9):
        upright = draw(60, 40)
        turned = {
            1: upright,
            2: upright.transpose(Image.Transpose.FLIP_LEFT_RIGHT),
            3: upright.transpose(Image.Transpose.ROTATE_180),
            4: upright.transpose(Image.Transpose.FLIP_TOP_BOTTOM),
            5: upright.transpose(Image.Transpose.TRANSPOSE),
            6: upright.transpose(Image.Transpose.ROTATE_90),
            7: upright.transpose(Image.Transpose.TRANSVERSE),
            8: upright.transpose(Image.Transpose.ROTATE_270),
        }[orientation]
        exif = Image.Exif()
        exif[ORIENTATION] = orientation

        make(encode(turned, quality=95, exif=exif), tmp_path)

        with open_file(tmp_path, "60.jpg") as image:
            assert image.size == (60, 40)
            for place in ((3, 3), (56, 3), (3, 36)):
                assert is_near(image.getpixel(place), upright.getpixel(place))


def test_transparency_stays(tmp_path: Path) -> None:
    result = make(make_png(), tmp_path)

    assert result.has_alpha
    assert sorted(result.files) == ["320.png", "320.webp", "400.png", "400.webp"]
    with open_file(tmp_path, "320.webp") as image:
        assert image.convert("RGBA").getpixel((0, 0))[3] < 10


def test_opaque_image_with_an_alpha_channel_has_no_transparency(tmp_path: Path) -> None:
    result = make(encode(draw(40, 20).convert("RGBA"), "PNG"), tmp_path)

    assert not result.has_alpha
    assert sorted(result.files) == ["40.jpg", "40.png", "40.webp"]


def test_image_of_each_mode_has_the_same_colors(tmp_path: Path) -> None:
    for mode in ["L", "1", "P", "LA", "CMYK", "I;16", "RGBA", "YCbCr"]:
        expected: Any = (192, 192, 192)
        if mode == "I;16":
            image = Image.new("I;16", (40, 20), 0xC000)
        else:
            image = Image.new("RGB", (40, 20), (192, 192, 192)).convert(mode)
            expected = image.convert("RGB").getpixel((20, 10))
        kind = "JPEG" if mode in ("CMYK", "YCbCr") else "PNG"

        result = make(encode(image, kind), tmp_path)

        with open_file(tmp_path, f"40.{'jpg' if kind == 'JPEG' else 'png'}") as written:
            assert result.width == 40
            color = written.convert("RGB").getpixel((20, 10))
            assert mode == "1" or is_near(color, expected, 12)


def test_colors_of_another_profile_are_converted(tmp_path: Path) -> None:
    lab = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    damaged = lab[:200]

    for profile in (lab, damaged, b"x"):
        make(encode(draw(40, 20), "PNG", icc_profile=profile), tmp_path)
        with open_file(tmp_path, "40.png") as image:
            assert is_near(image.getpixel((20, 10)), draw(40, 20).getpixel((20, 10)))


def test_bad_file_is_rejected_with_the_reason(tmp_path: Path) -> None:
    for content, reason in [
        (b"", "is no image"),
        (b"<svg/>", "is no image"),
        (make_jpeg()[:3000], "damaged"),
        (make_png()[:500], "damaged"),
        (make_jpeg()[:-600], "truncated"),
        (b"\xff\xd8\xff" + b"<script>alert(1)</script>" * 20, "is no image"),
        (make_gif(101, 8, 8), r"At most 100 frames are allowed \(got 101\)"),
    ]:
        with pytest.raises(Rejected, match=reason):
            make(content, tmp_path)


@pytest.mark.parametrize(
    ("limit", "value", "reason"),
    [
        ("MAX_SIDE", 399, r"At most 399 pixels a side are allowed \(got 400 x 200\)"),
        ("MAX_PIXELS", 79_999, r"megapixels are allowed, in all frames together \(got 0\.1\)"),
    ],
)
def test_large_image_is_rejected_before_it_is_decoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, value: int, reason: str
) -> None:
    monkeypatch.setattr(decoding, limit, value)
    monkeypatch.setattr(decoding, "read_frames", None)

    with pytest.raises(Rejected, match=reason):
        make(make_jpeg(), tmp_path)


def test_file_with_something_behind_its_end_keeps_only_the_image(tmp_path: Path) -> None:
    make(make_jpeg() + b"<script>alert(1)</script>", tmp_path)

    assert b"script" not in (tmp_path / "files/400.jpg").read_bytes()


def test_narrow_image_keeps_a_height_of_one_pixel(tmp_path: Path) -> None:
    make(encode(Image.new("RGB", (2000, 1))), tmp_path)

    with open_file(tmp_path, "320.webp") as image:
        assert image.size == (320, 1)


def test_tall_image_has_variants_that_webp_allows(tmp_path: Path) -> None:
    result = make(encode(Image.new("RGB", (8, 16_384)), "PNG"), tmp_path)

    assert (result.width, result.height) == (8, 16_384)
    with open_file(tmp_path, "8.webp") as image:
        assert image.size == (8, 16_383)


def test_animation_that_needs_too_much_memory_is_rejected() -> None:
    for size, number, reason in [
        ((5000, 3841), 2, "A WebP of 2 frames may have at most 19.2 megapixels, because decoding it takes much memory"),
        ((1000, 1000), 94, "A WebP of 94 frames may have at most 1.0 megapixels"),
    ]:
        with pytest.raises(Rejected, match=reason):
            decoding.require_memory(*size, number)
        decoding.require_memory(size[0], size[1] - 20, number)


@pytest.mark.parametrize("options", [{}, {"lossless": True}])
@pytest.mark.parametrize("mode", ["RGB", "RGBA"])
def test_large_webp_has_the_pixels_that_pillow_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, options: dict[str, Any]
) -> None:
    monkeypatch.setattr(decoding, "MAX_CANVASES", 0)
    image = draw(61, 40).convert(mode)
    if mode == "RGBA":
        image.putalpha(100)
    source = tmp_path / "source"
    source.write_bytes(encode(image, "WEBP", **options))

    _, frames = decoding.decode(source)

    with Image.open(source) as expected:
        assert frames.images[0].convert(mode).tobytes() == expected.convert(mode).tobytes()


@pytest.mark.parametrize(("kind", "mode", "name"), [("AVIF", "RGB", "60.jpg"), ("WEBP", "RGBA", "60.png")])
def test_large_original_has_a_format_whose_encoder_needs_less_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, mode: str, name: str
) -> None:
    monkeypatch.setattr(variants, "MAX_ENCODED", 60 * 40 - 1)
    content = encode(Image.new(mode, (60, 40)), kind)

    assert make(content, tmp_path).files[0] == name


@pytest.mark.parametrize("error", [RuntimeError("codec"), ZeroDivisionError(), OSError("encoder error -2")])
def test_error_of_an_encoder_is_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise error

    content = make_jpeg()
    monkeypatch.setattr(Image.Image, "save", fail)

    with pytest.raises(Rejected, match="The image cannot be converted: "):
        make(content, tmp_path)


def test_full_disk_is_no_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OSError(ENOSPC, "No space left on device")

    content = make_jpeg()
    monkeypatch.setattr(Image.Image, "save", fail)

    with pytest.raises(OSError, match="No space left"):
        make(content, tmp_path)
