"""Virtual stores of TIFF, HDF5 and netCDF files of every encoding, as each reader sees them: this
driver, GDAL's built-in driver, zarr-python and xarray over fsspec's references. Those that
doc/virtual.md says read an encoding read the values of the source, and no reader reads others.
"""
import itertools
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numcodecs
import numpy as np
import pytest
import xarray
from osgeo import gdal
from virtual_sources import make_virtual, read_with_zarr, write_tiff

DOCUMENT = Path(__file__).parents[2] / "doc/virtual.md"
TYPES = ["u1", "i2", "u2", "i4", "u4", "f4", "f8", "c8"]
READERS = ["this driver", "built-in", "zarr-python"]
BUILT_IN_READS_REFERENCES = int(gdal.VersionInfo()) >= 3110000
TIFF = {"none": ["COMPRESS=NONE"], "Deflate": ["COMPRESS=DEFLATE"], "zstd": ["COMPRESS=ZSTD"],
        "LZMA": ["COMPRESS=LZMA"], "LZW": ["COMPRESS=LZW"], "PackBits": ["COMPRESS=PACKBITS"],
        "LERC": ["COMPRESS=LERC"], "LERC with Deflate": ["COMPRESS=LERC_DEFLATE"],
        "LERC with zstd": ["COMPRESS=LERC_ZSTD"],
        "JPEG": ["COMPRESS=JPEG"], "WebP": ["COMPRESS=WEBP", "WEBP_LOSSLESS=YES"],
        "predictor 2": ["COMPRESS=DEFLATE", "PREDICTOR=2"],
        "predictor 2, LZW": ["COMPRESS=LZW", "PREDICTOR=2"],
        "predictor 2, zstd": ["COMPRESS=ZSTD", "PREDICTOR=2"],
        "predictor 3": ["COMPRESS=DEFLATE", "PREDICTOR=3"],
        "predictor 3, LZW": ["COMPRESS=LZW", "PREDICTOR=3"],
        "predictor 3, zstd": ["COMPRESS=ZSTD", "PREDICTOR=3"],
        "samples of 1 to 15 bits": ["COMPRESS=DEFLATE", "NBITS=7"]}
TYPES_OF = {"JPEG": ["u1"], "WebP": ["u1"], "samples of 1 to 15 bits": ["u1"],
            "LERC": TYPES[:-1], "predictor 2": TYPES[:5], "predictor 3": ["f4", "f8"]}
LAYOUTS = {"tiles": ["TILED=YES", "BLOCKXSIZE=16", "BLOCKYSIZE=32"], "strips": ["BLOCKYSIZE=15"],
           "short strips": ["BLOCKYSIZE=8"]}

# Prints whether the built-in driver reads the stores of a list as their .npy files say, or why not.
BUILT_IN = """
import json, sys
import numpy as np
from osgeo import gdal
gdal.UseExceptions()
found = {}
for name in json.load(open(sys.argv[1])):
    try:
        array = gdal.OpenEx(name + ".json", gdal.OF_MULTIDIM_RASTER).GetRootGroup().OpenMDArray("v")
        found[name] = bool((array.ReadAsArray() == np.load(name + ".npy")).all())
    except (RuntimeError, AttributeError) as problem:
        found[name] = str(problem)
print(json.dumps(found))
"""


def table():
    """What the tables of the document say: the readers of each encoding."""
    rows = {}
    for line in DOCUMENT.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 5 and set(cells[2:]) <= {"yes", "no"}:
            for name in cells[0].split(", "):
                rows[name] = {reader for reader, cell in zip(READERS, cells[2:]) if cell == "yes"}
    return rows


def tiff_cases(name):
    kind = next((TYPES_OF[start] for start in TYPES_OF if name.startswith(start)), TYPES)
    orders = itertools.cycle(["LITTLE", "BIG", "BIG", "LITTLE", "BIG"])
    for dtype, layout, interleave in itertools.product(kind, LAYOUTS, ("PIXEL", "BAND")):
        order = next(orders)
        # JPEG cannot pad its last strip, WebP has no single bands, and libtiff swaps the bytes of
        # numbers before LERC compresses them.
        if (name == "JPEG" and layout != "tiles") or (name == "WebP" and interleave == "BAND"):
            continue
        if name.startswith("LERC") and dtype != "u1":
            order = "LITTLE"
        yield dtype, layout, [*TIFF[name], *LAYOUTS[layout], f"INTERLEAVE={interleave}",
                              f"ENDIANNESS={order}"]


def read_with_zarr_python(path):
    return read_with_zarr(path, "v")[:]


def read_with_xarray(path):
    dataset = xarray.open_dataset(
        "reference://", engine="zarr", mask_and_scale=False,
        backend_kwargs={"consolidated": False, "storage_options": {"fo": str(path)}})
    return dataset["v"].values


def read_with_ours(path):
    root = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    return root.OpenMDArray("v").ReadAsArray()


def is_read(read, path, expected):
    try:
        values = read(path)
    except Exception as problem:  # each library has its own
        return str(problem) or repr(problem)
    np.testing.assert_array_equal(values, expected, err_msg=f"{read.__name__}: {path}")
    return True


def check_readers(folder, stores, readers):
    """`stores`: names without extension of documents and their values."""
    (folder / "list.json").write_text(json.dumps([str(folder / name) for name in stores]))
    done = subprocess.run([sys.executable, "-c", BUILT_IN, folder / "list.json"],
                          env=os.environ | {"GDAL_DRIVER_PATH": "disable"}, check=True,
                          stdout=subprocess.PIPE)
    built_in = json.loads(done.stdout)
    if not BUILT_IN_READS_REFERENCES:
        readers = readers - {"built-in"}
    for name in stores:
        path = folder / (name + ".json")
        expected = np.load(folder / (name + ".npy"))
        found = {"this driver": is_read(read_with_ours, path, expected),
                 "built-in": built_in[str(folder / name)],
                 "zarr-python": is_read(read_with_zarr_python, path, expected)}
        assert found["zarr-python"] is not True or is_read(read_with_xarray, path, expected) is True
        assert False not in found.values(), (name, found)
        assert {reader for reader in READERS if found[reader] is True} == readers, (name, found)


def decodes_streams_of_zstd():
    """Whether numcodecs decodes frames that do not state their size, as libtiff writes them."""
    try:
        return numcodecs.Zstd().decode(bytes.fromhex("28b52ffd000009000078")) == b"x"
    except RuntimeError:
        return False


def writes(options):
    """Whether this GDAL writes such files."""
    listed = gdal.GetDriverByName("GTiff").GetMetadataItem("DMD_CREATIONOPTIONLIST")
    name = re.match("COMPRESS=(.*)", options[0])[1]
    return f"<Value>{name}</Value>" in listed


@pytest.mark.parametrize("name", TIFF)
def test_tiff(tmp_path, name):
    if not writes(TIFF[name]):
        pytest.skip("GDAL is built without it")
    stores = []
    for number, (dtype, _layout, options) in enumerate(tiff_cases(name)):
        slope = np.arange(3 * 45 * 50).reshape(3, 45, 50) / 7
        data = (slope + np.random.default_rng(number).integers(0, 3, slope.shape)) % 120
        source = write_tiff(tmp_path / f"{number}.tif", data.astype(dtype), *options)
        store = tmp_path / f"{number}.json"
        assert make_virtual(source, store, "ARRAY_NAME=v") is not None, options
        expected = gdal.Open(source).ReadAsArray()
        if read_with_ours(store).shape != expected.shape:
            expected = np.moveaxis(expected, 0, -1)
        np.save(tmp_path / f"{number}.npy", expected)
        stores.append(str(number))
    readers = table()[name.split(",")[0].split(" with")[0]]
    if name == "zstd" and not decodes_streams_of_zstd():
        readers = readers - {"zarr-python"}
    check_readers(tmp_path, stores, readers)


HDF5 = {
    "contiguous or chunked": {}, "deflate": {"compression": "gzip"}, "shuffle": {"shuffle": True},
    "shuffle and deflate": {"shuffle": True, "compression": "gzip"},
    "fletcher32": {"fletcher32": True}, "lzf": {"compression": "lzf"}}


@pytest.mark.skipif(int(gdal.VersionInfo()) < 3_120_000,
                    reason="GDAL does not tell where blocks are")
@pytest.mark.parametrize("name", HDF5)
def test_hdf5(tmp_path, name):
    h5py = pytest.importorskip("h5py")
    stores = []
    for number, (dtype, chunks) in enumerate(itertools.product(
            ["u1", "<i2", ">i4", "<f4", ">f8", "<i8"], [(32, 64), None])):
        if chunks is None and HDF5[name]:
            continue
        data = np.add.outer(np.arange(120), np.arange(150) // 3).astype(dtype)
        with h5py.File(tmp_path / f"{number}.h5", "w") as file:
            file.create_dataset("v", data=data, chunks=chunks, **HDF5[name])
        source = gdal.OpenEx(str(tmp_path / f"{number}.h5"), gdal.OF_MULTIDIM_RASTER)
        assert make_virtual(source, tmp_path / f"{number}.json") is not None
        np.save(tmp_path / f"{number}.npy", data)
        stores.append(str(number))
    check_readers(tmp_path, stores, table()[name])


@pytest.mark.parametrize("form, options", [
    ("NETCDF4", {}), ("NETCDF4", {"zlib": True}), ("NETCDF4", {"zlib": True, "shuffle": False}),
    ("NETCDF3_CLASSIC", {}), ("NETCDF3_64BIT_OFFSET", {})], ids=str)
def test_netcdf(tmp_path, form, options):
    netcdf = pytest.importorskip("netCDF4")
    if form == "NETCDF4" and int(gdal.VersionInfo()) < 3_120_000:
        pytest.skip("GDAL does not tell where blocks are")
    data = np.arange(4 * 90 * 110).reshape(4, 90, 110).astype("f4")
    with netcdf.Dataset(tmp_path / "a.nc", "w", format=form) as file:
        for name, size in (("time", None), ("y", 90), ("x", 110)):
            file.createDimension(name, size)
            file.createVariable(name, "f8", (name,))[:] = np.arange(size or 4)
        if form == "NETCDF4":
            options = {**options, "chunksizes": (1, 50, 50)}
        file.createVariable("v", "f4", ("time", "y", "x"), **options)[:] = data
    source = gdal.OpenEx(str(tmp_path / "a.nc"), gdal.OF_MULTIDIM_RASTER)
    assert make_virtual(source, tmp_path / "a.json") is not None
    np.save(tmp_path / "a.npy", data)
    check_readers(tmp_path, ["a"], table()["shuffle and deflate"])


def test_the_table_has_all():
    assert set(HDF5) | {name.split(",")[0].split(" with")[0] for name in TIFF} <= set(table())
