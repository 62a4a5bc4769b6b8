"""Deviations from the specification that GDAL's built-in driver writes or accepts. The stores are
made byte by byte, as each version writes them; autotest/builtin uses the built-in driver of this
GDAL."""
import json
import subprocess
import sys

import numcodecs
import numpy as np
import pytest
import zarr
from bad_stores import assert_fails, assert_good_opens, message_of
from multidim import attributes, open_root, open_to_write
from osgeo import gdal, osr
from stores import (
    ABSENT,
    BLOSC,
    BYTES,
    GZIP,
    edit_json,
    transpose,
    write_array,
    write_group,
    write_json,
)
from v2_stores import IS_FIRST, write_v2, write_v2_group

DATA = np.arange(60, dtype="<u2").reshape(6, 10) * 1000


def read(path, array):
    return open_root(path).OpenMDArrayFromFullname(array).ReadAsArray()


def run(*command):
    return subprocess.run([str(part) for part in command], check=True, capture_output=True,
                          text=True).stdout


def set_attribute(path, array, name="mine", value="new"):
    dataset = open_to_write(path)
    node = dataset.GetRootGroup().OpenMDArrayFromFullname(array)
    string = gdal.ExtendedDataType.CreateString()
    node.CreateAttribute(name, [], string).Write(value)


# --- v3 arrays without codecs --------------------------------------------------------------------

def grid_mapping():
    reference = osr.SpatialReference()
    reference.ImportFromEPSG(32633)
    return {"grid_mapping_name": "transverse_mercator", "crs_wkt": reference.ExportToWkt()}


@pytest.fixture
def without_codecs(tmp_path):
    """A raster with a CF grid mapping, in a group in a group; all arrays without codecs."""
    for group in ("", "a", "a/b"):
        write_group(tmp_path / group)
    folder = tmp_path / "a/b"
    write_array(folder / "data", DATA, (4, 4), names=["y", "x"],
                attributes={"grid_mapping": "crs"})
    write_array(folder / "y", 5000000.0 - 10 * np.arange(6), names=["y"],
                attributes={"standard_name": "projection_y_coordinate"})
    write_array(folder / "x", 300000.0 + 10 * np.arange(10), names=["x"],
                attributes={"standard_name": "projection_x_coordinate"})
    write_array(folder / "crs", np.uint8(0), attributes=grid_mapping())
    for document in folder.glob("*/zarr.json"):
        edit_json(document, codecs=ABSENT)
    return tmp_path


def test_without_codecs(without_codecs):
    root = open_root(without_codecs)
    array = root.OpenMDArrayFromFullname("/a/b/data")
    np.testing.assert_array_equal(array.ReadAsArray(), DATA)
    assert array.GetSpatialRef().GetAuthorityCode(None) == "32633"
    raster = gdal.Open(f'ZARR:"{without_codecs}":/a/b/data')
    np.testing.assert_array_equal(raster.ReadAsArray(), DATA)
    assert raster.GetGeoTransform() == (299995, 10, 0, 5000005, 0, -10)
    assert raster.GetSpatialRef().GetAuthorityCode(None) == "32633"


def test_without_codecs_by_programs(without_codecs):
    assert "dimension_size" in run("gdalmdiminfo", without_codecs)
    out = without_codecs / "out.tif"
    run("gdal_translate", "-q", f'ZARR:"{without_codecs}":/a/b/data', out)
    np.testing.assert_array_equal(gdal.Open(str(out)).ReadAsArray(), DATA)


def test_an_update_leaves_the_codecs_as_they_are(without_codecs):
    set_attribute(without_codecs, "/a/b/data")
    document = json.loads((without_codecs / "a/b/data/zarr.json").read_text())
    assert "codecs" not in document
    assert document["attributes"] == {"grid_mapping": "crs", "mine": "new"}
    np.testing.assert_array_equal(read(without_codecs, "/a/b/data"), DATA)
    # Everything that was not edited is kept.
    assert "codecs" not in json.loads((without_codecs / "a/b/x/zarr.json").read_text())


ORDER_F = {"name": "transpose", "configuration": {"order": "F"}}


@pytest.mark.parametrize("codecs, stored", [
    ([GZIP], [BYTES, GZIP]),
    ([BLOSC], [BYTES, BLOSC]),
    ([ORDER_F], [transpose(1, 0), BYTES]),
    ([ORDER_F, GZIP], [transpose(1, 0), BYTES, GZIP]),
], ids=["gzip", "blosc", "F", "F-gzip"])
def test_codecs_without_bytes(tmp_path, codecs, stored):
    """GDAL 3.8 to 3.10 omitted it."""
    write_array(tmp_path, DATA, (4, 4), stored)
    edit_json(tmp_path / "zarr.json", codecs=codecs)
    np.testing.assert_array_equal(gdal.Open(str(tmp_path)).ReadAsArray(), DATA)
    raster = gdal.Open(str(tmp_path), gdal.GA_Update)
    raster.SetMetadataItem("mine", "new")
    raster.WriteArray(DATA[:2] + 1)
    raster = None
    changed = DATA.copy()
    changed[:2] += 1
    np.testing.assert_array_equal(gdal.Open(str(tmp_path)).ReadAsArray(), changed)
    written = json.loads((tmp_path / "zarr.json").read_text())["codecs"]
    assert written == json.loads(json.dumps([c for c in stored if c != BYTES]))


# --- Words of creation options in v2 -------------------------------------------------------------

ZSTD_WORDS = {"NO": None, "YES": True, "no": None, "TRUE": True, "OFF": None}
BLOSC_WORDS = {"NONE": 0, "BYTE": 1, "BIT": 2, "bit": 2, "2": 2}


def write_with_word(path, compressor, option, word):
    write_v2_group(path)
    write_v2(path, "a", DATA, chunks=(4, 4), compressor=compressor, fill_value=0)
    edit_json(path / "a/.zarray", compressor=compressor.get_config() | {option: word})


@pytest.mark.parametrize("word", ZSTD_WORDS)
def test_checksum_of_zstd(tmp_path, word):
    write_with_word(tmp_path, numcodecs.Zstd(level=13), "checksum", word)
    np.testing.assert_array_equal(read(tmp_path, "/a"), DATA)
    set_attribute(tmp_path, "/a")
    compressor = json.loads((tmp_path / "a/.zarray").read_text())["compressor"]
    assert compressor.get("checksum") == ZSTD_WORDS[word]
    assert (compressor["id"], compressor["level"]) == ("zstd", 13)
    np.testing.assert_array_equal(read(tmp_path, "/a"), DATA)


def test_a_checksum_that_is_wanted_is_written(tmp_path):
    """Zstandard's frame header says whether there is one (RFC 8878, 3.1.1.1.1.5)."""
    for word, has_checksum in (("YES", 4), ("NO", 0)):
        path = tmp_path / word
        write_with_word(path, numcodecs.Zstd(level=3), "checksum", word)
        raster = gdal.Open(f'ZARR:"{path}":/a', gdal.GA_Update)
        raster.WriteArray(DATA + 1)
        raster = None
        assert (path / "a/0.0").read_bytes()[4] & 4 == has_checksum
        np.testing.assert_array_equal(read(path, "/a"), DATA + 1)


@pytest.mark.parametrize("word", BLOSC_WORDS)
def test_shuffle_of_blosc(tmp_path, word):
    compressor = numcodecs.Blosc("lz4", 5, BLOSC_WORDS[word])
    write_with_word(tmp_path, compressor, "shuffle", word)
    np.testing.assert_array_equal(read(tmp_path, "/a"), DATA)
    raster = gdal.Open(f'ZARR:"{tmp_path}":/a', gdal.GA_Update)
    raster.WriteArray(DATA + 1)
    raster.SetMetadataItem("mine", "new")
    raster = None
    # The result is readable by every program.
    document = json.loads((tmp_path / "a/.zarray").read_text())
    assert document["compressor"]["shuffle"] == BLOSC_WORDS[word]
    array = zarr.open_array(str(tmp_path / "a"), mode="r")
    np.testing.assert_array_equal(array[...], DATA + 1)
    assert array.attrs["mine"] == "new"


@pytest.mark.parametrize("compressor, problem", [
    ({"id": "zstd", "level": 1, "checksum": "MAYBE"}, '"checksum" of zstd is "MAYBE"'),
    ({"id": "zstd", "level": 1, "checksum": ""}, '"checksum" of zstd is ""'),
    ({"id": "blosc", "shuffle": "BITE"}, '"shuffle" of blosc is "BITE"'),
    ({"id": "blosc", "shuffle": "NO"}, '"shuffle" of blosc is "NO"'),
])
def test_other_words(v2, compressor, problem):
    edit_json(v2 / "bad/.zarray", compressor=compressor)
    message = message_of(open_root(v2).OpenMDArray, "bad")
    assert_fails(message, str(v2), "bad/.zarray: ", problem)
    assert_fails(message_of(gdal.Open, f'ZARR:"{v2}":/bad'), "bad/.zarray: ", problem)
    assert_good_opens(v2)


# --- Consolidated metadata -----------------------------------------------------------------------

@pytest.fixture
def only_consolidated(tmp_path):
    """Documents in .zmetadata alone, whose format is not stated."""
    write_v2_group(tmp_path)
    for name in ("a", "b"):
        write_v2(tmp_path, name, DATA, {"units": "m"}, chunks=(4, 4), compressor=None)
    metadata = {}
    for document in [*tmp_path.glob("*/.zarray"), *tmp_path.glob("*/.zattrs")]:
        metadata[str(document.relative_to(tmp_path))] = json.loads(document.read_text())
        document.unlink()
    metadata[".zgroup"] = {"zarr_format": 2}
    write_json(tmp_path / ".zmetadata", {"metadata": metadata})
    return tmp_path


def test_documents_in_consolidated_metadata_alone(only_consolidated):
    root = open_root(only_consolidated)
    assert root.GetMDArrayNames() == ["a", "b"]
    np.testing.assert_array_equal(root.OpenMDArray("b").ReadAsArray(), DATA)
    assert root.OpenMDArray("a").GetUnit() == "m"
    raster = gdal.Open(f'ZARR:"{only_consolidated}":/a')
    np.testing.assert_array_equal(raster.ReadAsArray(), DATA)


def test_an_update_keeps_what_consolidated_metadata_alone_has(only_consolidated):
    set_attribute(only_consolidated, "/a")
    root = open_root(only_consolidated)
    assert attributes(root.OpenMDArray("a")) == {"mine": "new"}
    for name in ("a", "b"):
        assert root.OpenMDArray(name).GetUnit() == "m"
        np.testing.assert_array_equal(root.OpenMDArray(name).ReadAsArray(), DATA)
    document = json.loads((only_consolidated / ".zmetadata").read_text())
    assert document["zarr_consolidated_format"] == 1


# --- Members of v2 -------------------------------------------------------------------------------

def test_network_order(tmp_path):
    data = np.array([[1, 256], [-2, 32767]], ">i2")
    write_v2(tmp_path, "", data, compressor=None)
    edit_json(tmp_path / ".zarray", dtype="!i2")
    np.testing.assert_array_equal(gdal.Open(str(tmp_path)).ReadAsArray(), data)
    raster = gdal.Open(str(tmp_path), gdal.GA_Update)
    raster.SetMetadataItem("mine", "new")
    raster = None
    # NumPy has another name for it.
    assert json.loads((tmp_path / ".zarray").read_text())["dtype"] == ">i2"
    np.testing.assert_array_equal(zarr.open_array(str(tmp_path), mode="r")[...], data)


def test_network_order_of_fields(tmp_path):
    data = np.array([(1, 2.5), (-3, 4.5)], [("a", ">i2"), ("b", ">f4")])
    write_v2(tmp_path, "", data, compressor=None)
    edit_json(tmp_path / ".zarray", dtype=[["a", "!i2"], ["b", "!f4"]])
    root = open_root(tmp_path)
    array = root.OpenMDArray(root.GetMDArrayNames()[0])
    for name in ("a", "b"):
        np.testing.assert_array_equal(array[name].ReadAsArray(), data[name])


@pytest.mark.skipif(IS_FIRST, reason="zarr-python 3.0 always compresses")
def test_missing_members(tmp_path):
    write_v2(tmp_path, "", DATA, compressor=None, chunks=(4, 4))
    edit_json(tmp_path / ".zarray", compressor=ABSENT, filters=ABSENT, order=ABSENT)
    np.testing.assert_array_equal(gdal.Open(str(tmp_path)).ReadAsArray(), DATA)
    raster = gdal.Open(str(tmp_path), gdal.GA_Update)
    raster.WriteArray(DATA + 1)
    raster.SetMetadataItem("mine", "new")
    raster = None
    np.testing.assert_array_equal(zarr.open_array(str(tmp_path), mode="r")[...], DATA + 1)


@pytest.mark.parametrize("dtype, fill_value, value", [
    ("<i2", "0x00", 0), ("<u2", "0b00", 0), ("|u1", "0x2a", 42), ("|u1", "0b101010", 42),
    ("<c8", 1.5, 1.5), ("<c16", "NaN", complex(np.nan, 0)), ("<c8", 0, 0),
])
def test_fill_values(tmp_path, dtype, fill_value, value):
    write_json(tmp_path / ".zarray", {
        "zarr_format": 2, "shape": [2, 2], "chunks": [2, 2], "dtype": dtype,
        "fill_value": fill_value, "order": "C", "filters": None, "compressor": None,
    })
    expected = np.full((2, 2), value, dtype)
    np.testing.assert_array_equal(gdal.Open(str(tmp_path)).ReadAsArray(), expected)
    raster = gdal.Open(str(tmp_path), gdal.GA_Update)
    raster.SetMetadataItem("mine", "new")
    raster = None
    if IS_FIRST and dtype.startswith("<c"):
        return  # zarr-python 3.0 uses it for every other element
    # The fill value is kept, and NumPy accepts it now.
    np.testing.assert_array_equal(zarr.open_array(str(tmp_path), mode="r")[...], expected)


def test_a_complex_nodata_without_an_imaginary_part(tmp_path):
    write_v2(tmp_path, "", np.zeros((2, 2), "<c8"), compressor=None)
    for fill_value, nodata in ((-9999.0, -9999), ([-9999.0, 0.0], -9999), ([1.0, 2.0], None)):
        edit_json(tmp_path / ".zarray", fill_value=fill_value)
        assert gdal.Open(str(tmp_path)).GetRasterBand(1).GetNoDataValue() == nodata


@pytest.mark.parametrize("fill_value", ["0x", "0b12", "0x1g", "zero"])
def test_fill_values_that_are_none(v2, fill_value):
    edit_json(v2 / "bad/.zarray", fill_value=fill_value)
    message = message_of(open_root(v2).OpenMDArray, "bad")
    assert_fails(message, "bad/.zarray: ", f'the fill value "{fill_value}" does not fit')
    assert_good_opens(v2)


# --- The draft of 2020 ---------------------------------------------------------------------------

def draft_array(data, **members):
    return {
        "shape": data.shape, "data_type": data.dtype.str, "chunk_memory_layout": "C",
        "chunk_grid": {"type": "regular", "chunk_shape": data.shape, "separator": "/"},
        "fill_value": 0, "extensions": [], "attributes": {}, **members,
    }


def put_draft_array(path, name, data, **members):
    write_json(path / f"meta/root{name}.array.json", draft_array(data, **members))
    chunk = path.joinpath(f"data/root{name}", "c" + "/".join("0" * data.ndim))
    chunk.parent.mkdir(parents=True)
    chunk.write_bytes(data.tobytes())


@pytest.fixture
def array_and_group(tmp_path):
    """At the root."""
    uri = "https://purl.org/zarr/spec/protocol/core/3.0"
    write_json(tmp_path / "zarr.json", {"zarr_format": uri, "metadata_encoding": uri,
                                        "metadata_key_suffix": ".json", "extensions": []})
    write_json(tmp_path / "meta/root.group.json", {"attributes": {"title": "the group"}})
    put_draft_array(tmp_path, "", DATA, attributes={"title": "the array"})
    put_draft_array(tmp_path, "/below", DATA + 1)
    write_json(tmp_path / "meta/root/g.group.json", {"attributes": {}})
    return tmp_path


def test_an_array_and_a_group_at_the_root(array_and_group):
    root = open_root(array_and_group)
    assert attributes(root) == {"title": "the group"}
    assert root.GetMDArrayNames() == ["/", "below"]
    assert root.GetGroupNames() == ["g"]
    array = root.OpenMDArray("/")
    assert array.GetName() == "/"
    assert attributes(array) == {"title": "the array"}
    np.testing.assert_array_equal(array.ReadAsArray(), DATA)
    np.testing.assert_array_equal(root.OpenMDArray("below").ReadAsArray(), DATA + 1)
    arrays = json.loads(run("gdalmdiminfo", array_and_group))["arrays"]
    assert list(arrays) == ["/", "below"]


def test_an_array_and_a_group_at_the_root_as_rasters(array_and_group):
    names = [name for name, _ in gdal.Open(str(array_and_group)).GetSubDatasets()]
    assert names == [f'ZARR:"{array_and_group}":/', f'ZARR:"{array_and_group}":/below']
    for index, name in enumerate(names):
        np.testing.assert_array_equal(gdal.Open(name).ReadAsArray(), DATA + index)


def test_a_broken_array_at_the_root_hides_nothing(array_and_group):
    write_json(array_and_group / "meta/root.array.json", {"shape": [1]})
    root = open_root(array_and_group)
    np.testing.assert_array_equal(root.OpenMDArray("below").ReadAsArray(), DATA + 1)
    assert_fails(message_of(root.OpenMDArray, "/"), "meta/root.array.json: ", '"chunk_grid"')
    gdal.PushErrorHandler("CPLQuietErrorHandler")
    try:
        raster = gdal.Open(str(array_and_group))
    finally:
        gdal.PopErrorHandler()
    np.testing.assert_array_equal(raster.ReadAsArray(), DATA + 1)


# --- Chunks that are TIFF files ------------------------------------------------------------------

def tiff_bytes(data, *options):
    """By GDAL: of one band, or of as many as the first dimension has elements."""
    bands = data if data.ndim == 3 else data[np.newaxis]
    code = {"uint8": gdal.GDT_Byte, "uint16": gdal.GDT_UInt16, "int16": gdal.GDT_Int16,
            "float32": gdal.GDT_Float32, "complex64": gdal.GDT_CFloat32}[data.dtype.name]
    path = "/vsimem/chunk_to_be.tif"
    raster = gdal.GetDriverByName("GTiff").Create(path, bands.shape[2], bands.shape[1], len(bands),
                                                  code, list(options))
    for index, band in enumerate(bands):
        raster.GetRasterBand(index + 1).WriteArray(band)
    raster = None
    file = gdal.VSIFOpenL(path, "rb")
    content = gdal.VSIFReadL(1, gdal.VSIStatL(path).size, file)
    gdal.VSIFCloseL(file)
    gdal.Unlink(path)
    return bytes(content)


def write_tiffs(path, chunks, chunk_shape, dtype="<u2", **members):
    """An array of chunks along its first dimension, from the contents of files."""
    write_v2_group(path)
    write_json(path / "a/.zarray", {
        "zarr_format": 2, "shape": [len(chunks) * chunk_shape[0], *chunk_shape[1:]],
        "chunks": chunk_shape, "dtype": dtype, "fill_value": 0, "order": "C", "filters": None,
        "compressor": {"id": "imagecodecs_tiff"}, **members,
    })
    for index, chunk in enumerate(chunks):
        name = ".".join([str(index)] + ["0"] * (len(chunk_shape) - 1))
        (path / "a" / name).write_bytes(chunk)
    return path


@pytest.mark.parametrize("dtype", ["u1", "<u2", "<i2", "<f4", "<c8"])
@pytest.mark.parametrize("options", [
    [], ["COMPRESS=DEFLATE", "PREDICTOR=2"], ["TILED=YES", "BLOCKXSIZE=16", "BLOCKYSIZE=16"],
    ["ENDIANNESS=BIG"], ["COMPRESS=LZW", "BIGTIFF=YES"],
], ids=lambda options: "-".join(options) or "plain")
def test_tiffs(tmp_path, dtype, options):
    if "PREDICTOR=2" in options and dtype in ("<f4", "<c8"):
        options = ["COMPRESS=DEFLATE"]
    data = np.random.default_rng(1).integers(0, 200, (3, 20, 30)).astype(dtype)
    write_tiffs(tmp_path, [tiff_bytes(part, *options) for part in data], [1, 20, 30], dtype)
    np.testing.assert_array_equal(read(tmp_path, "/a"), data)
    np.testing.assert_array_equal(
        open_root(tmp_path).OpenMDArray("a").ReadAsArray([1, 5, 7], [2, 3, 4]),
        data[1:3, 5:8, 7:11])


def test_tiffs_of_several_bands(tmp_path):
    """In C order: with pixel interleaving the band comes last, with band interleaving first."""
    data = np.random.default_rng(1).integers(0, 200, (4, 5, 6)).astype("<u2")
    by_band = tiff_bytes(data, "INTERLEAVE=BAND")
    by_pixel = tiff_bytes(data, "INTERLEAVE=PIXEL")
    write_tiffs(tmp_path / "bands", [by_band], [4, 5, 6], "<u2")
    np.testing.assert_array_equal(read(tmp_path / "bands", "/a"), data)
    write_tiffs(tmp_path / "pixels", [by_pixel, by_pixel], [1, 5, 6, 4], "<u2")
    np.testing.assert_array_equal(read(tmp_path / "pixels", "/a")[1], data.transpose(1, 2, 0))


def test_tiffs_are_read_by_many_threads(tmp_path, monkeypatch):
    data = np.random.default_rng(1).integers(0, 60000, (64, 20, 30)).astype("<u2")
    write_tiffs(tmp_path, [tiff_bytes(part, "COMPRESS=DEFLATE") for part in data], [1, 20, 30],
                "<u2")
    monkeypatch.setenv("GDAL_NUM_THREADS", "8")
    before = set(gdal.ReadDirRecursive("/vsimem/") or [])
    np.testing.assert_array_equal(read(tmp_path, "/a"), data)
    assert set(gdal.ReadDirRecursive("/vsimem/") or []) == before


def test_tiffs_by_references(tmp_path):
    """As tifffile writes them of a series of files."""
    data = np.arange(48, dtype="<u2").reshape(2, 4, 6)
    refs = {".zgroup": '{"zarr_format": 2}'}
    for index, part in enumerate(data):
        (tmp_path / f"{index}.tif").write_bytes(tiff_bytes(part))
        refs[f"a/{index}.0.0"] = [f"{index}.tif"]
    refs["a/.zarray"] = json.dumps({
        "zarr_format": 2, "shape": data.shape, "chunks": [1, 4, 6], "dtype": "<u2",
        "fill_value": 0, "order": "C", "filters": None, "compressor": {"id": "imagecodecs_tiff"}})
    write_json(tmp_path / "refs.json", {"version": 1, "refs": refs})
    np.testing.assert_array_equal(read(tmp_path / "refs.json", "/a"), data)


def test_attributes_of_tiffs_can_be_changed(tmp_path):
    data = np.arange(24, dtype="<u2").reshape(1, 4, 6)
    write_tiffs(tmp_path, [tiff_bytes(data[0])], [1, 4, 6], "<u2")
    set_attribute(tmp_path, "/a")
    document = json.loads((tmp_path / "a/.zarray").read_text())
    assert document["compressor"] == {"id": "imagecodecs_tiff"}
    np.testing.assert_array_equal(read(tmp_path, "/a"), data)


def test_tiffs_are_not_written(tmp_path):
    data = np.arange(24, dtype="<u2").reshape(1, 4, 6)
    write_tiffs(tmp_path, [tiff_bytes(data[0])], [1, 4, 6], "<u2")

    # In a process of its own, because failed writes are retried at the end.
    script = ("from osgeo import gdal; import sys; gdal.DontUseExceptions()\n"
              "raster = gdal.Open(sys.argv[1], gdal.GA_Update)\n"
              "raster.GetRasterBand(1).Fill(7)\n")
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=True,
                          capture_output=True, text=True)
    assert_fails(done.stderr, "chunk a/0.0.0: .*chunks that are TIFF files are not written")
    np.testing.assert_array_equal(read(tmp_path, "/a"), data)


IMAGE = np.arange(24, dtype="<u2").reshape(4, 6)


def broken_tiffs():
    yield "no TIFF", b"no TIFF at all", {}, "not a TIFF that GDAL reads"
    yield "empty", b"", {}, "bytes|TIFF"
    yield "truncated", tiff_bytes(np.tile(IMAGE, (50, 50)), "COMPRESS=DEFLATE")[:400], {}, "TIFF"
    yield "PNG", b"\x89PNG\r\n\x1a\n" + bytes(50), {}, "not a TIFF that GDAL reads"
    yield "smaller", tiff_bytes(IMAGE[:3]), {}, \
        "holds 1 x 3 x 6 pixels where the chunk has 1 x 4 x 6"
    yield "turned", tiff_bytes(IMAGE.T.copy()), {}, "holds 1 x 6 x 4 pixels"
    yield "another type", tiff_bytes(IMAGE.astype("<i2")), {}, "holds Int16 .* uint16"
    yield "bits", tiff_bytes(IMAGE, "NBITS=12"), {}, "samples of 12 bits"
    yield "index", tiff_bytes(IMAGE), {"compressor": {"id": "imagecodecs_tiff", "index": 1}}, \
        '"index" is 1, which is not supported'
    yield "colours", tiff_bytes(IMAGE), {"compressor": {"id": "imagecodecs_tiff", "asrgb": True}}, \
        '"asrgb" is true'
    yield "big-endian", tiff_bytes(IMAGE), {"dtype": ">u2"}, "does not support this byte order"
    yield "order F", tiff_bytes(IMAGE), {"order": "F"}, "where the chunk has 6 x 4 x 1"
    yield "half floats", tiff_bytes(IMAGE), {"dtype": "<f2"}, "no elements of the data type float16"
    yield "text", tiff_bytes(IMAGE), {"dtype": "|S2", "fill_value": ""}, "no elements of the data"


@pytest.mark.parametrize("chunk, members, problem",
                         [case[1:] for case in broken_tiffs()],
                         ids=[case[0] for case in broken_tiffs()])
def test_broken_tiffs(tmp_path, chunk, members, problem):
    write_tiffs(tmp_path, [chunk], [1, 4, 6], **members)
    message = message_of(read, tmp_path, "/a")
    assert_fails(message, str(tmp_path), "a", problem)


def test_a_chunk_in_another_format_is_not_opened(tmp_path):
    """A VRT names files, which must not be read through a store."""
    secret = tmp_path / "secret.tif"
    secret.write_bytes(tiff_bytes(IMAGE))
    vrt = tmp_path / "chunk.vrt"
    gdal.Translate(str(vrt), str(secret), format="VRT")
    store = write_tiffs(tmp_path / "store", [vrt.read_bytes()], [1, 4, 6], "<u2")
    assert_fails(message_of(read, store, "/a"), "not a TIFF that GDAL reads")


def test_several_images_in_a_tiff(tmp_path):
    path = "/vsimem/several.tif"
    driver = gdal.GetDriverByName("GTiff")
    source = gdal.GetDriverByName("MEM").Create("", 6, 4, 1, gdal.GDT_UInt16)
    driver.CreateCopy(path, source)
    driver.CreateCopy(path, source, options=["APPEND_SUBDATASET=YES"])
    file = gdal.VSIFOpenL(path, "rb")
    content = bytes(gdal.VSIFReadL(1, gdal.VSIStatL(path).size, file))
    gdal.VSIFCloseL(file)
    gdal.Unlink(path)
    write_tiffs(tmp_path, [content], [1, 4, 6], "<u2")
    assert_fails(message_of(read, tmp_path, "/a"), "the TIFF holds several images")


# --- Kerchunk ------------------------------------------------------------------------------------

def test_trailing_commas_of_references(tmp_path):
    (tmp_path / "blob.bin").write_bytes(DATA.tobytes())
    array = {"zarr_format": 2, "shape": DATA.shape, "chunks": DATA.shape, "dtype": "<u2",
             "fill_value": 0, "order": "C", "filters": None, "compressor": None}
    text = """{ "version": 1, "refs": {
        ".zgroup": "{\\"zarr_format\\": 2}",
        "a/.zarray": %s,
        "a/0.0": ["blob.bin", 0, %d],
      },
    }""" % (json.dumps(json.dumps(array)), DATA.nbytes)
    path = tmp_path / "refs.json"
    path.write_text(text)
    np.testing.assert_array_equal(read(path, "/a"), DATA)
    np.testing.assert_array_equal(gdal.Open(str(path)).ReadAsArray(), DATA)


@pytest.mark.parametrize("text", [
    '{"version": 1, "refs": {".zgroup": "{}",, }}', '{"version": 1, "refs": {,}}',
    '{"version": 1, "refs": {".zgroup": "{}", }, ',
])
def test_other_commas_of_references(tmp_path, text):
    path = tmp_path / "refs.json"
    path.write_text(text)
    assert_fails(message_of(gdal.Open, f'ZARR:"{path}"'), "refs.json: ",
                 "not valid JSON: expected the name of a member")
