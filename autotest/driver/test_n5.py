"""N5 containers, as zarr-python 2 writes and shows them, and as N5's own library writes them."""
import json
import struct
import subprocess

import numpy as np
import pytest
import zarr
from bad_stores import assert_fails, message_of, open_root, read_everything
from multidim import attributes
from n5_stores import COMPRESSIONS, write_array, write_block, write_root
from numcodecs import BZ2, LZ4, LZMA, Blosc, GZip, Zlib, Zstd
from osgeo import gdal
from webserver import serve

DATA = (np.arange(7 * 5 * 6) % 251 - 99).reshape(7, 5, 6)
CHUNKS = (3, 2, 4)
TYPES = ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f4", "f8"]


with_zarr_2 = pytest.mark.skipif(not hasattr(zarr, "N5Store"), reason="zarr-python 3 has no N5")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.n5"


def read(path, name="/a"):
    return open_root(path).OpenMDArrayFromFullname(name).ReadAsArray()


def as_zarr_python_reads(path, name="a"):
    return zarr.open(zarr.n5.N5FSStore(str(path)), mode="r")[name]


@with_zarr_2
@pytest.mark.parametrize("dtype", TYPES)
def test_all_types_read_as_in_zarr_python(path, dtype):
    root = zarr.group(zarr.n5.N5Store(str(path)))
    root.create_dataset("a", data=DATA.astype(dtype), chunks=CHUNKS)
    np.testing.assert_array_equal(read(path), DATA.astype(dtype))
    assert open_root(path).OpenMDArray("a").GetBlockSize() == list(CHUNKS)


@with_zarr_2
@pytest.mark.parametrize("compressor", [
    None, GZip(), Zlib(), BZ2(), LZMA(format=1), LZMA(format=2), Zstd(), Blosc(), LZ4()],
    ids=lambda c: c.codec_id if c else "raw")
def test_compressors_of_zarr_python(path, compressor):
    root = zarr.group(zarr.n5.N5FSStore(str(path)))
    root.create_dataset("g/a", data=DATA.astype("i4"), chunks=CHUNKS, compressor=compressor)
    np.testing.assert_array_equal(read(path, "/g/a"), DATA)


@with_zarr_2
@pytest.mark.parametrize("pads", [False, True], ids=["cut", "padded"])
@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_compressions_of_n5(path, compression, pads):
    write_root(path)
    write_array(path / "a", DATA.astype("i2"), CHUNKS, compression, pads)
    np.testing.assert_array_equal(read(path), DATA)
    if compression != "lz4":
        np.testing.assert_array_equal(as_zarr_python_reads(path), DATA)


def test_long_lz4_streams(path):
    """Of several blocks, of which some cannot be compressed."""
    noise = np.random.default_rng(3).integers(0, 255, (300, 400)).astype("u1")
    noise[:150] = 7
    write_root(path)
    write_array(path / "a", noise, noise.shape, "lz4")
    np.testing.assert_array_equal(read(path), noise)
    block = path / "a/0/0"
    damaged = bytearray(block.read_bytes())
    damaged[-30] ^= 1
    block.write_bytes(damaged)
    assert_fails(message_of(read, path), "a/0/0", "lz4: the checksum does not fit the data")


def test_missing_blocks_are_zero_and_no_nodata(path):
    data = np.zeros((6, 8), "u1")
    data[0, 0] = 5
    write_root(path)
    write_array(path / "a", data, (3, 4))
    assert not (path / "a/1").exists()
    dataset = gdal.Open(str(path))
    np.testing.assert_array_equal(dataset.ReadAsArray(), data)
    assert dataset.GetRasterBand(1).GetNoDataValue() is None


def test_every_folder_is_a_group(path):
    write_root(path, {"title": "brain"})
    write_array(path / "no attributes/b/a", DATA.astype("u1"), CHUNKS)
    (path / "empty").mkdir()
    (path / "with").mkdir()
    (path / "with/attributes.json").write_text('{"x": [1, 2]}')
    root = open_root(path)
    assert root.GetGroupNames() == ["no attributes", "with"]
    assert attributes(root) == {"title": "brain"}
    assert attributes(root.OpenGroup("with")) == {"x": (1, 2)}
    inner = root.OpenGroupFromFullname("/no attributes/b")
    assert inner.GetMDArrayNames() == ["a"] and not inner.GetGroupNames()
    # Folders of blocks are no groups.
    message_of(root.OpenGroupFromFullname, "/no attributes/b/a/0")


def test_attributes_lack_the_members_of_n5(path):
    write_root(path)
    write_array(path / "a", DATA.astype("u1"), CHUNKS, attributes={
        "units": "m", "_ARRAY_DIMENSIONS": ["t", "y", "x"]})
    array = open_root(path).OpenMDArray("a")
    assert attributes(array) == {} and array.GetUnit() == "m"
    assert [d.GetName() for d in array.GetDimensions()] == ["t", "y", "x"]


@pytest.mark.parametrize("stated", [
    {"axes": ["x", "y", "z"]}, {"transform": {"axes": ["z", "y", "x"], "scale": [4, 4, 4]}}],
    ids=["axes", "transform"])
def test_names_of_dimensions(path, stated):
    write_root(path)
    write_array(path / "a", DATA.astype("u1"), CHUNKS, attributes=stated)
    dimensions = open_root(path).OpenMDArray("a").GetDimensions()
    assert [d.GetName() for d in dimensions] == ["z", "y", "x"]


def test_compression_of_version_1(path):
    write_array(path, DATA.astype("u1"), CHUNKS)
    document = json.loads((path / "attributes.json").read_text())
    document["compressionType"] = document.pop("compression")["type"]
    (path / "attributes.json").write_text(json.dumps(document))
    np.testing.assert_array_equal(gdal.Open(str(path)).ReadAsArray(), DATA.astype("u1"))


@pytest.mark.parametrize("form", ["{}", 'ZARR:"{}"', "{}/attributes.json", 'ZARR:"{}":/a',
                                  "{}/a", "{}/a/attributes.json"])
def test_programs_read_it(path, form, tmp_path):
    write_root(path)
    write_array(path / "a", DATA[0].astype("u1"), CHUNKS[1:])
    name = form.format(path)
    info = subprocess.run(["gdalinfo", "-checksum", name], capture_output=True, text=True,
                          check=True).stdout
    assert "Driver: Zarr/Zarr" in info and "Block=4x2" in info
    copy = tmp_path / "copy.tif"
    subprocess.run(["gdal_translate", "-q", name, copy], check=True)
    np.testing.assert_array_equal(gdal.Open(str(copy)).ReadAsArray(), DATA[0].astype("u1"))


def test_over_http_and_in_an_archive(path, tmp_path, monkeypatch):
    write_root(path)
    write_array(path / "a", DATA.astype("u1"), CHUNKS)
    subprocess.run(["python3", "-m", "zipfile", "-c", tmp_path / "a.zip", path], check=True)
    np.testing.assert_array_equal(gdal.Open(f"{tmp_path}/a.zip").ReadAsArray(),
                                  DATA.astype("u1"))
    # A server whose folders cannot be listed shows no arrays below a group.
    write_array(path, DATA.astype("u1"), CHUNKS)
    with serve(tmp_path, monkeypatch) as server:
        for name in (f"/vsicurl/{server.url}/a.n5", f'ZARR:"/vsicurl/{server.url}/a.n5":/a'):
            np.testing.assert_array_equal(gdal.Open(name).ReadAsArray(), DATA.astype("u1"))


@pytest.mark.parametrize("document", [
    "{}", "[]", "nonsense", '{"dimensions": [4]}', '{"n5": 4}', '{"type": "FeatureCollection"}'])
def test_other_files_of_this_name_are_left_alone(path, document):
    path.mkdir()
    (path / "attributes.json").write_text(document)
    for name in (path, path / "attributes.json"):
        assert gdal.IdentifyDriverEx(str(name), allowed_drivers=["Zarr"]) is None


def test_it_is_not_written(path):
    write_root(path)
    write_array(path / "a", DATA.astype("u1"), CHUNKS)
    for kind in (gdal.OF_RASTER, gdal.OF_MULTIDIM_RASTER):
        assert_fails(message_of(gdal.OpenEx, str(path), kind | gdal.OF_UPDATE),
                     "a.n5 cannot be written: it is an N5 container")


def test_it_is_copied_to_zarr_and_deleted(path, tmp_path):
    write_root(path)
    write_array(path / "a", DATA.astype("i2"), CHUNKS)
    copy = tmp_path / "b.zarr"
    subprocess.run(["gdalmdimtranslate", "-of", "Zarr", path, copy], check=True)
    np.testing.assert_array_equal(zarr.open(str(copy))["a"], DATA)
    gdal.GetDriverByName("Zarr").Delete(str(path))
    assert not path.exists()


@pytest.mark.parametrize("member, value, problem", [
    ("dataType", "object", 'the data type "object" of N5 is not supported'),
    ("dataType", "string", 'the data type "string"'),
    ("dataType", 7, "the data type 7"),
    ("blockSize", [4, 2], "the chunk shape has 2"),
    ("blockSize", [0, 2, 3], "the chunk shape is zero in dimension 2"),
    ("blockSize", "4", '"blockSize" is'),
    ("blockSize", [2**40, 2**40, 2**40], "larger than any memory"),
    ("dimensions", [6, -5, 7], '"dimensions"'),
    ("dimensions", [1] * 300, '"dimensions" has 300 dimensions'),
    ("compression", None, "the compression null is not an object"),
    ("compression", {"level": 3}, 'is not an object with a "type"'),
    ("compression", {"type": "jpeg"}, 'codec "numcodecs.jpeg".*not supported'),
])
def test_wrong_members(path, member, value, problem):
    write_root(path)
    write_array(path / "good", DATA.astype("u1"), CHUNKS)
    write_array(path / "bad", DATA.astype("u1"), CHUNKS)
    document = json.loads((path / "bad/attributes.json").read_text())
    document[member] = value
    (path / "bad/attributes.json").write_text(json.dumps(document))
    assert_fails("; ".join(read_everything(path)), "bad", problem)
    np.testing.assert_array_equal(read(path, "/good"), DATA.astype("u1"))


def test_newer_versions(path):
    write_root(path, {"n5": "5.0.0"})
    assert_fails(message_of(gdal.Open, str(path)), '"n5" is "5.0.0"; versions up to 4')


HEADER = struct.pack(">HH3I", 0, 3, 4, 2, 3)


@pytest.mark.parametrize("block, problem", [
    (b"", "ends within its header"),
    (b"\0\0\0", "ends within its header"),
    (HEADER[:11], "ends within its header"),
    (HEADER, "0 bytes|at most 0"),
    (HEADER + b"1234567", "7"),
    (struct.pack(">HH3I", 0, 3, 5, 2, 3) + bytes(30), "the block is larger than a chunk"),
    (struct.pack(">HH3I", 0, 3, 2**32 - 1, 2, 3), "the block is larger than a chunk"),
    (struct.pack(">HH3I", 0, 3, 2, 2, 3) + bytes(11), "11"),
    (struct.pack(">HH2I", 0, 2, 4, 6) + bytes(24), "2 dimensions, the array 3"),
    (struct.pack(">HH3II", 1, 3, 4, 2, 3, 23) + bytes(23), "elements vary in length"),
    (struct.pack(">HI", 2, 24) + bytes(24), "the mode 2, whose elements are not numbers"),
    (struct.pack(">HH3I", 9, 3, 4, 2, 3) + bytes(24), "the mode 9, whose elements"),
])
@pytest.mark.parametrize("compression", ["raw", "gzip", "lz4"])
def test_damaged_blocks(path, block, problem, compression):
    write_root(path)
    write_array(path / "a", DATA.astype("u1"), CHUNKS, compression)
    (path / "a/0/1/2").write_bytes(block)
    # Compressors say in their own words what is wrong with the payload.
    parts = [problem] if compression == "raw" or "larger" in problem else []
    assert_fails(message_of(read, path), "a/0/1/2", *parts)


@with_zarr_2
def test_blocks_smaller_than_chunks_inside_the_array(path):
    """The rest is zero, as in zarr-python."""
    write_root(path)
    write_array(path / "a", DATA.astype("u1"), CHUNKS, "raw")
    write_block(path / "a/0/0/0", np.full((2, 1, 3), 9, "u1"))
    np.testing.assert_array_equal(read(path), as_zarr_python_reads(path)[:])
