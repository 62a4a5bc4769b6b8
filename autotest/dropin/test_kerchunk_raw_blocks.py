"""GetRawBlockInfo of arrays in Kerchunk references: the file, offset and size, or the bytes."""
import json

import pytest
from osgeo import gdal

pytestmark = [pytest.mark.gdal_since("3.12"), pytest.mark.builtin_since("3.12")]

ARRAY = {"zarr_format": 2, "shape": [12], "chunks": [2], "dtype": "<u2", "order": "C",
         "fill_value": 0, "compressor": {"id": "zlib", "level": 1},
         "filters": [{"id": "shuffle", "elementsize": 2}]}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "blob.bin").write_bytes(bytes(64))
    (tmp_path / "refs.json").write_text(json.dumps({
        ".zgroup": {"zarr_format": 2}, "x/.zarray": ARRAY, "x/0": ["blob.bin", 10, 20],
        "x/1": "base64:AQID", "x/2": ["blob.bin"],
        "x/4": ["none.bin"]}))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def block(name, index):
    dataset = gdal.OpenEx(str(name), gdal.OF_MULTIDIM_RASTER)
    info = dataset.GetRootGroup().OpenMDArray("x").GetRawBlockInfo([index])
    inline = info.GetInlineData()
    return (info.GetFilename(), info.GetOffset(), info.GetSize(),
            None if inline is None else bytes(inline))


@pytest.mark.parametrize("form", ["{}", "/vsikerchunk_json_ref/{{{}}}", 'ZARR:"{}"'])
def test_places(folder, form):
    name = form.format(folder / "refs.json")
    assert block(name, 0) == (f"{folder}/blob.bin", 10, 20, None)
    assert block(name, 1) == (None, 0, 3, b"\1\2\3")
    assert block(name, 2) == (f"{folder}/blob.bin", 0, 64, None)
    assert block(name, 3)[0] is None
    with pytest.raises(RuntimeError):
        block(name, 4)


def test_relative_names(folder):
    assert block("refs.json", 0) == ("blob.bin", 10, 20, None)


def test_positions_outside(folder):
    with pytest.raises(RuntimeError):
        block("refs.json", 6)
