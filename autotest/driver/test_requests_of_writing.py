"""The cost of writing to object stores: requests are counted, and none is saved at the expense of
what other programs have put.

Counts include two requests by which GDAL itself finds out what a path is before it opens a store.
"""
import json

import numpy as np
import pytest
from multidim import attributes, create, create_array, open_root, open_to_write
from osgeo import gdal
from test_write_faults import errors

GDAL_MINOR = int(gdal.VersionInfo()) // 10000
SIZE, CHUNK = 128, 16
CHUNKS = (SIZE // CHUNK) ** 2
DATA = np.random.default_rng(1).integers(1, 60000, (SIZE, SIZE), "u2")
PATH = "/vsis3/bucket/a.zarr"
FORMATS = ("ZARR_V2", "ZARR_V3")
# GDAL 3.6 reports this by mistake.
HARMLESS = "Only read-only mode is supported for /vsicurl"
resizes = pytest.mark.skipif(GDAL_MINOR < 307, reason="arrays are resized since GDAL 3.7")
deletes = pytest.mark.skipif(GDAL_MINOR < 308, reason="arrays are deleted since GDAL 3.8")


def create_raster(*options):
    dataset = gdal.GetDriverByName("Zarr").Create(
        PATH, SIZE, SIZE, 1, gdal.GDT_UInt16, [f"BLOCKSIZE={CHUNK},{CHUNK}", *options])
    assert dataset.GetRasterBand(1).WriteArray(DATA) == gdal.CE_None


def create_multidim(*options):
    dataset = create(PATH, *options)
    root = dataset.GetRootGroup()
    array = create_array(root, "a", DATA.shape, gdal.GDT_UInt16, f"BLOCKSIZE={CHUNK},{CHUNK}")
    assert array.Write(DATA) == gdal.CE_None


def update_raster():
    dataset = gdal.Open(PATH, gdal.GA_Update)
    assert dataset.GetRasterBand(1).WriteArray(DATA[:CHUNK, :CHUNK] + 1) == gdal.CE_None


def update_multidim():
    dataset = open_to_write(PATH)
    root = dataset.GetRootGroup()
    array = root.OpenMDArray("a")
    assert array.Write(DATA[:CHUNK, :CHUNK] + 1, [0, 0], [CHUNK, CHUNK]) == gdal.CE_None


def resize(shape):
    dataset = open_to_write(PATH)
    root = dataset.GetRootGroup()
    array = root.OpenMDArray("a")
    assert array.Resize(shape) == gdal.CE_None


def delete_array():
    dataset = open_to_write(PATH)
    root = dataset.GetRootGroup()
    assert root.DeleteMDArray("a") == gdal.CE_None


def delete_store():
    assert gdal.GetDriverByName("Zarr").Delete(PATH) == gdal.CE_None


def requests_of(server, action):
    gdal.VSICurlClearCache()
    server.requests.clear()
    with errors() as messages:
        action()
    assert not set(messages) - {HARMLESS}
    return len(server.requests), [f"{method} {path.partition('?X-Amz')[0]}"
                                  for _, _, method, path in server.requests]


# --- Counts --------------------------------------------------------------------------------------

@pytest.mark.parametrize("action, most", [
    (create_raster, {"ZARR_V2": CHUNKS + 16, "ZARR_V3": CHUNKS + 16}),
    (create_multidim, {"ZARR_V2": CHUNKS + 12, "ZARR_V3": CHUNKS + 12}),
])
@pytest.mark.parametrize("version", FORMATS)
def test_create(server, version, action, most):
    count, log = requests_of(server, lambda: action(f"FORMAT={version}"))
    assert count <= most[version], "\n".join(log)
    assert gdal.Open(PATH).ReadAsArray().tolist() == DATA.tolist()
    root = json.loads(server.objects["a.zarr/zarr.json"]) if version == "ZARR_V3" else None
    assert root["consolidated_metadata"] if root else "a.zarr/.zmetadata" in server.objects
    assert not any("owed" in key for key in server.objects)


@pytest.mark.parametrize("action, most", [
    (update_raster, {"ZARR_V2": 10, "ZARR_V3": 8}),
    (update_multidim, {"ZARR_V2": 8, "ZARR_V3": 6}),
    pytest.param(lambda: resize([SIZE // 2, SIZE // 2]), {"ZARR_V2": 21, "ZARR_V3": 19},
                 marks=resizes, id="shrink"),
    pytest.param(lambda: resize([2 * SIZE, SIZE]), {"ZARR_V2": 19, "ZARR_V3": 17},
                 marks=resizes, id="grow"),
    pytest.param(delete_array, {"ZARR_V2": 20, "ZARR_V3": 18}, marks=deletes),
    (delete_store, {"ZARR_V2": 14, "ZARR_V3": 12}),
])
@pytest.mark.parametrize("version", FORMATS)
def test_change(server, version, action, most):
    create_multidim(f"FORMAT={version}")
    count, log = requests_of(server, action)
    assert count <= most[version], "\n".join(log)


def test_many_values_at_the_root(server):
    """Listing them would take many requests, so what exists is requested."""
    server.objects = {"a.zarr/.zarray": json.dumps({
        "zarr_format": 2, "shape": [40, 40], "chunks": [1, 1], "dtype": "|u1", "compressor": None,
        "fill_value": 0, "order": "C", "filters": None}).encode()}
    server.objects |= {f"a.zarr/{y}.{x}": b"7" for y in range(40) for x in range(40)}

    def update():
        dataset = gdal.Open(PATH, gdal.GA_Update)
        assert dataset.GetRasterBand(1).WriteArray(np.full((1, 1), 9, "u1"), 3, 2) == gdal.CE_None

    count, log = requests_of(server, update)
    assert count <= 16 and sum("delimiter" in line for line in log) <= 2, "\n".join(log)
    assert server.objects["a.zarr/2.3"] == b"\x09"


# --- Other programs ------------------------------------------------------------------------------

@pytest.mark.parametrize("version", FORMATS)
def test_an_array_that_was_added_elsewhere(server, version):
    create_multidim(f"FORMAT={version}")
    dataset = open_to_write(PATH)
    root = dataset.GetRootGroup()
    other = open_to_write(PATH)
    added = create_array(other.GetRootGroup(), "b", (4,), gdal.GDT_Byte)
    added.Write(np.arange(4, dtype="u1"))
    del added, other
    assert root.OpenMDArray("b").ReadAsArray().tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("version", FORMATS)
def test_an_array_that_was_made_elsewhere_stays(server, version):
    """Also in a store that has just been created."""
    dataset = create(PATH, f"FORMAT={version}")
    root = dataset.GetRootGroup()
    other = open_to_write(PATH)
    added = create_array(other.GetRootGroup(), "b", (4,), gdal.GDT_Byte)
    added.Write(np.arange(4, dtype="u1"))
    del added, other
    with errors() as messages:
        assert create_array(root, "b", (9,), gdal.GDT_Byte) is None
    assert any("already exists" in message for message in messages), messages
    del root, dataset
    gdal.VSICurlClearCache()
    assert open_root(PATH).OpenMDArray("b").ReadAsArray().tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("version", FORMATS)
def test_what_exists_is_not_created_anew(server, version):
    driver = gdal.GetDriverByName("Zarr")
    for key in ("a.zarr", "a.zarr/readme.txt", "a.zarr/g/c/0/0"):
        server.objects = {key: b"text"}
        gdal.VSICurlClearCache()
        with errors() as messages:
            assert driver.CreateMultiDimensional(PATH, [], [f"FORMAT={version}"]) is None
        assert any("already exists" in message for message in messages), key
        assert server.objects == {key: b"text"}


@pytest.mark.parametrize("version", FORMATS)
def test_without_listings(server, version):
    """A server that denies them: what exists is requested."""
    create_multidim(f"FORMAT={version}")
    server.fail = lambda method, path: 403 if "prefix=" in path else None
    gdal.VSICurlClearCache()
    with errors():
        update_multidim()
        array = open_root(PATH).OpenMDArray("a")
    want = DATA.copy()
    want[:CHUNK, :CHUNK] += 1
    assert array.ReadAsArray().tolist() == want.tolist()


def set_attribute(node, name):
    made = node.CreateAttribute(name, [], gdal.ExtendedDataType.Create(gdal.GDT_Int32))
    made.Write(1)


@pytest.mark.parametrize("version", FORMATS)
def test_attributes_that_were_set_elsewhere(bucket, version):
    """A document that did not exist when the store was opened is read before it is changed."""
    path = f"{bucket}.zarr"
    dataset = create(path, f"FORMAT={version}")
    create_array(dataset.GetRootGroup(), "a", (4,), gdal.GDT_Byte)
    del dataset
    first, second = open_to_write(path), open_to_write(path)
    roots = [first.GetRootGroup(), second.GetRootGroup()]
    nodes = [(root, root.OpenMDArray("a")) for root in roots]
    for node in (*nodes[0], *nodes[1]):
        assert attributes(node) == {}
    for node in nodes[0]:
        set_attribute(node, "theirs")
    first.FlushCache()
    for node in nodes[1]:
        set_attribute(node, "mine")
    second.FlushCache()
    del node, nodes, roots, first, second
    gdal.VSICurlClearCache()
    root = open_root(path, "USE_CONSOLIDATED_METADATA=NO")
    for node in (root, root.OpenMDArray("a")):
        assert attributes(node) == {"mine": 1, "theirs": 1}
    consolidated = open_root(path)
    assert attributes(consolidated.OpenMDArray("a")) == {"mine": 1, "theirs": 1}


@pytest.mark.parametrize("version", FORMATS)
def test_consolidated_metadata_of_a_group_above(server, version):
    dataset = create(PATH, f"FORMAT={version}")
    group = dataset.GetRootGroup().CreateGroup("g")
    create_array(group, "a", (4,), gdal.GDT_Byte)
    del group, dataset
    gdal.VSICurlClearCache()
    dataset = open_to_write(f'ZARR:"{PATH}/g"')
    set_attribute(dataset.GetRootGroup().OpenMDArray("a"), "x")
    del dataset
    gdal.VSICurlClearCache()
    assert attributes(open_root(PATH).OpenGroup("g").OpenMDArray("a")) == {"x": 1}
