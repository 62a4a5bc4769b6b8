"""Chunks that are images, by the codecs of the Python package imagecodecs. Images are written by
Pillow and GDAL, and Pillow and GDAL's own drivers say what they hold."""
import base64
import io
import json
import subprocess

import numpy as np
import pytest
from bad_stores import assert_fails, message_of
from foreign_chunks import (
    PLACES,
    blocks_of,
    content,
    decode,
    file_of,
    memory_raster,
    only_block,
    write_chunk,
    write_tiff,
)
from osgeo import gdal
from PIL import Image
from stores import write_json

Y, X = np.mgrid[0:33, 0:47]
RGB = np.stack([X * 5, Y * 7, (X + Y) * 3], -1).astype("u1")
GRAY = RGB[..., 0].copy()
RGBA = np.concatenate([RGB, GRAY[..., np.newaxis]], -1)
GRAY16 = GRAY.astype("<u2") * 257 + 3
NOISE = np.random.default_rng(1).integers(0, 2, GRAY.shape, "u1")
PALETTE = Image.fromarray(RGB).quantize(16)


def image(data, kind, **options):
    file = io.BytesIO()
    (data if isinstance(data, Image.Image) else Image.fromarray(data)).save(file, kind, **options)
    return file.getvalue()


def opened(chunk, mode=None):
    found = Image.open(io.BytesIO(chunk))
    return np.asarray(found if mode is None else found.convert(mode))


def needs(driver):
    if gdal.GetDriverByName(driver) is None:
        pytest.skip(f"GDAL has no driver {driver}")


def images():
    yield "jpeg", image(RGB, "JPEG"), {}, None
    yield "jpeg", image(RGB, "JPEG", subsampling=0, progressive=True), {}, None
    yield "jpeg", image(GRAY, "JPEG"), {}, None
    cmyk = image(Image.fromarray(RGB).convert("CMYK"), "JPEG")
    yield "jpeg", cmyk, {}, 255 - opened(cmyk)  # Pillow inverts Adobe's
    for data in (RGB, RGBA, GRAY, GRAY16, np.stack([GRAY, 255 - GRAY], -1)):
        yield "png", image(data, "PNG"), {}, data
        yield "spng", image(data, "PNG"), {"level": 3}, data
    yield "png", image(PALETTE, "PNG"), {}, np.asarray(PALETTE.convert("RGB"))
    transparent = image(PALETTE, "PNG", transparency=3)
    yield "png", transparent, {}, opened(transparent, "RGBA")
    yield "png", image(NOISE == 1, "PNG"), {}, NOISE * 255
    yield "gif", image(PALETTE, "GIF"), {}, None
    yield "gif", image(Image.fromarray(GRAY).quantize(64), "GIF", interlace=True), {}, None
    yield "bmp", image(RGB, "BMP"), {}, RGB
    yield "bmp", image(GRAY, "BMP"), {}, GRAY
    yield "bmp", image(GRAY, "BMP"), {"asrgb": True}, np.stack([GRAY] * 3, -1)
    yield "bmp", image(PALETTE, "BMP"), {}, np.asarray(PALETTE.convert("RGB"))
    for data in (RGB, RGBA):
        yield "webp", image(data, "WEBP"), {}, None
        lossless = image(data, "WEBP", lossless=True, exact=True)
        yield "webp", lossless, {"level": -1, "hasalpha": None}, data
        opaque = np.concatenate([RGB, np.full((*GRAY.shape, 1), 255, "u1")], -1)
        yield "webp", lossless, {"hasalpha": True}, RGBA if data is RGBA else opaque
        yield "webp", lossless, {"hasalpha": False}, RGB


@pytest.mark.parametrize("place", PLACES)
def test_images(tmp_path, place):
    for index, (name, chunk, options, expected) in enumerate(images()):
        if expected is None:
            expected = opened(chunk)
        values = decode(tmp_path / str(index), chunk, (f"imagecodecs_{name}", options),
                        list(expected.shape), expected.dtype, place)
        np.testing.assert_array_equal(values, expected, f"{index}: {name}")
    assert not gdal.ReadDirRecursive("/vsimem/")


@pytest.mark.parametrize("data", [RGB, RGBA, GRAY, GRAY16, GRAY16.astype("<i2") - 300],
                         ids=lambda data: f"{data.dtype}-{data.shape[-1]}")
@pytest.mark.parametrize("kind, driver, options", [
    ("jpeg2k", "JP2OpenJPEG", ["REVERSIBLE=YES", "QUALITY=100"]),
    ("jpeg2k", "JP2OpenJPEG", ["REVERSIBLE=YES", "QUALITY=100", "CODEC=J2K"]),
    ("jpegxl", "JPEGXL", ["LOSSLESS=YES"]),
])
def test_lossless_images(tmp_path, data, kind, driver, options):
    needs(driver)
    if kind == "jpegxl" and data.dtype == "i2":
        pytest.skip("JPEG XL has no signed integers")
    chunk = file_of(data, driver, *options)
    values = decode(tmp_path, chunk, (f"imagecodecs_{kind}", {}), list(data.shape), data.dtype)
    np.testing.assert_array_equal(values, data)


def test_images_are_reshaped(tmp_path):
    chunk = image(RGB, "PNG")
    for index, shape in enumerate(([1, 33, 47, 3], [33, 141], [33 * 47 * 3], [1, 33, 1, 47, 3])):
        values = decode(tmp_path / str(index), chunk, ("imagecodecs_png", {}), shape)
        np.testing.assert_array_equal(values, RGB.reshape(shape))


def test_colours_of_jpeg(tmp_path):
    chunk = image(RGB, "JPEG")
    found = Image.open(io.BytesIO(chunk))
    found.draft("YCbCr", found.size)
    ycbcr = np.asarray(found)
    cases = [({"colorspace_data": "YCBCR"}, ycbcr),
             ({"colorspace_jpeg": 2, "colorspace_data": 2}, ycbcr),
             ({"colorspace_jpeg": "ycbcr", "colorspace_data": "rgb"}, opened(chunk)),
             ({"colorspace_jpeg": 0, "colorspace_data": None}, opened(chunk))]
    for index, (options, expected) in enumerate(cases):
        values = decode(tmp_path / str(index), chunk, ("imagecodecs_jpeg", options), [33, 47, 3])
        np.testing.assert_array_equal(values, expected, str(options))
    # Without any statement, the components' names are one.
    bare = chunk[:2] + chunk[20:]
    assert b"JFIF" in chunk[:20] and b"JFIF" not in bare
    values = decode(tmp_path / "bare", bare, ("imagecodecs_jpeg", {}), [33, 47, 3])
    np.testing.assert_array_equal(values, opened(chunk))


# --- TIFF compressions, and references to parts of TIFFs -----------------------------------------

@pytest.mark.parametrize("compression", ["LERC", "LERC_DEFLATE", "LERC_ZSTD"])
def test_lerc(tmp_path, compression):
    if compression not in gdal.GetDriverByName("GTiff").GetMetadataItem("DMD_CREATIONOPTIONLIST"):
        pytest.skip(f"GTiff lacks {compression}")
    floats = GRAY.astype("<f4") / 7
    for data in (GRAY, GRAY16, GRAY16.astype("<i2") - 300, GRAY16.astype("<i4") * 70000, floats,
                 floats.astype("<f8"), RGB, RGBA):
        chunk = only_block(write_tiff(tmp_path / "a.tif", data, "COMPRESS=" + compression,
                                      "ALPHA=NO"))
        folder = tmp_path / f"{data.dtype}{data.ndim}{data.shape[-1]}"
        values = decode(folder, chunk, ("imagecodecs_lerc", {}), list(data.shape), data.dtype)
        np.testing.assert_array_equal(values, data)


def test_masked_pixels_of_lerc(tmp_path):
    """The library leaves them 0."""
    floats = GRAY.astype("<f4") / 7
    floats[3:9, 5:20] = np.nan
    chunk = only_block(write_tiff(tmp_path / "a.tif", floats, "COMPRESS=LERC"))
    values = decode(tmp_path / "floats", chunk, ("imagecodecs_lerc", {}), [33, 47], "f4")
    np.testing.assert_array_equal(values, np.nan_to_num(floats))
    masked = RGBA.copy()
    masked[..., 3] = np.where(GRAY > 100, 255, 0)
    chunk = only_block(write_tiff(tmp_path / "b.tif", masked, "COMPRESS=LERC", "ALPHA=YES"))
    values = decode(tmp_path / "bytes", chunk, ("imagecodecs_lerc", {}), [33, 47, 3])
    np.testing.assert_array_equal(values, np.where(GRAY[..., np.newaxis] > 100, RGB, 0))


@pytest.mark.parametrize("name", ["ccittrle", "ccittfax3", "ccittfax4"])
def test_fax(tmp_path, name):
    path = write_tiff(tmp_path / "a.tif", NOISE, "COMPRESS=" + name.upper(), "NBITS=1")
    chunk = only_block(path)
    codec = f"imagecodecs_{name}"
    np.testing.assert_array_equal(decode(tmp_path / "a", chunk, (codec, {}), [33, 47]), NOISE)
    values = decode(tmp_path / "b", chunk, (codec, {"height": 33, "width": 47}), [1, 33, 47, 1],
                    "bool")
    np.testing.assert_array_equal(values.ravel(), NOISE.ravel())
    message = message_of(decode, tmp_path / "c", chunk[:len(chunk) // 2], (codec, {}), [33, 47])
    assert_fails(message, "chunk 0.0: " + codec, "cannot be decoded")


@pytest.mark.parametrize("photometric", ["RGB", "YCBCR", "MINISBLACK"])
def test_references_to_a_cog(tmp_path, photometric):
    """JPEG tiles, whose tables the TIFF has once. The reference tells the colour space."""
    data = np.random.default_rng(2).integers(0, 255, (9, 13, 3)).repeat(40, 0).repeat(40, 1)
    data = data.astype("u1") if photometric != "MINISBLACK" else data[..., 0].astype("u1")
    tiff = tmp_path / "a.tif"
    gdal.GetDriverByName("GTiff").CreateCopy(str(tiff), memory_raster(data), options=[
        "TILED=YES", "BLOCKXSIZE=64", "BLOCKYSIZE=64", "COMPRESS=JPEG", "INTERLEAVE=PIXEL",
        f"PHOTOMETRIC={photometric}"])
    raster = gdal.Open(str(tiff))
    tables = bytes.fromhex(raster.GetRasterBand(1).GetMetadataItem("JPEGTABLES", "TIFF"))
    assert tables[:2] == b"\xff\xd8" and tables[-2:] == b"\xff\xd9"
    colours = {"RGB": {"colorspace_jpeg": 2, "colorspace_data": 2},
               "YCBCR": {"colorspace_data": 2}, "MINISBLACK": {}}[photometric]
    samples = list(data.shape[2:])
    refs = {".zgroup": '{"zarr_format": 2}', "v/.zarray": json.dumps({
        "zarr_format": 2, "shape": data.shape, "chunks": [64, 64, *samples], "dtype": "|u1",
        "order": "C", "fill_value": 0, "filters": None, "compressor": {
            "id": "imagecodecs_jpeg", "tables": base64.b64encode(tables).decode(), "header": None,
            "bitspersample": 8, **colours}})}
    for row, column, offset, size in blocks_of(tiff):
        refs[f"v/{row}.{column}" + ".0" * len(samples)] = ["a.tif", offset, size]
    write_json(tmp_path / "refs.json", {"version": 1, "refs": refs})

    expected = gdal.Open(str(tiff)).ReadAsArray().reshape(-1, *data.shape[:2])
    if samples:
        root = gdal.OpenEx(str(tmp_path / "refs.json"), gdal.OF_MULTIDIM_RASTER).GetRootGroup()
        values = root.OpenMDArray("v").ReadAsArray().transpose(2, 0, 1)
    else:
        copy = str(tmp_path / "copy.tif")
        subprocess.run(["gdal_translate", "-q", str(tmp_path / "refs.json"), copy], check=True)
        values = gdal.Open(copy).ReadAsArray()[np.newaxis]
    np.testing.assert_array_equal(values, expected)


def test_many_images_on_many_threads(tmp_path, monkeypatch):
    monkeypatch.setenv("GDAL_NUM_THREADS", "8")
    parts = [np.roll(RGB, index, 0) for index in range(40)]
    refs = {".zgroup": '{"zarr_format": 2}', "v/.zarray": json.dumps({
        "zarr_format": 2, "shape": [40, 33, 47, 3], "chunks": [1, 33, 47, 3], "dtype": "|u1",
        "order": "C", "fill_value": 0, "filters": None, "compressor": {"id": "imagecodecs_png"}})}
    for index, part in enumerate(parts):
        (tmp_path / f"{index}.png").write_bytes(image(part, "PNG"))
        refs[f"v/{index}.0.0.0"] = [f"{index}.png"]
    write_json(tmp_path / "refs.json", {"version": 1, "refs": refs})
    root = gdal.OpenEx(str(tmp_path / "refs.json"), gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    np.testing.assert_array_equal(root.OpenMDArray("v").ReadAsArray(), parts)
    assert not gdal.ReadDirRecursive("/vsimem/")


# --- Wrong chunks --------------------------------------------------------------------------------

def wrong_images():
    jpeg, png, gif = image(RGB, "JPEG"), image(RGB, "PNG"), image(PALETTE, "GIF")
    for name, chunk in (("jpeg", jpeg), ("png", png), ("gif", gif), ("bmp", image(RGB, "BMP")),
                        ("webp", image(RGB, "WEBP"))):
        shape = [33, 47] if name == "gif" else [33, 47, 3]
        yield f"{name} truncated", name, {}, chunk[:len(chunk) // 2], shape, "u1", ""
        yield f"{name} smaller", name, {}, chunk, [34, *shape[1:]], "u1", "chunk has 34 x 47|"
        yield f"{name} larger", name, {}, chunk, [2, 2], "u1", "chunk has 2 x 2|more than the chunk"
        yield f"{name} type", name, {}, chunk, shape, "i2", "holds Byte where the chunk holds int16"
        for nothing in (b"", b"<VRTDataset rasterXSize='1'/>", b"/vsicurl/http://localhost/a.png",
                        b"\x89PNG\r\n\x1a\n" if name != "png" else jpeg):
            yield f"{name} {nothing[:9]}", name, {}, nothing, shape, "u1", ""
    damaged = bytearray(jpeg)
    middle = len(jpeg) - 120
    damaged[middle:middle + 40] = b"\xff\xd0" * 20
    yield "jpeg damaged", "jpeg", {}, bytes(damaged), [33, 47, 3], "u1", "cannot be decoded"
    yield "tables", "jpeg", {"tables": "!"}, jpeg, [33, 47, 3], "u1", '"tables" is not base64'
    yield "no tables", "jpeg", {"tables": "AAAAAAAA"}, jpeg, [33, 47, 3], "u1", "abbreviated"
    yield "colours", "jpeg", {"colorspace_jpeg": 9}, jpeg, [33, 47, 3], "u1", "not a colour space"
    yield "components", "jpeg", {"colorspace_jpeg": 1}, jpeg, [33, 47, 3], "u1", "3 components"
    yield "to gray", "jpeg", {"colorspace_data": 1}, jpeg, [33, 47], "u1", "conversion of colours"
    frames = image(Image.fromarray(GRAY), "GIF", save_all=True,
                   append_images=[Image.fromarray(255 - GRAY)])
    yield "frames", "gif", {}, frames, [33, 47], "u1", "several images"
    yield "palette", "png", {}, image(PALETTE, "PNG"), [33, 47], "u1", "chunk has 33 x 47"
    yield "alpha", "webp", {}, image(RGBA, "WEBP"), [33, 47, 3], "u1", "holds 33 x 47 x 4"
    hole = image(Image.fromarray(GRAY), "PNG", transparency=5)
    yield "transparent colour", "png", {}, hole, [33, 47], "u1", "transparent colour"
    yield "index", "webp", {"index": 2}, b"", [33, 47, 3], "u1", '"index" is 2'
    yield "big-endian", "png", {}, image(GRAY16, "PNG"), [33, 47], ">u2", "this byte order"
    for nothing in (b"", b"Lerc2 ", b"Lerc2 \x04\0\0\0" + bytes(40), b"x\x9c", b"CntZImage " * 9):
        yield f"lerc {nothing[:12]}", "lerc", {}, nothing, [33, 47], "f4", ""
    yield "fax", "ccittfax4", {}, b"", [33, 47], "u1", "the chunk is empty"
    yield "width of a fax", "ccittfax4", {}, b"a", [3, 33, 47], "u1", "width and height"


@pytest.mark.parametrize("name, options, chunk, shape, dtype, problem",
                         [case[1:] for case in wrong_images()],
                         ids=[case[0] for case in wrong_images()])
def test_wrong_images(tmp_path, name, options, chunk, shape, dtype, problem):
    message = message_of(decode, tmp_path, chunk, (f"imagecodecs_{name}", options), shape, dtype)
    assert_fails(message, f"imagecodecs_{name}", problem)
    assert "/vsimem/" not in message
    assert not gdal.ReadDirRecursive("/vsimem/")


def test_chunks_name_no_files(tmp_path):
    """Chunks are opened by their own driver alone, whatever they say."""
    secret = tmp_path / "secret.tif"
    secret.write_bytes(file_of(GRAY, "GTiff"))
    vrt = tmp_path / "a.vrt"
    gdal.Translate(str(vrt), str(secret), format="VRT")
    for name in ("jpeg", "jpeg2k", "png", "webp", "gif", "bmp", "lerc", "tiff", "ccittfax4"):
        message = message_of(decode, tmp_path / name, vrt.read_bytes(),
                             (f"imagecodecs_{name}", {}), [33, 47])
        assert_fails(message, f"imagecodecs_{name}: ")


def test_a_missing_driver_is_named(tmp_path):
    for name, driver in (("jpeg", "JPEG"), ("png", "PNG"), ("lerc", "GTiff")):
        chunk = {"jpeg": image(GRAY, "JPEG"), "png": image(GRAY, "PNG"),
                 "lerc": only_block(write_tiff(tmp_path / "a.tif", GRAY, "COMPRESS=LERC"))}[name]
        store = write_chunk(tmp_path / name, chunk, (f"imagecodecs_{name}", {}), [33, 47], "u1")
        done = subprocess.run(
            ["gdal_translate", "-q", "--config", "GDAL_SKIP", driver, "-of", "ENVI", str(store),
             str(tmp_path / "copy")], capture_output=True, text=True)
        assert done.returncode != 0
        assert_fails(done.stderr, f"imagecodecs_{name}: GDAL has no driver {driver}")


def test_images_are_not_written(tmp_path):
    store = write_chunk(tmp_path / "a", image(GRAY, "PNG"), ("imagecodecs_png", {}), [33, 47], "u1")
    before = content(store / "0.0")
    script = ("from osgeo import gdal; import sys; gdal.DontUseExceptions()\n"
              "raster = gdal.Open(sys.argv[1], gdal.GA_Update)\n"
              "raster.GetRasterBand(1).Fill(7)\n")
    done = subprocess.run(["/usr/bin/python3", "-c", script, str(store)], check=True,
                          capture_output=True, text=True)
    assert_fails(done.stderr, "chunk 0.0: .*chunks that are PNG images are not written")
    assert content(store / "0.0") == before


def test_copies_have_other_codecs(tmp_path):
    store = write_chunk(tmp_path / "a", image(GRAY, "PNG"), ("imagecodecs_png", {}), [33, 47], "u1")
    for program in ("gdal_translate", "gdalmdimtranslate"):
        copy = tmp_path / program
        subprocess.run([program, "-q", "-of", "Zarr", str(store), str(copy)], check=True)
        np.testing.assert_array_equal(gdal.Open(str(copy)).ReadAsArray(), GRAY)
    options = ['CODECS=[{"name": "imagecodecs_png"}]', "FORMAT=ZARR_V3"]
    message = message_of(lambda: gdal.GetDriverByName("Zarr").Create(
        str(tmp_path / "new"), 47, 33, 1, gdal.GDT_Byte, options))
    assert_fails(message, 'CODECS: the codec "imagecodecs_png" is for reading only')


def test_order_f(tmp_path):
    """The bytes of the image are the chunk's in its memory order."""
    store = write_chunk(tmp_path, image(GRAY, "PNG"), ("imagecodecs_png", {}), [47, 33], "u1",
                        order="F")
    root = gdal.OpenEx(str(store), gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    values = root.OpenMDArray(root.GetMDArrayNames()[0]).ReadAsArray()
    np.testing.assert_array_equal(values, GRAY.T)
