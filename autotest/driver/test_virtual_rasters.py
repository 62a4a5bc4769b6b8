"""Virtual stores of TIFF files: every chunk is a part of the file, and reads as GDAL reads it."""
import itertools
import os
import resource
import struct
import subprocess

import numpy as np
import pytest
from foreign_chunks import grib_message
from osgeo import gdal, osr
from request_log import log_requests
from virtual_sources import (
    change_fields,
    chunks,
    make_virtual,
    pixels,
    read_with_zarr,
    references,
    write_tiff,
)
from webserver import serve

RANDOM = np.random.default_rng(42)
LOSSLESS = ["NONE", "LZW", "DEFLATE", "ZSTD", "LZMA", "PACKBITS"]
# Frames of zstd may lack their size, which old versions of numcodecs need.
BY_NUMCODECS = {"NONE", "DEFLATE", "LZMA"}
TYPES = ["u1", "i2", "u2", "i4", "u4", "f4", "f8", "c8", "c16"]


def values(dtype, shape):
    """A slope with noise."""
    slope = np.arange(np.prod(shape)).reshape(shape) / 7 + RANDOM.integers(0, 3, shape)
    return (slope % 120).astype(dtype)


def edit_text(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def matrix():
    """Each compression with each predictor, interleaving, layout and byte order, types in turn."""
    types = itertools.cycle(TYPES)
    for compression, predictor, interleave, layout, order in itertools.product(
            LOSSLESS, (1, 2, 3), ("PIXEL", "BAND"), ("tiles", "strips"), ("LITTLE", "BIG")):
        if predictor > 1 and compression in ("NONE", "PACKBITS", "LZMA"):
            continue
        dtype = next(types)
        while (predictor == 3) != (dtype in ("f4", "f8")) and predictor > 1:
            dtype = next(types)
        if predictor == 2 and dtype[0] not in "iu":
            continue
        yield compression, predictor, interleave, layout, order, dtype


@pytest.mark.parametrize("compression, predictor, interleave, layout, order, dtype", matrix())
def test_each_encoding(tmp_path, compression, predictor, interleave, layout, order, dtype):
    data = values(dtype, (3, 45, 50))
    options = ["COMPRESS=" + compression, "INTERLEAVE=" + interleave, "ENDIANNESS=" + order]
    options += ["TILED=YES", "BLOCKXSIZE=16", "BLOCKYSIZE=32"] if layout == "tiles" else [
        "BLOCKYSIZE=12"]
    if predictor > 1:
        options.append(f"PREDICTOR={predictor}")
    source = write_tiff(tmp_path / "a.tif", data, *options)
    assert make_virtual(source, tmp_path / "a.json") is not None
    # Some versions of libtiff read predictor 3 in the wrong byte order.
    np.testing.assert_array_equal(pixels(tmp_path / "a.json"), pixels(source))
    if (predictor, order) != (3, "BIG"):
        np.testing.assert_array_equal(pixels(source), data)
    found = chunks(tmp_path / "a.json")
    inline = [key for key, value in found.items() if isinstance(value, str)]
    # Strips of twelve rows do not divide 45 rows: the last one is stored, padded.
    is_padded = layout == "strips" and compression != "NONE"
    assert len(inline) == (0 if not is_padded else 1 if interleave == "PIXEL" else 3)
    size = os.path.getsize(source)
    for value in found.values():
        if isinstance(value, list):
            assert value[0] == source and value[1] + value[2] <= size
    if compression in BY_NUMCODECS and predictor == 1:
        array = read_with_zarr(tmp_path / "a.json", "a")[:]
        np.testing.assert_array_equal(
            np.moveaxis(array, -1, 0) if interleave == "PIXEL" else array, data)


@pytest.mark.parametrize("options", [
    ["COMPRESS=JPEG", "TILED=YES"], ["COMPRESS=JPEG", "TILED=YES", "PHOTOMETRIC=YCBCR"],
    ["COMPRESS=JPEG", "TILED=YES", "INTERLEAVE=BAND"],
    ["COMPRESS=JPEG", "BLOCKYSIZE=16", "PHOTOMETRIC=YCBCR"],
    ["COMPRESS=WEBP", "TILED=YES"], ["COMPRESS=LERC", "TILED=YES"],
    ["COMPRESS=LERC_DEFLATE", "TILED=YES"], ["COMPRESS=LERC_ZSTD", "BLOCKYSIZE=20"]])
def test_images(tmp_path, options):
    data = values("u1", (3, 64, 80))
    options = options + ["BLOCKXSIZE=32", "BLOCKYSIZE=32"] * ("TILED=YES" in options)
    source = write_tiff(tmp_path / "a.tif", data, "INTERLEAVE=PIXEL", *options)
    assert make_virtual(source, tmp_path / "a.json") is not None
    np.testing.assert_array_equal(pixels(tmp_path / "a.json"), pixels(source))


def test_lerc_in_big_endian_files(tmp_path):
    """Of numbers whose bytes libtiff has swapped."""
    source = write_tiff(tmp_path / "a.tif", values("i2", (1, 50, 40)), "COMPRESS=LERC",
                        "ENDIANNESS=BIG")
    with pytest.raises(RuntimeError, match="swapped bytes"):
        make_virtual(source, tmp_path / "a.json")


def test_a_short_strip_of_jpeg_is_an_error(tmp_path):
    source = write_tiff(tmp_path / "a.tif", values("u1", (1, 50, 40)), "COMPRESS=JPEG",
                        "BLOCKYSIZE=16")
    with pytest.raises(RuntimeError, match="last strip is shorter"):
        make_virtual(source, tmp_path / "a.json")
    assert not (tmp_path / "a.json").exists()
    assert make_virtual(source, tmp_path / "a.json", mode="AUTO") is not None
    np.testing.assert_array_equal(pixels(tmp_path / "a.json"), pixels(source))


@pytest.mark.parametrize("bits", [1, 2, 4, 7, 12])
@pytest.mark.parametrize("compression", ["NONE", "DEFLATE"])
def test_samples_of_fewer_bits(tmp_path, bits, compression):
    data = RANDOM.integers(0, 1 << bits, (2, 30, 37)).astype("u2" if bits > 8 else "u1")
    source = write_tiff(tmp_path / "a.tif", data, f"NBITS={bits}", "COMPRESS=" + compression,
                        "TILED=YES", "BLOCKXSIZE=16", "BLOCKYSIZE=16")
    assert make_virtual(source, tmp_path / "a.json") is not None
    np.testing.assert_array_equal(pixels(tmp_path / "a.json"), data)


@pytest.mark.parametrize("name", ["a.json", "a.parq", "a.parquet"])
@pytest.mark.parametrize("nodata", [None, 7])
def test_missing_tiles_are_missing_chunks(tmp_path, name, nodata):
    source = str(tmp_path / "a.tif")
    dataset = gdal.GetDriverByName("GTiff").Create(
        source, 64, 48, 1, gdal.GDT_Int16,
        ["SPARSE_OK=YES", "TILED=YES", "BLOCKXSIZE=16", "BLOCKYSIZE=16", "COMPRESS=DEFLATE"])
    if nodata is not None:
        dataset.GetRasterBand(1).SetNoDataValue(nodata)
    dataset.GetRasterBand(1).WriteArray(np.full((16, 16), 5), 16, 16)
    dataset = None
    assert make_virtual(source, tmp_path / name) is not None
    np.testing.assert_array_equal(pixels(tmp_path / name), pixels(source))
    assert gdal.Open(str(tmp_path / name)).GetRasterBand(1).GetNoDataValue() == nodata
    if name.endswith("json"):
        assert list(chunks(tmp_path / name)) == ["a/1.1"]


def test_a_file_of_missing_tiles_only_takes_no_memory(tmp_path):
    """Of 39 million tiles that it does not list."""
    source = tmp_path / "a.tif"
    gdal.GetDriverByName("GTiff").Create(
        str(source), 32, 32, 1, gdal.GDT_Byte,
        ["SPARSE_OK=YES", "TILED=YES", "BLOCKXSIZE=16", "BLOCKYSIZE=16"])
    content = bytearray(source.read_bytes())
    start, = struct.unpack_from("<I", content, 4)
    count, = struct.unpack_from("<H", content, start)
    for field in range(start + 2, start + 2 + 12 * count, 12):
        tag, = struct.unpack_from("<H", content, field)
        if tag in (256, 257):  # width and height
            struct.pack_into("<HII", content, field + 2, 4, 1, 100_000)
        elif tag in (324, 325):  # offsets and sizes of tiles
            struct.pack_into("<II", content, field + 4, 0, 0)
    source.write_bytes(content)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert make_virtual(str(source), tmp_path / "a.json") is not None
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300 << 10  # KiB
    assert chunks(tmp_path / "a.json") == {}
    assert gdal.Open(str(tmp_path / "a.json")).ReadAsArray(99_990, 99_990, 5, 5).max() == 0


def test_metadata_and_overviews_are_as_in_a_copy(tmp_path):
    source = write_tiff(tmp_path / "a.tif", values("f4", (2, 300, 400)), "TILED=YES",
                        "COMPRESS=ZSTD", "BLOCKXSIZE=64", "BLOCKYSIZE=64", nodata=3)
    dataset = gdal.Open(source, gdal.GA_Update)
    crs = osr.SpatialReference()
    crs.ImportFromEPSG(32633)
    dataset.SetProjection(crs.ExportToWkt())
    dataset.SetMetadataItem("title", "grün")
    for i in (1, 2):
        dataset.GetRasterBand(i).SetScale(0.5)
        dataset.GetRasterBand(i).SetOffset(9)
        dataset.GetRasterBand(i).SetDescription(f"band {i}")
    dataset.BuildOverviews("AVERAGE", [2, 4])
    dataset = None
    assert make_virtual(source, tmp_path / "v.json", "ARRAY_NAME=a") is not None
    copy = gdal.GetDriverByName("Zarr").CreateCopy(
        str(tmp_path / "c.zarr"), gdal.Open(source), options=["ARRAY_NAME=a"])
    assert copy is not None
    copy = None
    virtual, copy, original = (gdal.Open(str(tmp_path / name))
                               for name in ("v.json", "c.zarr", "a.tif"))
    assert virtual.GetProjection() == copy.GetProjection() != ""
    assert virtual.GetGeoTransform() == copy.GetGeoTransform()
    assert virtual.GetMetadata() == copy.GetMetadata()
    for i in (1, 2):
        a, b, c = (d.GetRasterBand(i) for d in (virtual, copy, original))
        for get in ("GetScale", "GetOffset", "GetNoDataValue", "GetDescription"):
            assert getattr(a, get)() == getattr(b, get)() == getattr(c, get)()
        assert a.GetOverviewCount() == 2
        for level in (0, 1):
            np.testing.assert_array_equal(a.GetOverview(level).ReadAsArray(),
                                          c.GetOverview(level).ReadAsArray())
    assert all(isinstance(value, list) for key, value in chunks(tmp_path / "v.json").items()
               if key.startswith("a/") or "/a/" in key)


def test_a_cloud_optimized_tiff(tmp_path):
    write_tiff(tmp_path / "plain.tif", values("u2", (1, 600, 700)))
    cog = gdal.GetDriverByName("COG").CreateCopy(
        str(tmp_path / "a.tif"), gdal.Open(str(tmp_path / "plain.tif")),
        options=["COMPRESS=DEFLATE", "PREDICTOR=YES", "BLOCKSIZE=128"])
    assert cog is not None
    cog = None
    assert make_virtual(str(tmp_path / "a.tif"), tmp_path / "a.json") is not None
    np.testing.assert_array_equal(pixels(tmp_path / "a.json"), pixels(tmp_path / "a.tif"))
    virtual, original = (gdal.Open(str(tmp_path / name)) for name in ("a.json", "a.tif"))
    a, b = virtual.GetRasterBand(1), original.GetRasterBand(1)
    assert a.GetOverviewCount() == b.GetOverviewCount() == 3
    for level in range(3):  # of sizes that are rounded down
        np.testing.assert_array_equal(a.GetOverview(level).ReadAsArray(),
                                      b.GetOverview(level).ReadAsArray())


def test_relative_locations(tmp_path):
    (tmp_path / "data").mkdir()
    source = write_tiff(tmp_path / "data/a.tif", values("u1", (1, 20, 20)))
    (tmp_path / "index").mkdir()
    for name in ("index/a.json", "index/a.parq"):
        assert make_virtual(source, tmp_path / name, "LOCATIONS=RELATIVE") is not None
    assert {value[0] for value in chunks(tmp_path / "index/a.json").values()} == {"../data/a.tif"}
    os.rename(tmp_path / "index", tmp_path / "other")
    for name in ("other/a.json", "other/a.parq"):
        np.testing.assert_array_equal(pixels(tmp_path / name), pixels(source))


def test_big_tiff(tmp_path):
    data = values("i4", (1, 40, 40))
    source = write_tiff(tmp_path / "a.tif", data, "BIGTIFF=YES", "ENDIANNESS=BIG")
    assert make_virtual(source, tmp_path / "a.json") is not None
    np.testing.assert_array_equal(pixels(tmp_path / "a.json"), data)


def test_what_has_no_blocks_is_an_error_or_copied(tmp_path):
    memory = gdal.GetDriverByName("MEM").Create("", 30, 20)
    memory.GetRasterBand(1).Fill(8)
    with pytest.raises(RuntimeError, match="format MEM"):
        make_virtual(memory, tmp_path / "a.json")
    assert not (tmp_path / "a.json").exists()
    assert make_virtual(memory, tmp_path / "a.json", mode="AUTO") is not None
    assert (pixels(tmp_path / "a.json") == 8).all()
    assert all(isinstance(value, (str, dict)) for value in references(tmp_path / "a.json").values())


@pytest.mark.parametrize("name", ["a.zarr", "a.zip", "a"])
def test_other_names_are_errors(tmp_path, name):
    source = write_tiff(tmp_path / "a.tif", values("u1", (1, 20, 20)))
    with pytest.raises(RuntimeError, match=".json document"):
        make_virtual(source, tmp_path / name)


def test_only_copies_are_virtual(tmp_path):
    driver = gdal.GetDriverByName("Zarr")
    with pytest.raises(RuntimeError, match="option of copies"):
        driver.Create(str(tmp_path / "a.json"), 4, 4, 1, options=["VIRTUAL=YES"])
    with pytest.raises(RuntimeError, match="option of copies"):
        driver.CreateMultiDimensional(str(tmp_path / "a.json"), [], ["VIRTUAL=YES"])


@pytest.mark.parametrize("tag, value", [
    (324, 0xFFFFFF00),  # TileOffsets
    (325, 0xFFFFFF00),  # TileByteCounts
    (256, 0x7FFFFFFF),  # ImageWidth
])
def test_hostile_files_refer_to_nothing_outside(tmp_path, tag, value):
    source = write_tiff(tmp_path / "a.tif", values("u1", (1, 64, 64)), "TILED=YES",
                        "BLOCKXSIZE=64", "BLOCKYSIZE=64")
    change_fields(source, {tag: value})
    with pytest.raises(RuntimeError):
        make_virtual(source, tmp_path / "a.json")
    assert not (tmp_path / "a.json").exists()


def mosaic(tmp_path, *options, size=(2, 3), bands=1, **arguments):
    files = []
    for row, column in np.ndindex(*size):
        place = (column * 320, 10, 0, -row * 320, 0, -10)
        files.append(write_tiff(tmp_path / f"{row}{column}.tif", values("u2", (bands, 32, 32)),
                                "TILED=YES", "BLOCKXSIZE=16", "BLOCKYSIZE=16", *options,
                                place=place))
    vrt = gdal.BuildVRT(str(tmp_path / "m.vrt"), files, **arguments)
    assert vrt is not None
    vrt = None
    return str(tmp_path / "m.vrt"), files


@pytest.mark.parametrize("bands, options", [
    (1, []), (3, ["INTERLEAVE=PIXEL", "COMPRESS=DEFLATE"]), (3, ["INTERLEAVE=BAND"])])
@pytest.mark.parametrize("name", ["m.json", "m.parq"])
def test_mosaics(tmp_path, bands, options, name):
    vrt, _ = mosaic(tmp_path, *options, bands=bands)
    assert make_virtual(vrt, tmp_path / name) is not None
    np.testing.assert_array_equal(pixels(tmp_path / name), pixels(vrt))
    if name.endswith("json"):
        assert all(isinstance(value, list) for value in chunks(tmp_path / name).values())


def test_mosaics_with_gaps_and_nodata(tmp_path):
    _, files = mosaic(tmp_path)
    vrt = gdal.BuildVRT(str(tmp_path / "g.vrt"), files[:1] + files[-1:], srcNodata=9, VRTNodata=9)
    assert vrt is not None
    vrt = None
    assert make_virtual(str(tmp_path / "g.vrt"), tmp_path / "g.json") is not None
    np.testing.assert_array_equal(pixels(tmp_path / "g.json"), pixels(tmp_path / "g.vrt"))


def test_stacks_of_bands(tmp_path):
    files = [write_tiff(tmp_path / f"{i}.tif", values("i2", (1, 40, 50)), "COMPRESS=LZW",
                        "PREDICTOR=2") for i in range(5)]
    assert gdal.BuildVRT(str(tmp_path / "s.vrt"), files, separate=True) is not None
    assert make_virtual(str(tmp_path / "s.vrt"), tmp_path / "s.json") is not None
    np.testing.assert_array_equal(pixels(tmp_path / "s.json"), pixels(tmp_path / "s.vrt"))


@pytest.mark.parametrize("change, problem", [
    (lambda text: text.replace('xOff="32" yOff="0"', 'xOff="31" yOff="0"'), "not aligned"),
    (lambda text: text.replace('<DstRect xOff="64"', '<DstRect xOff="32"'), "overlaps"),
    (lambda text: text.replace("SimpleSource", "AveragedSource"), "changes values"),
    (lambda text: text.replace("<SourceBand>", "<LUT>0:1</LUT><SourceBand>").replace(
        "SimpleSource", "ComplexSource"), "changes values"),
])
def test_vrts_that_are_not_mosaics_of_blocks(tmp_path, change, problem):
    vrt, _ = mosaic(tmp_path)
    text = open(vrt).read()
    assert change(text) != text
    open(vrt, "w").write(change(text))
    with pytest.raises(RuntimeError, match=problem):
        make_virtual(vrt, tmp_path / "m.json")
    assert not (tmp_path / "m.json").exists()
    assert make_virtual(vrt, tmp_path / "m.json", mode="AUTO") is not None
    np.testing.assert_array_equal(pixels(tmp_path / "m.json"), pixels(vrt))


def test_mosaics_of_different_encodings_are_errors(tmp_path):
    vrt, files = mosaic(tmp_path)
    write_tiff(files[3], values("u2", (1, 32, 32)), "COMPRESS=DEFLATE", "TILED=YES",
               "BLOCKXSIZE=16", "BLOCKYSIZE=16")
    with pytest.raises(RuntimeError, match=files[3] + ".*than those of the first"):
        make_virtual(vrt, tmp_path / "m.json")


def test_the_program(tmp_path):
    data = values("u2", (1, 20, 20))
    write_tiff(tmp_path / "scene.tif", data)
    plugin = os.environ.get("GDAL_DRIVER_PATH") or gdal.GetConfigOption("GDAL_DRIVER_PATH")
    subprocess.run(["gdal_translate", "-q", "-of", "Zarr", "-co", "VIRTUAL=YES", "scene.tif",
                    "scene.json"], cwd=tmp_path, check=True,
                   env={**os.environ, "GDAL_DRIVER_PATH": plugin or ""})
    np.testing.assert_array_equal(pixels(tmp_path / "scene.json"), data)


@pytest.mark.skipif(gdal.GetDriverByName("GRIB") is None, reason="GDAL has no driver GRIB")
def test_messages_of_grib(tmp_path):
    data = [RANDOM.random((6, 8)) * 50 + 250 for _ in range(3)]
    (tmp_path / "a.grib").write_bytes(b"".join(grib_message(message) for message in data))
    options = ("GRIB_NORMALIZE_UNITS", "GRIB_ADJUST_LONGITUDE_RANGE")
    for option in options:
        gdal.SetConfigOption(option, "NO")
    try:
        assert make_virtual(str(tmp_path / "a.grib"), tmp_path / "a.json") is not None
        # Old versions of GDAL compute in single precision.
        np.testing.assert_allclose(pixels(tmp_path / "a.json"), pixels(tmp_path / "a.grib"), 1e-6)
    finally:
        for option in options:
            gdal.SetConfigOption(option, None)
    found = chunks(tmp_path / "a.json")
    assert len(found) == 3 and all(isinstance(value, list) for value in found.values())


@pytest.mark.skipif(gdal.GetDriverByName("GRIB") is None, reason="GDAL has no driver GRIB")
@pytest.mark.parametrize("at, byte", [(8, 0x7F), (15, 0xFF), (7, 3)])
def test_messages_that_are_longer_than_the_file(tmp_path, at, byte):
    message = bytearray(grib_message(RANDOM.random((6, 8))))
    path = tmp_path / "a.grib"
    path.write_bytes(message)
    dataset = gdal.Open(str(path))
    message[at] = byte
    path.write_bytes(message)
    with pytest.raises(RuntimeError, match="message 1"):
        make_virtual(dataset, tmp_path / "a.json")
    assert not (tmp_path / "a.json").exists()


def test_sources_on_the_network_are_named_by_url(tmp_path, monkeypatch):
    """They are read by range: making the store takes few requests, a pixel one chunk."""
    data = values("u2", (1, 640, 640))
    source = write_tiff(tmp_path / "a.tif", data, "TILED=YES", "BLOCKXSIZE=64", "BLOCKYSIZE=64",
                        "COMPRESS=DEFLATE")
    (tmp_path / "out").mkdir()
    with serve(tmp_path, monkeypatch) as server:
        with log_requests(server) as log:
            dataset = gdal.Open(f"/vsicurl/{server.url}/a.tif")
            assert make_virtual(dataset, tmp_path / "out/a.json") is not None
        assert log.count <= 8
        found = chunks(tmp_path / "out/a.json")
        assert len(found) == 100
        assert {value[0] for value in found.values()} == {f"{server.url}/a.tif"}
        gdal.VSICurlClearCache()
        with log_requests(server) as log:
            dataset = gdal.Open(str(tmp_path / "out/a.json"))
            np.testing.assert_array_equal(dataset.ReadAsArray(200, 100, 20, 20),
                                          data[0, 100:120, 200:220])
        assert log.count <= 3
    assert os.path.getsize(source) > 64 << 10


@pytest.mark.parametrize("kind", ["encoding", "resampled", "unaligned", "missing"])
@pytest.mark.parametrize("bands", [1, 3])
@pytest.mark.parametrize("name", ["m.json", "m.parq", "ICECHUNK:{}/repository"])
def test_auto_copies_the_blocks_of_single_sources(tmp_path, kind, bands, name):
    """Those of the others stay references."""
    tiled = ["TILED=YES", "BLOCKXSIZE=32", "BLOCKYSIZE=32", "SPARSE_OK=YES"]
    files = [write_tiff(tmp_path / f"{i}.tif", values("u1", (bands, 64, 64)) + 1, *tiled,
                        "COMPRESS=DEFLATE", place=(640 * i, 10, 0, 640, 0, -10)) for i in range(3)]
    if kind == "encoding":
        write_tiff(files[1], values("u1", (bands, 64, 64)) + 1, *tiled, "COMPRESS=LZW",
                   place=(640, 10, 0, 640, 0, -10))
    vrt = gdal.BuildVRT(str(tmp_path / "m.vrt"), files)
    assert vrt is not None
    vrt = None
    if kind == "resampled":
        edit_text(tmp_path / "m.vrt", '<DstRect xOff="64" yOff="0" xSize="64" ySize="64"',
                  '<DstRect xOff="64" yOff="0" xSize="40.5" ySize="50"')
    if kind == "unaligned":
        edit_text(tmp_path / "m.vrt", '<DstRect xOff="128"', '<DstRect xOff="130"')
    if kind == "missing":
        os.unlink(files[1])
    target = name.format(tmp_path) if ":" in name else str(tmp_path / name)
    if kind == "missing":  # GDAL cannot read it either
        with pytest.raises(RuntimeError, match="1.tif"):
            make_virtual(str(tmp_path / "m.vrt"), target, mode="AUTO")
        return
    with pytest.raises(RuntimeError):
        make_virtual(str(tmp_path / "m.vrt"), target)
    assert make_virtual(str(tmp_path / "m.vrt"), target, mode="AUTO") is not None
    np.testing.assert_array_equal(pixels(target), pixels(tmp_path / "m.vrt"))
    if name != "m.json":
        return
    copied = {key.split("/")[1] for key, value in chunks(target).items() if isinstance(value, str)}
    columns = {"encoding": "23", "resampled": "23", "unaligned": "45"}[kind]
    assert {place.split(".")[1] for place in copied} == set(columns)
    assert {value[0] for value in chunks(target).values() if isinstance(value, list)} == {
        file for i, file in enumerate(files) if i != (2 if kind == "unaligned" else 1)}


def test_auto_copies_all_where_codecs_cannot_encode(tmp_path):
    tiled = ["TILED=YES", "BLOCKXSIZE=32", "BLOCKYSIZE=32"]
    files = [write_tiff(tmp_path / f"{i}.tif", values("u1", (1, 64, 64)), *tiled,
                        "COMPRESS=" + ("DEFLATE" if i else "LZW"),
                        place=(640 * i, 10, 0, 640, 0, -10)) for i in range(2)]
    assert gdal.BuildVRT(str(tmp_path / "m.vrt"), files) is not None
    assert make_virtual(str(tmp_path / "m.vrt"), tmp_path / "m.json", mode="AUTO") is not None
    np.testing.assert_array_equal(pixels(tmp_path / "m.json"), pixels(tmp_path / "m.vrt"))
    assert not any(isinstance(value, list) for value in references(tmp_path / "m.json").values())
