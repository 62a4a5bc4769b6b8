"""Kerchunk references in Parquet files, which fsspec wrote with pyarrow and fastparquet, and
pyarrow in other encodings: see ../matrix/parquet_references.py."""
import contextlib
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from osgeo import gdal
from webserver import serve

STORES = Path(__file__).parent.parent / "fixtures/stores/kerchunk_parquet"
NAMES = sorted(path.name for path in STORES.glob("*.parq"))
EXPECTED = json.loads((STORES / "expected.json").read_text())
FORMS = ["{}", 'ZARR:"{}"', "ZARR:{}", "{}/.zmetadata", "/vsikerchunk_parquet_ref/{{{}}}",
         'ZARR:"/vsikerchunk_parquet_ref/{{{}}}"']


def root_of(name):
    return gdal.OpenEx(str(name), gdal.OF_MULTIDIM_RASTER).GetRootGroup()


def check(name):
    root = root_of(name)
    assert root.GetMDArrayNames() == ["empty", "grid", "scalar"]
    assert root.GetAttribute("title").ReadAsString() == "é"
    for array, expected in EXPECTED.items():
        found = root.OpenMDArrayFromFullname("/" + array).ReadAsArray()
        np.testing.assert_array_equal(found, expected, err_msg=array)


@pytest.fixture
def store(tmp_path):
    shutil.copytree(STORES, tmp_path, dirs_exist_ok=True)
    return tmp_path / "pyarrow_5.parq"


def error_of(name, array="/grid"):
    with pytest.raises(RuntimeError) as caught:
        root_of(name).OpenMDArrayFromFullname(array).ReadAsArray()
    return str(caught.value)


def test_all_writers_are_here():
    assert len(NAMES) == 11


@pytest.mark.parametrize("name", NAMES)
def test_stores(name):
    check(STORES / name)


@pytest.mark.parametrize("form", FORMS)
def test_names(form):
    check(form.format(STORES / "fastparquet_5.parq"))


def test_names_of_parts():
    path = STORES / "zstd_v2.parq"
    for name in (f'ZARR:"{path}":/grid', f"/vsikerchunk_parquet_ref/{{{path}}}/grid",
                 f'ZARR:"/vsikerchunk_parquet_ref/{{{path}}}":/grid'):
        np.testing.assert_array_equal(gdal.Open(name).ReadAsArray(), EXPECTED["grid"])


def test_in_an_archive(tmp_path):
    shutil.make_archive(str(tmp_path / "refs"), "zip", STORES)
    check(f"/vsizip/{tmp_path}/refs.zip/deltas.parq")


def test_urls_with_a_query(monkeypatch):
    with serve(STORES, monkeypatch) as server:
        check(f'ZARR:"/vsicurl/{server.url}/pyarrow_5.parq?sig=1"')
        queries = [path.partition("?")[2] for path, _ in server.requests if "refs." in path]
    assert queries and set(queries) == {"sig=1"}


def test_a_missing_file_of_references_is_missing_chunks(store):
    (store / "grid/refs.0.parq").unlink()
    want = np.array(EXPECTED["grid"])
    want[:2], want[2:4, :6] = 7, 7
    np.testing.assert_array_equal(root_of(store).OpenMDArray("grid").ReadAsArray(), want)


def test_a_missing_target(store):
    (store.parent / "whole.bin").unlink()
    message = error_of(store)
    assert "grid/1.1" in message
    assert "whole.bin: this file, which a reference names, does not exist" in message


@pytest.mark.parametrize("content, problem", [
    (b"", "it is not a complete Parquet file"), (b"PAR1", "it is not a complete Parquet file"),
    (b"PAR1\0\0\0\0PAR1", "its metadata ends early"),
    (b"PAR1\xff\0\0\0PAR1", "its footer is not inside the file"),
    (b"PAR1\0\0\0\0\0\0\0\0PARE", "it is encrypted"),
])
def test_damaged_files(store, content, problem):
    (store / "grid/refs.0.parq").write_bytes(content)
    message = error_of(store)
    assert f"{store}/grid/refs.0.parq: {problem}" in message
    # The others can be read.
    np.testing.assert_array_equal(root_of(store).OpenMDArrayFromFullname("/deep/lines").ReadAsArray(),
                                  EXPECTED["deep/lines"])


@pytest.mark.parametrize("name", NAMES)
def test_damaged_bytes(tmp_path, name):
    """Any change is an error or changes values, and nothing else."""
    shutil.copytree(STORES / name, tmp_path / name)
    file = next((tmp_path / name / "grid").glob("refs.0.parq"))
    content = file.read_bytes()
    generator = np.random.default_rng(1)
    gdal.PushErrorHandler("CPLQuietErrorHandler")
    for _ in range(60):
        damaged = bytearray(content)
        damaged[generator.integers(len(content))] ^= 1 << generator.integers(8)
        file.write_bytes(damaged)
        with contextlib.suppress(RuntimeError):
            root_of(tmp_path / name).OpenMDArray("grid").ReadAsArray()
    gdal.PopErrorHandler()


@pytest.mark.parametrize("change, problem", [
    ({"record_size": 0}, '"record_size" is zero'), ({"record_size": -1}, "record_size"),
    ({"record_size": "5"}, "record_size"), ({"record_size": 1.5}, "record_size"),
    ({"metadata": []}, '"metadata" is not an object'),
])
def test_bad_metadata(store, change, problem):
    path = store / ".zmetadata"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    for name in (f'ZARR:"{store}"', f"/vsikerchunk_parquet_ref/{{{store}}}"):
        message = error_of(name)
        assert f"{store}/.zmetadata: " in message
        assert problem in message


def test_files_that_change(store):
    """A file that another program replaces is read again."""
    array = root_of(store).OpenMDArray("grid")
    assert array.ReadAsArray()[0, 0] == 1000
    name = f"/vsikerchunk_parquet_ref/{{{store}}}/grid/0.0"
    assert gdal.VSIStatL(name).size == 12
    (store / "grid/refs.0.parq").unlink()
    assert gdal.VSIStatL(name) is None
    assert root_of(store).OpenMDArray("grid").ReadAsArray()[0, 0] == 7
