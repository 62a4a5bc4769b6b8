"""How many chunks are stored, and their bytes, without reading them."""
import shutil

import numpy as np
import pytest
import webserver
from classic import open_raster
from icechunk_stores import repository  # noqa: F401, a fixture
from multidim import open_array, open_root
from osgeo import gdal
from stores import BYTES, GZIP, edit_json, sharding, write_array, write_json
from test_programs import run

DATA = np.zeros((8, 8), "u2")
DATA[:4, :4] = 5  # a chunk of four, and four inner chunks of sixteen
DATA[7, 7] = 6  # another one, with one inner chunk
DOMAIN = "STORED_CHUNKS"


@pytest.fixture
def store(tmp_path):
    return write_array(tmp_path / "a.zarr", DATA, chunks=(4, 4), names=["y", "x"])


def counted(name, *options):
    return open_raster(name, *options).GetMetadata(DOMAIN)


PLAIN = {"CHUNKS": "4", "STORED_CHUNKS": "2", "STORED_BYTES": "64"}


def test_a_folder(store):
    (store / "c/0/0.zarr-partial").write_bytes(b"left")
    (store / "c/9").mkdir()
    (store / "c/9/9").write_bytes(b"outside")
    (store / "notes.txt").write_text("no chunk")
    assert counted(store) == PLAIN
    assert open_raster(store).GetMetadataItem("STORED_BYTES", DOMAIN) == "64"
    for file in (store / "c").rglob("*"):  # chunks are not read
        if file.is_file():
            file.write_bytes(b"x" * 100)
    assert counted(store) == PLAIN | {"STORED_BYTES": "200"}


def test_nothing_is_listed_before_it_is_asked_for(store):
    dataset = open_raster(store)
    assert DOMAIN not in dataset.GetMetadataDomainList()
    shutil.rmtree(store / "c")
    assert dataset.GetMetadata(DOMAIN) == {"CHUNKS": "4", "STORED_CHUNKS": "0", "STORED_BYTES": "0"}


@pytest.mark.parametrize("codecs, inner_bytes", [([BYTES], 40), ([BYTES, GZIP], None)])
def test_shards(tmp_path, codecs, inner_bytes):
    store = write_array(tmp_path / "a.zarr", DATA, chunks=(4, 4),
                        codecs=[sharding((2, 2), codecs)])
    items = counted(store)
    sizes = [file.stat().st_size for file in (store / "c").rglob("*") if file.is_file()]
    assert items["STORED_CHUNKS"] == "2" and items["STORED_BYTES"] == str(sum(sizes))
    assert items["STORED_INNER_CHUNKS"] == "5"
    index = 4 * 16 + 4
    assert items["STORED_INNER_BYTES"] == str(inner_bytes or sum(sizes) - 2 * index)


def test_a_shard_without_an_index(tmp_path):
    store = write_array(tmp_path / "a.zarr", DATA, chunks=(4, 4), codecs=[sharding((2, 2))])
    (store / "c/1/1").write_bytes(b"short")
    with pytest.raises(RuntimeError, match="array /: shard c/1/1"):
        counted(store)


def test_structural_info(store, monkeypatch):
    array = open_array(store)
    before = array.GetStructuralInfo() or {}
    assert "STORED_CHUNKS" not in before
    monkeypatch.setenv("ZARR_COUNT_CHUNKS", "YES")
    assert array.GetStructuralInfo() == before | PLAIN
    (store / "c/0/0").unlink()
    assert array.GetStructuralInfo()["STORED_CHUNKS"] == "1"
    monkeypatch.delenv("ZARR_COUNT_CHUNKS")
    assert (array.GetStructuralInfo() or {}) == before


def test_several_arrays(tmp_path):
    source = gdal.GetDriverByName("MEM").Create("", 8, 8, 2, gdal.GDT_Byte)
    source.GetRasterBand(1).WriteArray(DATA.astype("u1"))
    source.GetRasterBand(2).Fill(1)
    source.GetRasterBand(2).SetScale(2)  # so each band is an array
    gdal.GetDriverByName("Zarr").CreateCopy(str(tmp_path / "b.zarr"), source,
                                            options=["BLOCKSIZE=4,4", "FORMAT=ZARR_V3"])
    assert counted(tmp_path / "b.zarr") == {"CHUNKS": "8", "STORED_CHUNKS": "6",
                                            "STORED_BYTES": "96"}


def test_an_archive(store, tmp_path):
    archive = shutil.make_archive(str(tmp_path / "a"), "zip", tmp_path, "a.zarr")
    assert counted(archive) == PLAIN


def test_references(tmp_path):
    (tmp_path / "data.bin").write_bytes(bytes(100))
    array = {"zarr_format": 2, "shape": [8], "chunks": [2], "dtype": "|u1", "compressor": None,
             "filters": None, "fill_value": 0, "order": "C"}
    write_json(tmp_path / "r.json", {"version": 1, "refs": {
        ".zarray": str(array).replace("'", '"').replace("None", "null"),
        "0": ["data.bin", 10, 2], "2": "ab"}})
    assert counted(tmp_path / "r.json") == {"CHUNKS": "4", "STORED_CHUNKS": "2",
                                            "STORED_BYTES": "4"}


def test_icechunk(repository, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.setenv("ZARR_COUNT_CHUNKS", "YES")
    array = open_root(tmp_path / "repository").OpenMDArrayFromFullname("/g/a")
    info = array.GetStructuralInfo()
    assert (info["CHUNKS"], info["STORED_CHUNKS"], info["STORED_BYTES"]) == ("2", "2", "48")


def test_a_server_without_listings(store, tmp_path, monkeypatch):
    with webserver.serve(tmp_path, monkeypatch) as server:
        dataset = open_raster(f'ZARR:"/vsicurl/{server.url}/a.zarr"')
        with pytest.raises(RuntimeError, match="the store does not list its values"):
            dataset.GetMetadata(DOMAIN)
        del dataset


def test_gdalinfo(store):
    edit_json(store / "zarr.json", attributes={})
    assert "STORED_CHUNKS=2" in run("gdalinfo", "-mdd", DOMAIN, store)
    assert "STORED_CHUNKS" not in run("gdalinfo", "-mdd", "all", store)
