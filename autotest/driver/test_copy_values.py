"""Copies between arrays of different chunks: all values, each chunk of the source read once or
nearly so, in the memory that is allowed; with progress, and without wrong values after errors."""
import os
import re
import subprocess

import numpy as np
import pytest
from multidim import create, create_array, open_root
from night import each_value
from osgeo import gdal
from test_full_disk import file_system
from test_write_memory import peak

SHAPE = (60, 82, 104)
DATA = np.arange(np.prod(SHAPE)).reshape(SHAPE).astype("f4")  # each value once
SOURCES = {"slices": "1,82,104", "cubes": "7,10,20", "series": "60,5,5", "one chunk": "60,82,104"}
TARGETS = {
    "series": ["ARRAY:BLOCKSIZE=60,4,6"],
    "slices": ["ARRAY:BLOCKSIZE=1,82,104"],
    "cubes": ["ARRAY:BLOCKSIZE=8,16,16", "ARRAY:COMPRESS=ZSTD"],
    "shards": ["FORMAT=ZARR_V3", "ARRAY:BLOCKSIZE=60,40,40", "ARRAY:SHARD_CHUNK_SHAPE=20,20,20"],
    "large shards": ["FORMAT=ZARR_V3", "ARRAY:BLOCKSIZE=60,60,120",
                     "ARRAY:SHARD_CHUNK_SHAPE=20,20,20"],
    "one chunk": ["ARRAY:BLOCKSIZE=60,82,104"],
}
LEAST = 1 << 20  # bytes: half of the array
READ_ONCE = re.compile(r"closing .*source.*chunks: \d+ fetched, (\d+) decoded")


def write_source(path, *options, values=DATA, nodata=None):
    dataset = create(path)
    array = create_array(dataset.GetRootGroup(), "a", values.shape, gdal.GDT_Float32,
                         "COMPRESS=ZSTD", *options)
    if nodata is not None:
        array.SetNoDataValueDouble(nodata)
    array.Write(values)


def translate(source, target, *options, memory=LEAST, **environment):
    words = [word for option in options for word in ("-co", option)]
    return subprocess.run(
        ["gdalmdimtranslate", "--config", "ZARR_COPY_MEMORY", str(memory), "-of", "Zarr", *words,
         str(source), str(target)], capture_output=True, text=True, timeout=300,
        env=os.environ | environment)


def assert_is_copied(path, values=DATA):
    np.testing.assert_array_equal(open_root(path).OpenMDArray("a").ReadAsArray(), values)


@pytest.fixture
def slices(tmp_path):
    """A source whose chunks do not fit the memory beside series: each would be read five times."""
    write_source(tmp_path / "source.zarr", f"BLOCKSIZE={SOURCES['slices']}")
    return tmp_path / "source.zarr"


@each_value()
@pytest.mark.parametrize("memory", [LEAST, 64 << 20])
@pytest.mark.parametrize("chunks", SOURCES)
def test_values(tmp_path, chunks, memory):
    write_source(tmp_path / "source.zarr", f"BLOCKSIZE={SOURCES[chunks]}")
    for name, options in TARGETS.items():
        target = tmp_path / f"{name}.zarr"
        result = translate(tmp_path / "source.zarr", target, *options, memory=memory)
        assert (result.returncode, result.stderr) == (0, ""), name
        assert_is_copied(target)


@pytest.mark.parametrize("threads", ["1", "4"])
@pytest.mark.parametrize("memory", [LEAST, 64 << 20])
def test_chunks_are_decoded_once(slices, tmp_path, memory, threads):
    """Through a temporary file, or in memory that is large enough."""
    result = translate(slices, tmp_path / "a.zarr", *TARGETS["series"], memory=memory,
                       CPL_DEBUG="ZARR", GDAL_NUM_THREADS=threads)
    assert result.returncode == 0
    assert READ_ONCE.findall(result.stderr) == ["60"]
    assert_is_copied(tmp_path / "a.zarr")


def test_uncompressed_chunks_are_read_in_part(tmp_path):
    """Their rows, for each slab of the target: no file is needed."""
    values = np.arange(20 * 300 * 300).reshape(20, 300, 300).astype("f4")
    dataset = create(tmp_path / "source.zarr")
    array = create_array(dataset.GetRootGroup(), "a", values.shape, gdal.GDT_Float32,
                         "BLOCKSIZE=1,300,300")
    array.Write(values)
    del array, dataset
    result = translate(tmp_path / "source.zarr", tmp_path / "a.zarr", "ARRAY:BLOCKSIZE=20,20,20",
                       CPL_DEBUG="ZARR", CPL_TMPDIR=str(tmp_path / "missing"))
    assert result.returncode == 0 and "temporary" not in result.stderr
    assert_is_copied(tmp_path / "a.zarr", values)


def test_sharded_source(tmp_path):
    values = DATA.copy()
    values[:, 30:, :] = 0  # shards and inner chunks that are missing
    dataset = create(tmp_path / "source.zarr", "FORMAT=ZARR_V3")
    array = create_array(dataset.GetRootGroup(), "a", SHAPE, gdal.GDT_Float32,
                         "BLOCKSIZE=30,40,60", "SHARD_CHUNK_SHAPE=10,20,20", "COMPRESS=ZSTD")
    array.Write(values)
    del array, dataset
    for name, options in TARGETS.items():
        result = translate(tmp_path / "source.zarr", tmp_path / f"{name}.zarr", *options)
        assert (result.returncode, result.stderr) == (0, ""), name
        assert_is_copied(tmp_path / f"{name}.zarr", values)


def test_chunks_of_the_fill_value_are_not_stored(tmp_path):
    values = DATA.copy()
    values[:, 16:] = -1
    write_source(tmp_path / "source.zarr", "BLOCKSIZE=1,82,104", values=values, nodata=-1)
    result = translate(tmp_path / "source.zarr", tmp_path / "a.zarr", *TARGETS["cubes"])
    assert (result.returncode, result.stderr) == (0, "")
    assert_is_copied(tmp_path / "a.zarr", values)
    assert len(list((tmp_path / "a.zarr/a").glob("*.*.*"))) == 8 * 1 * 7


def test_netcdf(tmp_path):
    """It has chunks of its own, and here another type than the target."""
    dataset = gdal.GetDriverByName("netCDF").CreateMultiDimensional(str(tmp_path / "a.nc"))
    array = create_array(dataset.GetRootGroup(), "a", SHAPE, gdal.GDT_Int16, "BLOCKSIZE=5,10,10")
    array.Write((DATA % 30000).astype("i2"))
    del array, dataset
    result = translate(tmp_path / "a.nc", tmp_path / "a.zarr", "ARRAY:BLOCKSIZE=60,8,8")
    assert (result.returncode, result.stderr) == (0, "")
    assert open_root(tmp_path / "a.zarr").OpenMDArray("a").GetBlockSize() == [60, 8, 8]
    assert_is_copied(tmp_path / "a.zarr", DATA % 30000)


VIEWS = {
    "transpose=[2,0,1]": lambda values: values.transpose(2, 0, 1),
    "view=[7]": lambda values: values[7],
}


@pytest.mark.parametrize("view", VIEWS)
def test_views(slices, tmp_path, view):
    result = subprocess.run(
        ["gdalmdimtranslate", "--config", "ZARR_COPY_MEMORY", str(LEAST), "-of", "Zarr",
         "-array", f"name=a,{view}", slices, tmp_path / "a.zarr"], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")
    assert_is_copied(tmp_path / "a.zarr", VIEWS[view](DATA))


def test_classic_source(tmp_path):
    dataset = gdal.GetDriverByName("GTiff").Create(
        str(tmp_path / "a.tif"), 700, 500, 1, gdal.GDT_Float32, ["TILED=YES", "COMPRESS=DEFLATE"])
    values = np.arange(350_000).reshape(500, 700).astype("f4")
    dataset.WriteArray(values)
    del dataset
    result = subprocess.run(
        ["gdalmdimtranslate", "--config", "ZARR_COPY_MEMORY", str(LEAST), "-of", "Zarr", "-array",
         "band=1", "-co", "ARRAY:BLOCKSIZE=100,90", tmp_path / "a.tif", tmp_path / "a.zarr"],
        capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")
    (name, *_) = (name for name in open_root(tmp_path / "a.zarr").GetMDArrayNames()
                  if name not in "XY")
    np.testing.assert_array_equal(
        open_root(tmp_path / "a.zarr").OpenMDArray(name).ReadAsArray(), values)


def test_other_types_and_shapes(tmp_path):
    """Strings, structures, and an array without elements; a scalar."""
    dataset = create(tmp_path / "source.zarr", "FORMAT=ZARR_V3")
    group = dataset.GetRootGroup()
    texts = [f"text {i} " * (i % 5) for i in range(5000)]
    strings = create_array(group, "strings", (5000,), gdal.ExtendedDataType.CreateString(),
                           "BLOCKSIZE=70")
    strings.Write(texts)
    empty = create_array(group, "empty", (0,), gdal.GDT_Int32)
    parts = [gdal.EDTComponent.Create("i", 0, gdal.ExtendedDataType.Create(gdal.GDT_Int32)),
             gdal.EDTComponent.Create("f", 4, gdal.ExtendedDataType.Create(gdal.GDT_Float32))]
    pairs = create_array(group, "pairs", (1000,),
                         gdal.ExtendedDataType.CreateCompound("p", 8, parts), "BLOCKSIZE=30")
    values = np.array([(i, i / 2) for i in range(1000)], [("i", "i4"), ("f", "f4")])
    assert pairs.Write(values.tobytes()) == gdal.CE_None
    del strings, empty, pairs, group, dataset
    result = translate(tmp_path / "source.zarr", tmp_path / "a.zarr", "FORMAT=ZARR_V3",
                       "ARRAY:BLOCKSIZE=90")
    assert (result.returncode, result.stderr) == (0, "")
    root = open_root(tmp_path / "a.zarr")
    assert root.OpenMDArray("strings").Read() == texts
    assert root.OpenMDArray("strings").GetBlockSize() == [90]
    assert root.OpenMDArray("empty").GetShape() == (0,)
    assert root.OpenMDArray("pairs").Read() == values.tobytes()
    dataset = create(tmp_path / "scalar.zarr")
    scalar = create_array(dataset.GetRootGroup(), "a", (), gdal.GDT_Int32)
    scalar.Write(np.array(42, "i4"))
    del scalar, dataset
    assert translate(tmp_path / "scalar.zarr", tmp_path / "b.zarr").returncode == 0
    assert_is_copied(tmp_path / "b.zarr", 42)


@pytest.mark.parametrize("target", ["series", "shards", "cubes"])
@pytest.mark.parametrize("memory", [LEAST, 64 << 20])
def test_damaged_source(slices, tmp_path, target, memory):
    """The error names the chunk, and no copy stays."""
    chunk = slices / "a/37.0.0"
    chunk.write_bytes(chunk.read_bytes()[:-5])
    result = translate(slices, tmp_path / "a.zarr", *TARGETS[target], memory=memory)
    assert result.returncode != 0
    assert "chunk a/37.0.0" in result.stderr
    assert not (tmp_path / "a.zarr").exists()


# --- temporary files -----------------------------------------------------------------------------


def test_no_folder_for_the_temporary_file(slices, tmp_path):
    """It is then beside the target."""
    result = translate(slices, tmp_path / "a.zarr", *TARGETS["series"],
                       CPL_TMPDIR=str(tmp_path / "missing"), CPL_DEBUG="ZARR")
    assert result.returncode == 0 and "temporary file" not in result.stderr
    assert READ_ONCE.findall(result.stderr) == ["60"]
    assert_is_copied(tmp_path / "a.zarr")
    assert sorted(os.listdir(tmp_path)) == ["a.zarr", "source.zarr"]


@pytest.mark.parametrize("size", ["100k", "3m"])
def test_no_room_for_the_temporary_file(slices, tmp_path, size):
    """Neither in the folder for it nor beside the target: the source is read more often. A disk can
    also have less room than it says."""
    with file_system(tmp_path / "small", size) as small:
        if size == "3m":
            (small / "filler").write_bytes(bytes(1 << 20))
        result = translate(slices, "/vsimem/a.zarr", *TARGETS["series"], CPL_TMPDIR=str(small))
        assert result.returncode == 0
        assert "Warning" in result.stderr and "temporary file" in result.stderr
        assert "read 5.0 times" in result.stderr


def test_temporary_file_fails_halfway(slices, tmp_path):
    """A limit for the size of files: the source is read more often, and the copy is right."""
    code = ("import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20));"
            "from osgeo import gdal; gdal.UseExceptions();"
            f"gdal.SetConfigOption('ZARR_COPY_MEMORY', '{LEAST}');"
            "shares = [];"
            "gdal.MultiDimTranslate(sys.argv[2], sys.argv[1], format='Zarr', creationOptions="
            f"{TARGETS['series']}, callback=lambda share, *_: shares.append(share) or 1);"
            "assert shares == sorted(shares) and shares[-1] == 1, shares")
    (tmp_path / "temporary").mkdir()
    result = subprocess.run(
        ["/usr/bin/python3", "-c", code, slices, tmp_path / "a.zarr"], capture_output=True,
        text=True, env=os.environ | {"CPL_TMPDIR": str(tmp_path / "temporary")})
    assert result.returncode == 0, result.stderr
    assert "temporary file" in result.stderr and "read 5.0 times" in result.stderr
    assert_is_copied(tmp_path / "a.zarr")
    assert os.listdir(tmp_path / "temporary") == []


def test_no_temporary_file_is_left(slices, tmp_path):
    (tmp_path / "temporary").mkdir()
    for damage in (False, True):
        if damage:
            (slices / "a/37.0.0").write_bytes(b"no")
        result = translate(slices, tmp_path / f"{damage}.zarr", *TARGETS["series"],
                           CPL_TMPDIR=str(tmp_path / "temporary"))
        assert (result.returncode == 0) != damage
        assert os.listdir(tmp_path / "temporary") == []


def test_full_disk(slices, tmp_path):
    """The error is reported, and nothing stays."""
    with file_system(tmp_path / "small", "300k") as small:
        result = translate(slices, small / "a.zarr", *TARGETS["series"])
        assert result.returncode != 0 and "a.zarr" in result.stderr
        assert os.listdir(small) == []


# --- progress and memory -------------------------------------------------------------------------


def copy_with(callback, source, target, memory):
    gdal.SetConfigOption("ZARR_COPY_MEMORY", str(memory))
    try:
        return gdal.MultiDimTranslate(str(target), str(source), format="Zarr",
                                      creationOptions=TARGETS["series"], callback=callback)
    finally:
        gdal.SetConfigOption("ZARR_COPY_MEMORY", None)


@pytest.mark.parametrize("memory", [LEAST, 64 << 20])
def test_progress(slices, tmp_path, memory):
    shares = []
    copy_with(lambda share, *_: shares.append(share) or 1, slices, tmp_path / "a.zarr", memory)
    assert shares == sorted(shares) and shares[-1] == 1
    assert len(shares) > (10 if memory == LEAST else 0)


@pytest.mark.parametrize("share", [0.2, 0.6])
def test_cancel(slices, tmp_path, share):
    with pytest.raises(RuntimeError, match="stopped by the user|User|nterrupt"):
        copy_with(lambda done, *_: int(done < share), slices, tmp_path / "a.zarr", LEAST)
    assert not (tmp_path / "a.zarr").exists()


def test_memory(tmp_path):
    """140 MB from slices to series, in less memory than they have."""
    dataset = create(tmp_path / "source.zarr")
    array = create_array(dataset.GetRootGroup(), "a", (140, 500, 500), gdal.GDT_Float32,
                         "BLOCKSIZE=1,500,500", "COMPRESS=ZSTD", "ZSTD_LEVEL=1")
    for i in range(140):
        array.Write(np.full((1, 500, 500), i, "f4") + np.arange(500, dtype="f4"), [i, 0, 0],
                    [1, 500, 500])
    del array, dataset
    used = peak("gdalmdimtranslate", "-q", "--config", "GDAL_CACHEMAX", "32", "--config",
                "ZARR_WRITE_CACHE_SIZE", "16000000", "-of", "Zarr",
                "-co", "ARRAY:BLOCKSIZE=140,20,20", tmp_path / "source.zarr", tmp_path / "a.zarr")
    program = peak("gdalmdimtranslate", "-q", "-of", "VRT", tmp_path / "source.zarr",
                   tmp_path / "a.vrt")
    assert used < program + (60 << 10)
    got = open_root(tmp_path / "a.zarr").OpenMDArray("a")
    np.testing.assert_array_equal(
        got.ReadAsArray([0, 490, 3], [140, 1, 1]).ravel(), np.arange(140, dtype="f4") + 3)
