"""Virtual stores of HDF5 and netCDF files: chunks are parts of the file where GDAL tells where they
are (3.12), else an error or a copy."""
import numpy as np
import pytest
from osgeo import gdal
from virtual_sources import chunks

h5py = pytest.importorskip("h5py")
netCDF4 = pytest.importorskip("netCDF4")
pytestmark = pytest.mark.skipif(
    not (gdal.GetDriverByName("HDF5") and gdal.GetDriverByName("netCDF")),
    reason="GDAL has no driver HDF5 or netCDF")
TELLS_BLOCKS = int(gdal.VersionInfo()) >= 3_120_000
needs_blocks = pytest.mark.skipif(not TELLS_BLOCKS, reason="GDAL does not tell where blocks are")
DATA = np.add.outer(np.arange(120), np.arange(150) // 3)

FILTERS = {
    "contiguous": {},
    "chunked": {"chunks": (32, 64)},
    "deflate": {"chunks": (32, 64), "compression": "gzip"},
    "shuffle": {"chunks": (32, 64), "shuffle": True},
    "deflate and shuffle": {"chunks": (32, 64), "compression": "gzip", "shuffle": True},
    "checksum": {"chunks": (32, 64), "compression": "gzip", "shuffle": True, "fletcher32": True},
    "only a checksum": {"chunks": (32, 64), "fletcher32": True},
    "lzf": {"chunks": (32, 64), "compression": "lzf"},
}


def make_virtual(source, target, mode="YES", *options):
    dataset = gdal.OpenEx(str(source), gdal.OF_MULTIDIM_RASTER)
    return gdal.GetDriverByName("Zarr").CreateCopy(
        str(target), dataset, options=["VIRTUAL=" + mode, *options])


def read(path, name):
    dataset = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER)
    return dataset.GetRootGroup().OpenMDArray(name).ReadAsArray()


def write_hdf5(path, dtype="<i4", **options):
    with h5py.File(path, "w") as file:
        file.create_dataset("v", data=DATA.astype(dtype), **options)
    return path


@needs_blocks
@pytest.mark.parametrize("filters", FILTERS.values(), ids=FILTERS)
@pytest.mark.parametrize("dtype", ["<i4", ">u2", ">f8", "<f4", "u1"])
def test_filters_of_hdf5(tmp_path, filters, dtype):
    source = write_hdf5(tmp_path / "a.h5", dtype, **filters)
    for name in ("a.json", "a.parq"):
        assert make_virtual(source, tmp_path / name) is not None
        np.testing.assert_array_equal(read(tmp_path / name, "v"), DATA.astype(dtype))
    found = {key: value for key, value in chunks(tmp_path / "a.json").items()
             if key.startswith("v/")}
    assert found and all(isinstance(value, list) for value in found.values())


@needs_blocks
def test_places_of_other_blocks_are_not_taken(tmp_path):
    """HDF5 numbers the chunks of such an array along its unlimited dimension first."""
    data = np.random.default_rng(1).integers(1, 1000, (130, 150), "i4")
    with h5py.File(tmp_path / "a.h5", "w", libver="latest") as file:
        file.create_dataset("v", data=data, chunks=(30, 40), maxshape=(130, None))
    mode = "YES"
    try:
        make_virtual(tmp_path / "a.h5", tmp_path / "a.json")
    except RuntimeError as error:
        assert "does not give the values" in str(error)
        mode = "AUTO"
    assert make_virtual(tmp_path / "a.h5", tmp_path / "b.json", mode) is not None
    np.testing.assert_array_equal(read(tmp_path / "b.json", "v"), data)


@needs_blocks
def test_checksums_before_other_filters(tmp_path):
    """Are not at the end of a chunk; a chunk of zeros does not show it."""
    with h5py.File(tmp_path / "a.h5", "w") as file:
        filters = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        filters.set_chunk((60, 150))
        filters.set_fletcher32()
        filters.set_shuffle()
        made = h5py.h5d.create(file.id, b"v", h5py.h5t.NATIVE_INT32,
                               h5py.h5s.create_simple(DATA.shape), filters)
        data = np.where(np.arange(120)[:, None] < 60, 0, DATA).astype("i4")
        made.write(h5py.h5s.ALL, h5py.h5s.ALL, data)
    with pytest.raises(RuntimeError, match="comes after a checksum"):
        make_virtual(tmp_path / "a.h5", tmp_path / "a.json")
    assert make_virtual(tmp_path / "a.h5", tmp_path / "b.json", "AUTO") is not None
    np.testing.assert_array_equal(read(tmp_path / "b.json", "v"), data)


@needs_blocks
@pytest.mark.parametrize(
    "stored", [[], [(2, 3)], [(1, 1), (2, 1), (2, 3)], [(0, 0), (2, 1)]], ids=str)
@pytest.mark.parametrize("fill", [None, 7])
@pytest.mark.parametrize("libver", ["earliest", "latest"])
@pytest.mark.parametrize("compression", ["gzip", "lzf"])
def test_chunks_that_hdf5_does_not_store(tmp_path, stored, fill, libver, compression):
    """GDAL tells the places of other chunks then. They are missing in the store as well if they
    read as its missing chunks do, else a small chunk of the value is stored in it."""
    with h5py.File(tmp_path / "a.h5", "w", libver=libver) as file:
        array = file.create_dataset("v", (300, 400), "i2", chunks=(100, 100), fillvalue=fill,
                                    compression=compression)
        for row, column in stored:
            values = np.arange(10000).reshape(100, 100) % 300 + row + column
            array[row * 100:row * 100 + 100, column * 100:column * 100 + 100] = values
        expected = array[()]
    if fill and compression == "lzf":
        with pytest.raises(RuntimeError,
                           match="array /v: a block at .*codecs are for reading only"):
            make_virtual(tmp_path / "a.h5", tmp_path / "a.json")
        return
    for name in ("a.json", "a.parq"):
        assert make_virtual(tmp_path / "a.h5", tmp_path / name) is not None
        np.testing.assert_array_equal(read(tmp_path / name, "v"), expected)
    found = {key: value for key, value in chunks(tmp_path / "a.json").items()
             if key.startswith("v/")}
    in_file = [key for key, value in found.items() if isinstance(value, list)]
    assert sorted(in_file) == sorted(f"v/{row}.{column}" for row, column in stored)
    assert len(found) == (12 if fill else len(stored))


@needs_blocks
def test_netcdf(tmp_path):
    with netCDF4.Dataset(tmp_path / "a.nc", "w") as file:
        for name, size in (("time", None), ("y", 90), ("x", 110)):
            file.createDimension(name, size)
            variable = file.createVariable(name, "f8", (name,))
            variable[:] = np.arange(size or 4)
        file["time"].units = "days since 2001-01-01"
        variable = file.createVariable("t", "i2", ("time", "y", "x"), zlib=True, fill_value=-9,
                                       chunksizes=(1, 50, 50))
        variable.scale_factor = 0.5
        variable.set_auto_maskandscale(False)
        variable[:] = np.arange(4 * 90 * 110).reshape(4, 90, 110) % 900
    assert make_virtual(tmp_path / "a.nc", tmp_path / "a.json") is not None
    a, b = (gdal.OpenEx(str(tmp_path / name), gdal.OF_MULTIDIM_RASTER)
            for name in ("a.nc", "a.json"))
    a, b = (dataset.GetRootGroup().OpenMDArray("t") for dataset in (a, b))
    np.testing.assert_array_equal(a.ReadAsArray(), b.ReadAsArray())
    assert b.GetScale() == 0.5 and b.GetNoDataValue() == -9
    assert [d.GetName() for d in b.GetDimensions()] == ["time", "y", "x"]
    found = [value for key, value in chunks(tmp_path / "a.json").items() if key.startswith("t/")]
    assert len(found) == 4 * 2 * 3 and all(isinstance(value, list) for value in found)


@pytest.mark.parametrize("name, options", [
    ("SCALEOFFSET", {"scaleoffset": 0}),
    ("SZIP", {"compression": "szip"} if h5py.h5z.filter_avail(h5py.h5z.FILTER_SZIP) else None)])
def test_filters_without_a_codec_are_named_or_copied(tmp_path, name, options):
    if options is None:
        pytest.skip("HDF5 has no SZIP")
    source = write_hdf5(tmp_path / "a.h5", chunks=(32, 64), **options)
    problem = f"no codec decodes.*{name}" if TELLS_BLOCKS else "known from GDAL 3.12 on"
    with pytest.raises(RuntimeError, match=f"array /v: .*{problem}"):
        make_virtual(source, tmp_path / "a.json")
    assert not (tmp_path / "a.json").exists()
    assert make_virtual(source, tmp_path / "a.json", "AUTO") is not None
    np.testing.assert_array_equal(read(tmp_path / "a.json", "v"), DATA)


def test_small_arrays_and_strings_are_stored(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("small", data=np.arange(5))
        file.create_dataset("texts", data=["a", "bcd"], dtype=h5py.string_dtype())
    assert make_virtual(tmp_path / "a.h5", tmp_path / "a.json") is not None
    np.testing.assert_array_equal(read(tmp_path / "a.json", "small"), np.arange(5))
    dataset = gdal.OpenEx(str(tmp_path / "a.json"), gdal.OF_MULTIDIM_RASTER)
    assert dataset.GetRootGroup().OpenMDArray("texts").Read() == ["a", "bcd"]
