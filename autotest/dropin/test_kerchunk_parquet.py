"""/vsikerchunk_parquet_ref/: references in Parquet files as a file system.

Debian's GDAL has no Parquet driver, so that its built-in driver finds documents, but no chunks."""
import contextlib
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from osgeo import gdal
from vsi_files import content, is_error, status

pytestmark = pytest.mark.builtin_since("3.11")
needs_parquet = pytest.mark.ours_only("it needs a Parquet driver, which this GDAL does not have")

STORES = Path(__file__).parent.parent / "fixtures/stores/kerchunk_parquet"
EXPECTED = json.loads((STORES / "expected.json").read_text())
NAMES = ["pyarrow_5.parq", "fastparquet_5.parq", "pyarrow_10000.parq", "fastparquet_10000.parq"]


@pytest.fixture
def folder(tmp_path):
    shutil.copytree(STORES, tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.fixture(params=NAMES)
def root(request, folder):
    return f"/vsikerchunk_parquet_ref/{{{folder / request.param}}}"


def write_metadata(folder, text):
    path = folder / "new.parq"
    path.mkdir(exist_ok=True)
    (path / ".zmetadata").write_text(text if isinstance(text, str) else json.dumps(text))
    return f"/vsikerchunk_parquet_ref/{{{path}}}"


# --- Documents -----------------------------------------------------------------------------------

def test_documents(root):
    assert status(root) == ("folder", 0)
    assert status(root + "/") == ("folder", 0)
    assert status(root + "/grid") == ("folder", 0)
    assert status(root + "/deep/lines") == ("folder", 0)
    assert sorted(gdal.ReadDir(root)) == [".zattrs", ".zgroup", "deep", "empty", "grid", "scalar"]
    assert sorted(gdal.ReadDir(root + "/deep")) == [".zgroup", "lines"]
    assert content(root + "/.zgroup") == b'{"zarr_format":2}'
    assert status(root + "/.zgroup") == ("file", 17)
    assert json.loads(content(root + "/grid/.zarray"))["shape"] == [20, 9]
    for key in ("none", ".zmetadata", "grid/refs.0.parq", "grid/none", "grid/.zgroup", "deep/0",
                "grid/10.0", "grid/0.3", "grid/0", "grid/0.0.0", "grid/-1.0", "grid/a.b"):
        assert status(f"{root}/{key}") is None
    assert gdal.ReadDir(root + "/none") is None
    assert gdal.ReadDir(root + "/.zgroup") is None


def test_information_about_documents(root):
    assert gdal.GetFileMetadata(root + "/.zgroup", "CHUNK_INFO") == {
        "SIZE": "17", "BASE64": "eyJ6YXJyX2Zvcm1hdCI6Mn0="}
    assert not gdal.GetFileMetadata(root + "/grid", "CHUNK_INFO")
    assert not gdal.GetFileMetadata(root, "CHUNK_INFO")


@pytest.mark.parametrize("text", [
    "", "{", "[]", "{}", "null", '{"record_size": 10}', '{"metadata": {}}',
    '{"metadata": [], "record_size": 1}', '{"metadata": {}, "record_size": 0}',
    '{"metadata": {}, "record_size": -1}', '{"metadata": {}, "record_size": 1.5}',
    '{"metadata": {}, "record_size": "1"}', '{"metadata": {"x": 1}, "record_size": 1}',
    '{"metadata": {"x": "s"}, "record_size": 1}',
    '{"metadata": {"x/.zarray": {}}, "record_size": 1}',
    '{"metadata": {"x/.zarray": {"shape": [1]}}, "record_size": 1}',
    '{"metadata": {"x/.zarray": {"chunks": [1]}}, "record_size": 1}',
    '{"metadata": {"x/.zarray": {"shape": 1, "chunks": [1]}}, "record_size": 1}',
    '{"metadata": {"x/.zarray": {"shape": [1], "chunks": [0]}}, "record_size": 1}',
    '{"metadata": {"x/.zarray": {"shape": [1, 2], "chunks": [1]}}, "record_size": 1}',
    ('{"metadata": {"x/.zarray": {"shape": [4294967296, 4294967296, 4294967296],'
     ' "chunks": [1, 1, 1]}}, "record_size": 1}'),
    json.dumps({"metadata": {"x/.zarray": {"shape": [1] * 1000, "chunks": [1] * 1000}},
                "record_size": 1}),
])
def test_bad_metadata(folder, text):
    root = write_metadata(folder, text)
    for call in ((gdal.VSIStatL, root), (gdal.ReadDir, root), (gdal.VSIStatL, root + "/x/0"),
                 (gdal.VSIFOpenL, root + "/x/0", "rb")):
        assert is_error(*call)


@pytest.mark.ours_only("it refuses numbers that are texts only later")
@pytest.mark.parametrize("array", [{"shape": ["1"], "chunks": [1]}, {"shape": [1], "chunks": [1.5]},
                                   {"shape": [-1], "chunks": [1]}])
def test_bad_shapes(folder, array):
    root = write_metadata(folder, {"metadata": {"x/.zarray": array}, "record_size": 1})
    with pytest.raises(RuntimeError) as caught:
        gdal.VSIStatL(root)
    assert "new.parq/.zmetadata: x/.zarray: " in str(caught.value)


@pytest.mark.ours_only("it refuses arrays without elements")
def test_arrays_without_elements(folder):
    root = write_metadata(folder, {"metadata": {"x/.zarray": {"shape": [0], "chunks": [1]}},
                                   "record_size": 1})
    assert gdal.ReadDir(root + "/x") == [".zarray"]
    assert status(root + "/x/0") is None


def test_no_documents(folder):
    root = write_metadata(folder, '{"metadata": {}, "record_size": 1}')
    assert status(root) == ("folder", 0)
    assert gdal.ReadDir(root) is None
    assert status(root + "/x") is None


@pytest.mark.parametrize("name", [
    "/vsikerchunk_parquet_ref/", "/vsikerchunk_parquet_ref/{", "/vsikerchunk_parquet_ref/{/none",
    "/vsikerchunk_parquet_ref//none", "/vsikerchunk_parquet_ref/none",
    "/vsikerchunk_parquet_ref/{/none}", "/vsikerchunk_parquet_ref/{/vsimem/none}/x",
])
def test_bad_names(name):
    for call in ((gdal.VSIStatL, name), (gdal.ReadDir, name), (gdal.VSIFOpenL, name, "rb"),
                 (gdal.OpenEx, name, gdal.OF_MULTIDIM_RASTER)):
        assert is_error(*call)


def test_nothing_can_be_written(root):
    for mode in ("wb", "rb+", "ab"):
        with contextlib.suppress(RuntimeError):
            assert gdal.VSIFOpenL(root + "/.zgroup", mode) is None
    for call in ((gdal.Unlink, root + "/.zgroup"), (gdal.Mkdir, root + "/n", 0o755)):
        with contextlib.suppress(RuntimeError):
            assert call[0](*call[1:]) == -1
    assert content(root + "/.zgroup") == b'{"zarr_format":2}'


# --- Chunks --------------------------------------------------------------------------------------

def chunk(row, column):
    data = np.arange(180, dtype="<u2").reshape(20, 9) + 1000
    return data[row * 2 : row * 2 + 2, column * 3 : column * 3 + 3].tobytes()


@needs_parquet
def test_chunks(root):
    for row in range(10):
        for column in range(3):
            name = f"{root}/grid/{row}.{column}"
            if row * 3 + column in (1, 13, 14):
                assert status(name) is None
                assert gdal.VSIFOpenL(name, "rb") is None
                continue
            assert status(name) == ("file", 12)
            assert content(name) == chunk(row, column)
    assert content(root + "/scalar/0") == (42).to_bytes(2, "little")
    assert content(root + "/deep/lines/39") == (39).to_bytes(2, "little")
    assert status(root + "/empty/0") is None


@needs_parquet
def test_listings(root):
    chunks = [f"{i // 3}.{i % 3}" for i in range(30) if i not in (1, 13, 14)]
    assert gdal.ReadDir(root + "/grid") == [".zarray", ".zattrs", *chunks]
    assert gdal.ReadDir(root + "/deep/lines") == [".zarray", ".zattrs", *map(str, range(40))]
    assert gdal.ReadDir(root + "/scalar") == [".zarray", ".zattrs", "0"]
    assert gdal.ReadDir(root + "/empty") == [".zarray", ".zattrs"]
    assert gdal.ReadDir(root + "/grid/0.0") is None
    assert len(gdal.ReadDirRecursive(root)) == 5 + 3 + 2 * 4 + 27 + 40 + 1
    assert len(gdal.ReadDir(root + "/deep/lines", 5)) in (5, 6)


@needs_parquet
def test_information_about_chunks(root, folder):
    def information(key):
        return gdal.GetFileMetadata(f"{root}/{key}", "CHUNK_INFO")
    assert information("grid/0.0") == {
        "SIZE": "12", "OFFSET": "6", "FILENAME": str(folder / "blob.bin")}
    assert information("grid/1.1") == {
        "SIZE": "12", "OFFSET": "0", "FILENAME": str(folder / "whole.bin")}
    assert information("grid/0.2")["SIZE"] == "12"
    assert set(information("grid/0.2")) == {"SIZE", "BASE64"}
    assert not information("grid/0.1")


@needs_parquet
@pytest.mark.gdal_since("3.12")
def test_raw_blocks(root, folder):
    array = gdal.OpenEx(root, gdal.OF_MULTIDIM_RASTER).GetRootGroup().OpenMDArray("grid")
    block = array.GetRawBlockInfo([0, 0])
    assert (block.GetFilename(), block.GetOffset(), block.GetSize()) == (
        str(folder / "blob.bin"), 6, 12)
    assert bytes(array.GetRawBlockInfo([0, 2]).GetInlineData()) == chunk(0, 2)
    assert array.GetRawBlockInfo([0, 1]).GetFilename() is None


@needs_parquet
@pytest.mark.parametrize("form", ["{path}", 'ZARR:"{path}"', "{root}", 'ZARR:"{root}"',
                                  "{path}/.zmetadata"])
def test_opening(folder, form):
    path = folder / "pyarrow_5.parq"
    name = form.format(path=path, root=f"/vsikerchunk_parquet_ref/{{{path}}}")
    group = gdal.OpenEx(name, gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    for array, expected in EXPECTED.items():
        found = group.OpenMDArrayFromFullname("/" + array).ReadAsArray()
        np.testing.assert_array_equal(found, expected)
    dataset = gdal.Open(name)
    assert len(dataset.GetSubDatasets()) or dataset.RasterCount
    del dataset


@needs_parquet
def test_identification(folder):
    for name in (folder / NAMES[0], f"/vsikerchunk_parquet_ref/{{{folder / NAMES[0]}}}"):
        assert gdal.IdentifyDriverEx(str(name), gdal.OF_MULTIDIM_RASTER).ShortName == "Zarr"


@needs_parquet
@pytest.mark.parametrize("content_of_file, problem", [
    (b"", "not a complete Parquet file"), (b"PAR1" * 3, "its footer"),
    (b"no Parquet", "not a complete Parquet file"),
])
def test_bad_files(folder, content_of_file, problem):
    path = folder / "pyarrow_5.parq"
    (path / "grid/refs.1.parq").write_bytes(content_of_file)
    root = f"/vsikerchunk_parquet_ref/{{{path}}}"
    for call in ((gdal.VSIStatL, root + "/grid/2.0"), (gdal.VSIFOpenL, root + "/grid/2.0", "rb"),
                 (gdal.ReadDir, root + "/grid")):
        with pytest.raises(RuntimeError) as caught:
            call[0](*call[1:])
        assert f"{path}/grid/refs.1.parq: " in str(caught.value)
        assert problem in str(caught.value)
    assert content(root + "/grid/0.0") == chunk(0, 0)
    assert status(root) == ("folder", 0)


@needs_parquet
def test_missing_files(folder):
    """Chunks of a file of references that does not exist do not exist, as fsspec has it."""
    path = folder / "pyarrow_5.parq"
    os.unlink(path / "grid/refs.1.parq")
    root = f"/vsikerchunk_parquet_ref/{{{path}}}"
    assert status(root + "/grid/2.0") is None
    assert status(root + "/grid/0.0") == ("file", 12)


@needs_parquet
def test_missing_targets(folder):
    os.unlink(folder / "whole.bin")
    root = f"/vsikerchunk_parquet_ref/{{{folder / NAMES[1]}}}"
    assert status(root + "/grid/1.1") is None
    with pytest.raises(RuntimeError, match="grid/1.1: .*whole.bin: this file"):
        gdal.VSIFOpenL(root + "/grid/1.1", "rb")
    assert content(root + "/grid/0.0") == chunk(0, 0)
