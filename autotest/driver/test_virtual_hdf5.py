"""Virtual stores of HDF5 files of every kind: what is read is what h5py reads, or making the store
is an error. Filters that single chunks have skipped, several filters in every order, numbers with
fewer bits than bytes, and the forms of the chunk index are what GDAL does not tell."""
import itertools
import json
import zlib

import numpy as np
import pytest
from osgeo import gdal

h5py = pytest.importorskip("h5py")
pytestmark = pytest.mark.skipif(
    gdal.GetDriverByName("HDF5") is None or int(gdal.VersionInfo()) < 3_120_000,
    reason="GDAL does not tell where blocks are")
SHAPE, CHUNK = (96, 300), (48, 100)
STARTS = list(itertools.product(range(0, 96, 48), range(0, 300, 100)))
FILTERS = {"S": lambda p: p.set_shuffle(), "D": lambda p: p.set_deflate(4),
           "F": lambda p: p.set_fletcher32(),
           "L": lambda p: p.set_filter(h5py.h5z.FILTER_LZF, h5py.h5z.FLAG_OPTIONAL)}


def values(first=None, dtype="<i4"):
    data = np.random.default_rng(1).integers(-1000, 1000, SHAPE).astype(dtype)
    if first is not None:
        data[:48, :100] = first
    return data


def checksum(data):
    """Fletcher-32 of HDF5: of big-endian halves, with the sums in another order."""
    sums = [0, 0]
    for word in np.frombuffer(data + bytes(len(data) % 2), ">u2").tolist():
        sums[0] = (sums[0] + word) % 65535
        sums[1] = (sums[1] + sums[0]) % 65535
    sums = [each or 65535 for each in sums] if any(data) else [0, 0]
    return data + (sums[1] << 16 | sums[0]).to_bytes(4, "little")


ENCODERS = {"S": lambda data: np.frombuffer(data, "u1").reshape(-1, 4).T.tobytes(),
            "D": lambda data: zlib.compress(data, 4), "F": checksum}


def write(path, pipeline="", data=None, masks=None, kind=None, **options):
    """`masks` gives chunks, by their numbers, the bits of the filters that they skip."""
    data = values() if data is None else data
    with h5py.File(path, "w", **options) as file:
        properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        properties.set_chunk(CHUNK)
        for name in pipeline:
            FILTERS[name](properties)
        kind = kind or h5py.h5t.py_create(data.dtype)
        made = h5py.h5d.create(file.id, b"a", kind, h5py.h5s.create_simple(SHAPE), properties)
        if masks is None:
            made.write(h5py.h5s.ALL, h5py.h5s.ALL, np.ascontiguousarray(data))
            return
        for number, (row, column) in enumerate(STARTS):
            chunk = data[row:row + CHUNK[0], column:column + CHUNK[1]].tobytes()
            for bit, name in enumerate(pipeline):
                if not masks.get(number, 0) >> bit & 1:
                    chunk = ENCODERS[name](chunk)
            made.write_direct_chunk((row, column), chunk, masks.get(number, 0))


def read(path):
    dataset = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER)
    return dataset.GetRootGroup().OpenMDArray("a").ReadAsArray()


def check(folder, expected=None):
    """Returns how many chunks are references, or None if the store cannot be made."""
    source = gdal.OpenEx(str(folder / "a.h5"), gdal.OF_MULTIDIM_RASTER)
    if expected is None:
        with h5py.File(folder / "a.h5") as file:
            expected = file["a"][()]
    found = None
    for mode in ("YES", "AUTO"):
        target = folder / (mode + ".json")
        try:
            made = gdal.GetDriverByName("Zarr").CreateCopy(
                str(target), source, options=["VIRTUAL=" + mode])
        except RuntimeError as error:
            assert "array /a: " in str(error)
            assert mode == "YES" or "its codecs are for reading only" in str(error)
            assert not target.exists()
            continue
        assert made is not None
        made = None
        np.testing.assert_array_equal(read(target), expected)
        if mode == "YES":
            refs = json.loads(target.read_text())["refs"]
            found = sum(isinstance(value, list) for value in refs.values())
    return found


PIPELINES = ["".join(names) for count in (1, 2, 3)
             for names in itertools.product("SDFL", repeat=count)]


@pytest.mark.parametrize("first", [None, 0], ids=["random", "zeros first"])
@pytest.mark.parametrize("pipeline", PIPELINES)
def test_pipelines(tmp_path, pipeline, first):
    write(tmp_path / "a.h5", pipeline, values(first))
    found = check(tmp_path)
    if pipeline in ("S", "D", "F", "SD", "SF", "DF", "SDF"):
        assert found == 6


@pytest.mark.parametrize("where", [[0], [1], range(6), range(5)], ids=str)
@pytest.mark.parametrize("pipeline, mask", [
    (pipeline, mask) for pipeline in ("S", "D", "F", "SD", "SF", "DF", "SDF")
    for mask in range(1, 1 << len(pipeline))])
@pytest.mark.parametrize("first", [None, 0], ids=["random", "zeros first"])
def test_skipped_filters(tmp_path, pipeline, mask, where, first):
    write(tmp_path / "a.h5", pipeline, values(first), dict.fromkeys(where, mask))
    check(tmp_path)


@pytest.mark.parametrize("first", [None, 5], ids=["random", "constant first"])
@pytest.mark.parametrize("offset", [0, 3])
@pytest.mark.parametrize("dtype", ["<i2", ">i2"])
def test_numbers_with_fewer_bits(tmp_path, dtype, offset, first):
    kind = h5py.h5t.py_create(np.dtype(dtype)).copy()
    kind.set_precision(12)
    kind.set_offset(offset)
    write(tmp_path / "a.h5", data=values(first, dtype), kind=kind)
    # GDAL does not extend the sign of numbers with big-endian bytes as h5py does.
    check(tmp_path, read(tmp_path / "a.h5"))


@pytest.mark.parametrize("unlimited", list(itertools.product([96, None, 500], [300, None, 500])),
                         ids=str)
@pytest.mark.parametrize("version", ["earliest", "v110", "latest"])
@pytest.mark.parametrize("equal", ["corners", "none"])
def test_forms_of_the_chunk_index(tmp_path, unlimited, version, equal):
    data = values()
    if equal == "corners":
        for row, column in itertools.product((0, 48), (0, 200)):
            data[row:row + 48, column:column + 100] = data[:48, :100]
    with h5py.File(tmp_path / "a.h5", "w", libver=version) as file:
        file.create_dataset("a", data=data, chunks=CHUNK, maxshape=unlimited)
    check(tmp_path)


def test_incompressible_chunks_of_lzf(tmp_path):
    """HDF5 itself skips the filter for these."""
    data = values()
    data[48:, 100:200] = np.random.default_rng(2).integers(-2**31, 2**31 - 1, (48, 100))
    write(tmp_path / "a.h5", "SL", data)
    check(tmp_path)
