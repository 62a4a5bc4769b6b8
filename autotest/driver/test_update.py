"""Rasters that are changed in place equal a NumPy array after the same steps. The steps use all of
GDAL's ways to pixels: past the block cache and through it.
"""
import json

import numpy as np
import pytest
import zarr
from classic import listed_arrays, open_raster
from osgeo import gdal, gdal_array, ogr, osr
from stores import BYTES, GZIP, sharding, write_array, write_group
from v2_stores import write_v2

PLACE = (1000, 10, 0, 2000, 0, -10)

LAYOUTS = {
    "v2": ["BLOCKSIZE=2,16,16"],
    "v3": ["FORMAT=ZARR_V3", "BLOCKSIZE=1,13,17", "COMPRESS=ZSTD"],
    "by pixel": ["INTERLEAVE=PIXEL", "BLOCKSIZE=16,16,3"],
    "arrays": ["SINGLE_ARRAY=NO", "BLOCKSIZE=16,16"],
    "shards": ["FORMAT=ZARR_V3", "BLOCKSIZE=2,32,32", "SHARD_CHUNK_SHAPE=1,8,16", "COMPRESS=GZIP"],
    "one chunk": ["BLOCKSIZE=3,100,100", "COMPRESS=BLOSC"],
    "F order": ["CHUNK_MEMORY_LAYOUT=F", "BLOCKSIZE=2,16,32"],
    "rows": ["BLOCKSIZE=1,1,90"],
}
BANDS, ROWS, COLUMNS = 3, 70, 90
DTYPES = {"u1": gdal.GDT_Byte, "i2": gdal.GDT_Int16, "f4": gdal.GDT_Float32, "f8": gdal.GDT_Float64}


def utm():
    srs = osr.SpatialReference()
    srs.ImportFromEPSG(32633)
    return srs


class Raster:
    """A dataset of the Zarr driver and the array that it should equal."""

    def __init__(self, path, options, dtype, random):
        self.path, self.options, self.random = path, options, random
        self.model = np.zeros((BANDS, ROWS, COLUMNS), dtype)
        self.dataset = gdal.GetDriverByName("Zarr").Create(
            str(path), COLUMNS, ROWS, BANDS, DTYPES[dtype], options)
        self.dataset.SetGeoTransform(PLACE)
        self.dataset.SetSpatialRef(utm())

    def window(self):
        y, x = (int(self.random.integers(n)) for n in (ROWS, COLUMNS))
        height = int(self.random.integers(1, ROWS - y + 1))
        width = int(self.random.integers(1, COLUMNS - x + 1))
        return x, y, width, height

    def pixels(self, *shape):
        return self.random.integers(0, 100, shape).astype(self.model.dtype)

    def any_band(self):
        index = int(self.random.integers(BANDS))
        return index, self.dataset.GetRasterBand(index + 1)

    # --- writes ---

    def write_band(self):
        index, band = self.any_band()
        x, y, width, height = self.window()
        data = self.pixels(height, width)
        band.WriteArray(data, x, y)
        self.model[index, y:y + height, x:x + width] = data

    def write_bands(self):
        x, y, width, height = self.window()
        indexes = self.random.permutation(BANDS)[:self.random.integers(1, BANDS + 1)]
        data = self.pixels(len(indexes), height, width)
        self.dataset.WriteRaster(x, y, width, height, data.tobytes(), width, height,
                                 gdal_array.NumericTypeCodeToGDALTypeCode(data.dtype),
                                 [int(i) + 1 for i in indexes])
        for index, band in zip(indexes, data):
            self.model[index, y:y + height, x:x + width] = band

    def write_another_type(self):
        index, band = self.any_band()
        x, y, width, height = self.window()
        data = self.random.integers(0, 100, (height, width)).astype("f8")
        band.WriteRaster(x, y, width, height, data.tobytes(), buf_type=gdal.GDT_Float64)
        self.model[index, y:y + height, x:x + width] = data

    def write_interleaved(self):
        x, y, width, height = self.window()
        data = self.pixels(height, width, BANDS)
        size = data.itemsize
        self.dataset.WriteRaster(x, y, width, height, data.tobytes(),
                                 buf_pixel_space=size * BANDS, buf_line_space=size * BANDS * width,
                                 buf_band_space=size,
                                 buf_type=gdal_array.NumericTypeCodeToGDALTypeCode(data.dtype))
        self.model[:, y:y + height, x:x + width] = np.moveaxis(data, -1, 0)

    def write_resampled(self):
        """Every pixel of the buffer becomes four, through the block cache."""
        index, band = self.any_band()
        x, y, width, height = self.window()
        width, height = max(2, width // 2 * 2), max(2, height // 2 * 2)
        x, y = min(x, COLUMNS - width), min(y, ROWS - height)
        data = self.pixels(height // 2, width // 2)
        band.WriteRaster(x, y, width, height, data.tobytes(), width // 2, height // 2)
        self.model[index, y:y + height, x:x + width] = data.repeat(2, 0).repeat(2, 1)

    def write_block(self):
        """A whole block."""
        index, band = self.any_band()
        width, height = band.GetBlockSize()
        column = int(self.random.integers(-(-COLUMNS // width)))
        row = int(self.random.integers(-(-ROWS // height)))
        valid = band.GetActualBlockSize(column, row)
        data = self.pixels(valid[1], valid[0])
        band.WriteArray(data, column * width, row * height)
        self.model[index, row * height:row * height + valid[1],
                   column * width:column * width + valid[0]] = data

    def fill(self):
        index, band = self.any_band()
        value = int(self.random.integers(100))
        band.Fill(value)
        self.model[index] = value

    def rasterize(self):
        """It changes blocks in the cache."""
        index, _ = self.any_band()
        x, y, width, height = self.window()
        left, top = PLACE[0] + 10 * x, PLACE[3] - 10 * y
        layer_source = ogr.GetDriverByName("Memory").CreateDataSource("")
        layer = layer_source.CreateLayer("", utm())
        feature = ogr.Feature(layer.GetLayerDefn())
        feature.SetGeometry(ogr.CreateGeometryFromWkt(
            f"POLYGON(({left} {top},{left + 10 * width} {top},{left + 10 * width} "
            f"{top - 10 * height},{left} {top - 10 * height},{left} {top}))"))
        layer.CreateFeature(feature)
        value = int(self.random.integers(100))
        gdal.RasterizeLayer(self.dataset, [index + 1], layer, burn_values=[value])
        self.model[index, y:y + height, x:x + width] = value

    # --- reads ---

    def read_band(self):
        index, band = self.any_band()
        x, y, width, height = self.window()
        np.testing.assert_array_equal(band.ReadAsArray(x, y, width, height),
                                      self.model[index, y:y + height, x:x + width])

    def read_all(self):
        np.testing.assert_array_equal(self.dataset.ReadAsArray(), self.model)

    def read_block(self):
        """It ignores dirty blocks of the cache, with any driver."""
        index, band = self.any_band()
        band.FlushCache()
        width, height = band.GetBlockSize()
        column = int(self.random.integers(-(-COLUMNS // width)))
        row = int(self.random.integers(-(-ROWS // height)))
        columns, rows = band.GetActualBlockSize(column, row)
        block = np.frombuffer(band.ReadBlock(column, row), self.model.dtype).reshape(height, width)
        want = self.model[index, row * height:row * height + rows,
                          column * width:column * width + columns]
        np.testing.assert_array_equal(block[:rows, :columns], want)

    def checksum(self):
        """It reads lines, and leaves blocks in the cache."""
        index, band = self.any_band()
        twin = gdal_array.OpenArray(np.ascontiguousarray(self.model[index]))
        assert band.Checksum() == twin.GetRasterBand(1).Checksum()

    def read_resampled(self):
        """By average, from the blocks of the cache."""
        index, band = self.any_band()
        x, y, width, height = self.window()
        twin = gdal_array.OpenArray(np.ascontiguousarray(self.model[index]))
        twin_band = twin.GetRasterBand(1)
        arguments = (x, y, width, height, max(1, width // 3), max(1, height // 2))
        for method in (gdal.GRIORA_Average, gdal.GRIORA_NearestNeighbour):
            np.testing.assert_array_equal(band.ReadAsArray(*arguments, resample_alg=method),
                                          twin_band.ReadAsArray(*arguments, resample_alg=method))

    # --- in between ---

    def flush(self):
        self.dataset.FlushCache()

    def flush_band(self):
        self.any_band()[1].FlushCache()

    def reopen(self):
        if "SINGLE_ARRAY=NO" in self.options:
            return  # then each band opens by itself
        self.dataset = None
        np.testing.assert_array_equal(open_raster(self.path).ReadAsArray(), self.model)
        self.dataset = gdal.Open(str(self.path), gdal.GA_Update)

    def close(self):
        self.dataset = None
        names = [str(self.path)]
        if "SINGLE_ARRAY=NO" in self.options:
            names = listed_arrays(names[0])
        got = np.reshape([gdal.Open(name).ReadAsArray() for name in names], self.model.shape)
        np.testing.assert_array_equal(got, self.model)


WRITES = [Raster.write_band, Raster.write_bands, Raster.write_another_type,
          Raster.write_interleaved,
          Raster.write_resampled, Raster.write_block, Raster.fill, Raster.rasterize]
READS = [Raster.read_band, Raster.read_all, Raster.read_block, Raster.checksum,
         Raster.read_resampled]
PAUSES = [Raster.flush, Raster.flush_band, Raster.reopen]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("layout", LAYOUTS)
def test_random_steps(tmp_path, layout, seed):
    random = np.random.default_rng(seed)
    dtype = list(DTYPES)[seed % len(DTYPES)]
    raster = Raster(tmp_path / "a.zarr", LAYOUTS[layout], dtype, random)
    done = []
    try:
        for _ in range(60):
            steps = random.choice([0, 1, 2], p=[0.5, 0.4, 0.1])
            step = random.choice(np.array([WRITES, READS, PAUSES][steps], object))
            done.append(step.__name__)
            step(raster)
        done.append("close")
        raster.close()
    except AssertionError as error:
        raise AssertionError(f"after {done}: {error}") from None


@pytest.mark.parametrize("seed", range(6))
def test_random_steps_in_little_memory(tmp_path, seed):
    """Blocks are written when the cache evicts them. It has room for a row of blocks: with less,
    GDAL's resampled writes lose pixels, with any driver."""
    old = gdal.GetCacheMax()
    gdal.SetCacheMax(20_000)
    gdal.SetConfigOption("ZARR_WRITE_CACHE_SIZE", "1")
    try:
        for layout in ("shards", "v2"):
            (tmp_path / layout).mkdir()
            test_random_steps(tmp_path / layout, layout, 10 + seed)
    finally:
        gdal.SetCacheMax(old)
        gdal.SetConfigOption("ZARR_WRITE_CACHE_SIZE", None)


# --- stores that others wrote --------------------------------------------------------------------

DATA = np.random.default_rng(3).integers(0, 1000, (50, 64)).astype("i2")


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("dtype", ["<i2", ">i2", "<f4", ">f8", "<u8"])
def test_store_of_zarr_python(tmp_path, dtype, order):
    path = tmp_path / "a.zarr"
    history = [{"by": "zarr-python"}, 3]
    write_v2(path, "a", DATA.astype(dtype), {"history": history}, chunks=(16, 16), order=order)
    dataset = gdal.Open(str(path), gdal.GA_Update)
    dataset.WriteArray(-DATA[10:30, 20:60].astype(dtype[1:]), 20, 10)
    dataset.SetMetadataItem("added", "1")
    dataset = None
    want = DATA.astype(dtype)
    want[10:30, 20:60] = -DATA[10:30, 20:60].astype(dtype[1:])
    there = zarr.open_group(str(path), mode="r")["a"]
    np.testing.assert_array_equal(there[:], want)
    assert there.dtype == np.dtype(dtype)
    assert json.loads((path / "a/.zarray").read_text())["order"] == order
    assert there.attrs.asdict() == {"history": history, "added": "1"}


def test_unknown_keys_stay(tmp_path):
    """Other members that programs keep in the documents."""
    write_group(tmp_path, {"title": "of the group"}, other={"must_understand": False, "a": [1]})
    write_array(tmp_path / "a", DATA, (16, 16), [sharding((8, 8), [BYTES, GZIP])],
                names=["y", "x"], attributes={"deep": {"er": [None, True]}},
                extra={"must_understand": False, "b": 2},
                chunk_key_encoding={"name": "default", "configuration": {"separator": "/"}})
    before = [json.loads((tmp_path / file).read_text()) for file in ("zarr.json", "a/zarr.json")]
    dataset = gdal.Open(str(tmp_path), gdal.GA_Update)
    dataset.WriteArray(DATA[::-1])
    dataset.SetMetadataItem("new", "item")
    dataset.SetGeoTransform(PLACE)
    dataset = None
    group, array = (json.loads((tmp_path / file).read_text())
                    for file in ("zarr.json", "a/zarr.json"))
    group.pop("consolidated_metadata", None)
    assert group == before[0]
    assert array.pop("attributes").items() >= {"deep": {"er": [None, True]}, "new": "item"}.items()
    before[1].pop("attributes")
    assert array == before[1]
    np.testing.assert_array_equal(open_raster(tmp_path).ReadAsArray(), DATA[::-1])


def test_slices(tmp_path):
    """A slice of an array with more dimensions is written like a raster; the rest does not
    change."""
    data = np.arange(4 * 3 * 20 * 30).reshape(4, 3, 20, 30).astype("i4")
    write_group(tmp_path)
    write_array(tmp_path / "a", data, (2, 2, 16, 16), names=["time", "level", "y", "x"])
    dataset = gdal.OpenEx(f'ZARR:"{tmp_path}":/a:3:1', gdal.OF_UPDATE)
    dataset.WriteArray(-data[3, 1, 5:15, 10:25], 10, 5)
    dataset = None
    data[3, 1, 5:15, 10:25] *= -1
    dataset = gdal.OpenEx(str(tmp_path), gdal.OF_UPDATE)
    assert dataset.RasterCount == 12
    dataset.GetRasterBand(6).WriteArray(-data[1, 2])
    dataset = None
    data[1, 2] *= -1
    np.testing.assert_array_equal(open_raster(tmp_path).ReadAsArray(), data.reshape(12, 20, 30))


def test_axes_by_option(tmp_path):
    """A raster whose rows are not the last dimension but one."""
    data = np.arange(6 * 20 * 30).reshape(6, 20, 30).astype("u2")
    write_group(tmp_path)
    write_array(tmp_path / "a", data, (4, 8, 8), names=["y", "x", "band"])
    dataset = gdal.OpenEx(str(tmp_path), gdal.OF_UPDATE, open_options=["DIM_X=x", "DIM_Y=y"])
    assert (dataset.RasterXSize, dataset.RasterYSize, dataset.RasterCount) == (20, 6, 30)
    new = np.moveaxis(data, 2, 0)[:, 1:4, 5:19] + 1
    dataset.WriteArray(new, 5, 1)
    dataset = None
    data[1:4, 5:19] += 1
    dataset = gdal.OpenEx(str(tmp_path), gdal.OF_RASTER, open_options=["DIM_X=x", "DIM_Y=y"])
    np.testing.assert_array_equal(dataset.ReadAsArray(), np.moveaxis(data, 2, 0))


# --- what is said of the pixels ------------------------------------------------------------------

@pytest.fixture(params=["ZARR_V2", "ZARR_V3"])
def path(request, tmp_path):
    dataset = gdal.GetDriverByName("Zarr").Create(
        str(tmp_path / "a.zarr"), 64, 50, 1, gdal.GDT_Int16, [f"FORMAT={request.param}"])
    dataset.WriteArray(DATA)
    return tmp_path / "a.zarr"


def test_change_all_that_is_said(path):
    dataset = gdal.Open(str(path), gdal.GA_Update)
    srs = osr.SpatialReference()
    srs.ImportFromEPSG(2056)
    dataset.SetSpatialRef(srs)
    dataset.SetGeoTransform(PLACE)
    dataset.SetMetadata({"one": "1", "two": "zwei"})
    dataset.SetMetadataItem("three", "3")
    band = dataset.GetRasterBand(1)
    band.SetUnitType("km")
    band.SetScale(0.5)
    band.SetOffset(3)
    band.SetDescription("heights")
    band.SetColorInterpretation(gdal.GCI_GrayIndex)
    band.SetMetadataItem("of", "band")
    for _ in ("still open", "opened again"):
        assert dataset.GetSpatialRef().IsSame(srs, ["IGNORE_DATA_AXIS_TO_SRS_AXIS_MAPPING=YES"])
        assert dataset.GetGeoTransform() == PLACE
        metadata = dataset.GetMetadata()
        metadata.pop("long_name", None)
        assert metadata == {"one": "1", "two": "zwei", "three": "3"}
        band = dataset.GetRasterBand(1)
        assert (band.GetUnitType(), band.GetScale(), band.GetOffset()) == ("km", 0.5, 3)
        assert band.GetDescription() == "heights"
        assert band.GetColorInterpretation() == gdal.GCI_GrayIndex
        assert band.GetMetadataItem("of") == "band"
        np.testing.assert_array_equal(dataset.ReadAsArray(), DATA)
        band = dataset = None
        dataset = open_raster(path)


def test_take_all_back(path):
    test_change_all_that_is_said(path)
    dataset = gdal.Open(str(path), gdal.GA_Update)
    dataset.SetSpatialRef(None)
    dataset.SetMetadata({})
    band = dataset.GetRasterBand(1)
    band.SetUnitType("")
    band.SetScale(1)
    band.SetOffset(0)
    band.SetDescription("")
    band.SetMetadata({})
    for _ in ("still open", "opened again"):
        assert dataset.GetSpatialRef() is None
        assert dataset.GetMetadata() == {}
        band = dataset.GetRasterBand(1)
        assert (band.GetUnitType(), band.GetScale() or 1, band.GetOffset() or 0) == ("", 1, 0)
        assert band.GetMetadata() == {}
        np.testing.assert_array_equal(dataset.ReadAsArray(), DATA)
        band = dataset = None
        dataset = open_raster(path)


def test_metadata_keeps_its_types(path):
    """Setting a value that is already set keeps the number or list that others wrote."""
    group = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE).GetRootGroup()
    array = group.OpenMDArray("a")
    number = array.CreateAttribute("number", [], gdal.ExtendedDataType.Create(gdal.GDT_Float64))
    number.Write(2.5)
    numbers = array.CreateAttribute("numbers", [3], gdal.ExtendedDataType.Create(gdal.GDT_Int32))
    numbers.Write([1, 2, 3])
    del number, numbers, array, group
    dataset = gdal.Open(str(path), gdal.GA_Update)
    dataset.SetMetadata(dataset.GetMetadata() | {"another": "item"})
    dataset = None
    array = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER).GetRootGroup().OpenMDArray("a")
    got = {a.GetName(): a.Read() for a in array.GetAttributes()}
    assert got == {"number": 2.5, "numbers": (1, 2, 3), "another": "item"}


def test_read_only_changes_go_into_the_sidecar(path):
    """As for every driver, changes of a raster opened for reading are kept in .aux.xml."""
    before = {p: p.read_bytes() for p in path.rglob("*") if p.is_file()}
    dataset = open_raster(path)
    dataset.SetMetadataItem("mine", "1")
    dataset.GetRasterBand(1).SetUnitType("ft")
    dataset = None
    (sidecar,) = [p for p in path.rglob("*") if p.is_file() and p not in before]
    assert sidecar.name == "gdal.aux.xml"
    assert {p: p.read_bytes() for p in before} == before
    dataset = open_raster(path)
    assert dataset.GetMetadataItem("mine") == "1"
    assert dataset.GetRasterBand(1).GetUnitType() == "ft"


def test_kept_by_subdataset(path):
    """Each array of a store has a sidecar."""
    for name, number in (("b", 1), ("c", 2)):
        dataset = gdal.GetDriverByName("Zarr").Create(
            str(path), 64, 50, 1, gdal.GDT_Int16, ["APPEND_SUBDATASET=YES", f"ARRAY_NAME={name}"])
        dataset.WriteArray(DATA * number)
        dataset.GetRasterBand(1).SetCategoryNames([name])
        dataset = None
    for name, number in (("b", 1), ("c", 2)):
        dataset = gdal.Open(f'ZARR:"{path}":/{name}')
        assert dataset.GetRasterBand(1).GetCategoryNames() == [name]
        assert dataset.GetRasterBand(1).ComputeStatistics(False)[1] == DATA.max() * number
        dataset = None
    for name, number in (("b", 1), ("c", 2)):
        dataset = gdal.Open(f'ZARR:"{path}":/{name}')
        assert dataset.GetRasterBand(1).GetStatistics(False, False)[1] == DATA.max() * number
        assert dataset.GetRasterBand(1).GetCategoryNames() == [name]


def test_masks(path):
    mask = np.where(DATA > 500, 255, 0).astype("u1")
    dataset = gdal.Open(str(path), gdal.GA_Update)
    dataset.CreateMaskBand(gdal.GMF_PER_DATASET)
    dataset.GetRasterBand(1).GetMaskBand().WriteArray(mask)
    dataset = None
    dataset = open_raster(path)
    band = dataset.GetRasterBand(1)
    assert band.GetMaskFlags() == gdal.GMF_PER_DATASET
    np.testing.assert_array_equal(band.GetMaskBand().ReadAsArray(), mask)
    assert not path.with_name("a.zarr.msk").exists()


def test_the_place_does_not_go_with_the_metadata(tmp_path):
    """In CF the attribute `grid_mapping` leads to the CRS."""
    path = str(tmp_path / "a.zarr")
    options = ["GEOREFERENCING_CONVENTION=CF"]
    dataset = gdal.GetDriverByName("Zarr").Create(path, 8, 6, 1, gdal.GDT_Byte, options)
    crs = osr.SpatialReference()
    crs.ImportFromEPSG(25832)
    dataset.SetSpatialRef(crs)
    dataset.SetGeoTransform([500000, 10, 0, 5000000, 0, -10])
    dataset = None
    dataset = gdal.Open(path, gdal.GA_Update)
    dataset.SetMetadata({"A": "b"})
    dataset = None
    assert gdal.Open(path).GetSpatialRef().GetAuthorityCode(None) == "25832"
    assert gdal.Open(path).GetMetadataItem("A") == "b"
