"""Kerchunk references in JSON as references in Parquet files: copies, and copies in a cache."""
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from osgeo import gdal

ARRAY = {"zarr_format": 2, "shape": [4, 6], "chunks": [2, 3], "dtype": "<u2", "compressor": None,
         "filters": None, "order": "C", "fill_value": 9}
GRID = np.arange(24, dtype="<u2").reshape(4, 6)
OPTION = "CONVERT_TO_KERCHUNK_PARQUET_REFERENCE"


@pytest.fixture
def document(tmp_path):
    """A document, and what its array /v holds: the last chunk is missing."""
    parts = [GRID[i : i + 2, j : j + 3] for i in (0, 2) for j in (0, 3)]
    (tmp_path / "blob.bin").write_bytes(b"--" + parts[0].tobytes() + b"-")
    (tmp_path / "whole.bin").write_bytes(parts[1].tobytes())
    references = {
        ".zgroup": {"zarr_format": 2}, ".zattrs": '{"title": "é"}', "v/.zarray": json.dumps(ARRAY),
        "v/.zattrs": {"_ARRAY_DIMENSIONS": ["y", "x"]}, "v/0.0": ["{{u}}", 2, 12],
        "v/0.1": ["whole.bin"], "v/1.0": "base64:" + _base64(parts[2])}
    path = tmp_path / "refs.json"
    path.write_text(json.dumps({"version": 1, "templates": {"u": "blob.bin"}, "refs": references}))
    return path


def _base64(values):
    import base64
    return base64.b64encode(values.tobytes()).decode()


def check(name):
    want = GRID.copy()
    want[2:, 3:] = 9
    root = gdal.OpenEx(str(name), gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    assert root.GetAttribute("title").ReadAsString() == "é"
    array = root.OpenMDArray("v")
    np.testing.assert_array_equal(array.ReadAsArray(), want)
    assert [d.GetName() for d in array.GetDimensions()] == ["y", "x"]


def copy(source, target, **options):
    return gdal.GetDriverByName("Zarr").CreateCopy(str(target), source, options=[OPTION + "=YES"])


@pytest.mark.parametrize("form", ["{}", 'ZARR:"{}"', "/vsikerchunk_json_ref/{{{}}}",
                                  'ZARR:"/vsikerchunk_json_ref/{{{}}}":/v'])
def test_copies(document, tmp_path, form):
    source = gdal.Open(form.format(document))
    result = copy(source, tmp_path / "out.parq")
    assert result is not None
    del result
    assert sorted(os.listdir(tmp_path / "out.parq")) == [".zmetadata", "v"]
    assert os.listdir(tmp_path / "out.parq/v") == ["refs.0.parq"]
    check(tmp_path / "out.parq")
    check(f"/vsikerchunk_parquet_ref/{{{tmp_path}/out.parq}}")


def test_copies_of_hierarchies(document, tmp_path):
    result = copy(gdal.OpenEx(str(document), gdal.OF_MULTIDIM_RASTER), tmp_path / "out.parq")
    assert result.GetRootGroup().GetMDArrayNames() == ["v"]
    check(tmp_path / "out.parq")


def test_copies_elsewhere(document, tmp_path, monkeypatch):
    """Relative names become absolute; beside the document they stay."""
    (tmp_path / "deep").mkdir()
    monkeypatch.chdir(tmp_path)
    for name in ("deep/out.parq", "out.parq", str(tmp_path / "deep/more.parq"), "/vsimem/out.parq"):
        copy(gdal.Open("refs.json"), name)
        check(name)
    chunk = "/vsikerchunk_parquet_ref/{out.parq}/v/0.0"
    assert gdal.GetFileMetadata(chunk, "CHUNK_INFO")["FILENAME"] == "blob.bin"
    gdal.RmdirRecursive("/vsimem/out.parq")


@pytest.mark.parametrize("program", ["gdal_translate", "gdalmdimtranslate"])
def test_programs(document, tmp_path, program):
    if program == "gdalmdimtranslate" and int(gdal.VersionInfo()) < 3_110_000:
        pytest.skip("this gdalmdimtranslate copies data only")
    subprocess.run([program, "-q", "-of", "Zarr", str(document),
                    str(tmp_path / "out.parq"), "-co", OPTION + "=YES"], check=True)
    check(tmp_path / "out.parq")


def test_sources_without_data(document, tmp_path):
    """What newer versions of gdal_translate open: the dataset only stands for the document."""
    source = gdal.Open(f"ZARR_DUMMY:{document}")
    assert source.RasterCount == 0
    copy(source, tmp_path / "out.parq")
    check(tmp_path / "out.parq")
    with pytest.raises(RuntimeError, match="none.json is not a JSON document"):
        copy(gdal.Open(f"ZARR_DUMMY:{tmp_path}/none.json"), tmp_path / "more.parq")


def test_other_programs_read_the_copy(document, tmp_path):
    """With fsspec and pyarrow, where they exist."""
    pytest.importorskip("fsspec")
    pytest.importorskip("pyarrow")
    pytest.importorskip("pandas")
    copy(gdal.Open(str(document)), tmp_path / "out.parq")
    code = f"""if True:
        from fsspec.implementations.reference import LazyReferenceMapper
        references = LazyReferenceMapper({str(tmp_path / 'out.parq')!r}, engine="pyarrow")
        assert references["v/0.0"] == ["blob.bin", 2, 12], references["v/0.0"]
        assert references["v/0.1"] == ["whole.bin"], references["v/0.1"]
        assert len(references["v/1.0"]) == 12
        assert "v/1.1" not in references
    """
    subprocess.run([sys.executable, "-c", code], check=True)


def test_many_chunks(tmp_path):
    count = 25_000
    (tmp_path / "blob.bin").write_bytes(np.arange(count, dtype="<u2").tobytes())
    references = {".zgroup": {"zarr_format": 2},
                  "v/.zarray": ARRAY | {"shape": [count], "chunks": [1]}}
    references |= {f"v/{i}": ["blob.bin", 2 * i, 2] for i in range(count) if i % 3}
    (tmp_path / "refs.json").write_text(json.dumps(references))
    copy(gdal.OpenEx(str(tmp_path / "refs.json"), gdal.OF_MULTIDIM_RASTER), tmp_path / "out.parq")
    assert len(os.listdir(tmp_path / "out.parq/v")) == 3
    root = gdal.OpenEx(str(tmp_path / "out.parq"), gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    want = np.arange(count, dtype="<u2")
    want[::3] = 9
    np.testing.assert_array_equal(root.OpenMDArray("v").ReadAsArray(), want)


def test_copies_that_are_refused(document, tmp_path):
    source = gdal.Open(str(document))
    (tmp_path / "exists.parq").mkdir()
    (tmp_path / "exists.parq/file").write_text("")
    with pytest.raises(RuntimeError):
        copy(source, tmp_path / "exists.parq")
    assert os.listdir(tmp_path / "exists.parq") == ["file"]
    with pytest.raises(RuntimeError, match="is not a JSON document of Kerchunk references"):
        copy(gdal.GetDriverByName("MEM").Create("", 2, 2), tmp_path / "out.parq")
    gdal.GetDriverByName("Zarr").CreateCopy(str(tmp_path / "v.zarr"), source)
    with pytest.raises(RuntimeError, match="is not a JSON document of Kerchunk references"):
        copy(gdal.Open(str(tmp_path / "v.zarr")), tmp_path / "out.parq")
    with pytest.raises(RuntimeError, match="copies"):
        gdal.GetDriverByName("Zarr").Create(str(tmp_path / "out.parq"), 2, 2,
                                            options=[OPTION + "=YES"])
    assert not (tmp_path / "out.parq").exists()


@pytest.mark.parametrize("more, problem", [
    ({"v/0.0.0": "a"}, "v/0.0.0: it is not a chunk of an array of Zarr version 2"),
    ({"other": "a"}, "other: it is not a chunk"),
    ({"w/zarr.json": "{}"}, "w/zarr.json: it is not a chunk"),
    ({"v/0.0": ["blob.bin", 2**63, 1]}, "does not fit 63 bits"),
    ({"w/.zarray": "[]"}, "w/.zarray: it is not a JSON object"),
])
def test_references_that_do_not_fit(document, tmp_path, more, problem):
    references = json.loads(document.read_text())
    references["refs"] |= more
    document.write_text(json.dumps(references))
    with pytest.raises(RuntimeError) as caught:
        copy(gdal.OpenEx(str(document), gdal.OF_MULTIDIM_RASTER), tmp_path / "out.parq")
    assert problem in str(caught.value)
    assert not (tmp_path / "out.parq").exists()


# --- The cache -----------------------------------------------------------------------------------

@pytest.fixture
def cache(tmp_path):
    folder = tmp_path / "cache/of references"
    gdal.SetConfigOption("VSIKERCHUNK_CACHE_DIR", str(folder))
    yield folder
    gdal.SetConfigOption("VSIKERCHUNK_CACHE_DIR", None)


def open_cached(name):
    return gdal.OpenEx(str(name), gdal.OF_MULTIDIM_RASTER,
                       open_options=["CACHE_KERCHUNK_JSON=YES"])


def read(dataset):
    return dataset.GetRootGroup().OpenMDArray("v").ReadAsArray()


@pytest.mark.parametrize("form", ["{}", 'ZARR:"{}"', "/vsikerchunk_json_ref/{{{}}}"])
def test_cached_documents(document, cache, form):
    want = read(gdal.OpenEx(str(document), gdal.OF_MULTIDIM_RASTER))
    for _ in range(2):
        np.testing.assert_array_equal(read(open_cached(form.format(document))), want)
        copies = os.listdir(cache)
        assert len(copies) == 1
        assert copies[0].startswith("refs_")
        assert sorted(os.listdir(cache / copies[0])) == [".zmetadata", "v"]
    check(f"/vsikerchunk_json_ref_cached/{{{document}}}")
    assert len(os.listdir(cache)) == 1


def test_the_document_is_not_read_again(document, cache):
    """What is cached is read from the cache: a document of the same size and time shows it."""
    read(open_cached(document))
    status = os.stat(document)
    document.write_text("?" * status.st_size)
    os.utime(document, (status.st_atime, status.st_mtime))
    assert read(gdal.OpenEx(f"/vsikerchunk_json_ref_cached/{{{document}}}",
                            gdal.OF_MULTIDIM_RASTER))[0, 1] == 1


def test_changed_documents(document, cache):
    read(open_cached(document))
    document.write_text(document.read_text().replace("whole.bin", "./whole.bin"))
    assert read(open_cached(document)).shape == (4, 6)
    assert len(os.listdir(cache)) == 2


def test_option_for_all_documents(document, cache):
    gdal.SetConfigOption("VSIKERCHUNK_USE_CACHE", "YES")
    try:
        check(document)
        check(f"/vsikerchunk_json_ref/{{{document}}}")
        assert len(os.listdir(cache)) == 1
    finally:
        gdal.SetConfigOption("VSIKERCHUNK_USE_CACHE", None)


def test_documents_that_cannot_be_cached(document, tmp_path):
    """They are read as they are, with a warning."""
    references = json.loads(document.read_text())
    references["refs"]["other"] = "a"
    document.write_text(json.dumps(references))
    (tmp_path / "file").write_text("")
    warnings = []
    gdal.SetConfigOption("VSIKERCHUNK_CACHE_DIR", str(tmp_path / "file"))
    gdal.PushErrorHandler(lambda severity, number, text: warnings.append(text))
    try:
        assert read(open_cached(document))[0, 1] == 1
    finally:
        gdal.PopErrorHandler()
        gdal.SetConfigOption("VSIKERCHUNK_CACHE_DIR", None)
    assert any("cannot be cached as references in Parquet" in text for text in warnings)


def test_option_for_other_stores(tmp_path):
    gdal.GetDriverByName("Zarr").Create(str(tmp_path / "a.zarr"), 2, 2)
    assert open_cached(tmp_path / "a.zarr") is not None
