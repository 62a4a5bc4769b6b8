"""The classic API: what becomes a dataset or a band, how it is read, and which metadata it has."""
import math

import numpy as np
import pytest
from classic import GRID, checksum, in_memory, open_raster
from osgeo import gdal
from stores import BYTES, GZIP, ZSTD, edit_json, sharding, transpose, write_array, write_group
from v2_stores import write_v2

CUBE = np.random.default_rng(8).integers(-999, 999, (2, 3, 20, 30)).astype("i2")


def subdatasets(dataset):
    names = [name for name, _ in dataset.GetSubDatasets()]
    assert dataset.RasterCount == 0
    return [name.rpartition('":')[2] for name in names]


# --- What opens as what --------------------------------------------------------------------------

def test_the_one_raster_opens(tmp_path):
    """One-dimensional coordinates, grid mappings and text are not rasters."""
    write_group(tmp_path, {"title": "of the root"})
    write_group(tmp_path / "sub")
    write_array(tmp_path / "sub/grid", GRID, (32, 32), names=["y", "x"])
    for name, length in (("y", 50), ("x", 70)):
        write_array(tmp_path / "sub" / name, np.arange(float(length)), names=[name])
    write_array(tmp_path / "crs", np.int8(0), ())
    words = {"name": "null_terminated_bytes", "configuration": {"length_bytes": 2}}
    write_array(tmp_path / "words", np.full((2, 2), b"ab"), fill_value="", data_type=words)
    dataset = open_raster(tmp_path)
    assert [name for name, _ in dataset.GetSubDatasets()] == [f'ZARR:"{tmp_path}":/sub/grid']
    assert (dataset.RasterXSize, dataset.RasterYSize, dataset.RasterCount) == (70, 50, 1)
    band = dataset.GetRasterBand(1)
    assert (band.DataType, band.GetBlockSize(), band.GetDescription()) == (
        gdal.GDT_Int16, [32, 32], ""
    )
    np.testing.assert_array_equal(dataset.ReadAsArray(), GRID)


@pytest.fixture
def several(tmp_path):
    write_group(tmp_path)
    write_group(tmp_path / "sub")
    attributes = {"coordinates": "lat2d", "cell_measures": "area: cell_area"}
    write_array(tmp_path / "grid", GRID, (32, 32), attributes=attributes, names=["y", "x"])
    write_array(tmp_path / "lat2d", GRID, names=["y", "x"])
    write_array(tmp_path / "cell_area", GRID, names=["y", "x"])
    write_array(tmp_path / "y", np.arange(50.0), names=["y"], attributes={"bounds": "y_bounds"})
    write_array(tmp_path / "y_bounds", np.zeros((50, 2)), names=["y", "side"])
    write_array(tmp_path / "sub/cube", CUBE, names=["t", "z", "y", "x"])
    write_array(tmp_path / "sub/y_bounds", GRID)  # has the name of a helper, but in another group
    return tmp_path


def test_several_rasters_are_subdatasets(several):
    dataset = open_raster(several)
    assert subdatasets(dataset) == ["/grid", "/sub/cube", "/sub/y_bounds"]
    descriptions = [text for _, text in dataset.GetSubDatasets()]
    assert descriptions[:2] == ["[50x70] /grid (Int16)", "[2x3x20x30] /sub/cube (Int16)"]
    grid, cube, _ = (gdal.Open(name) for name, _ in dataset.GetSubDatasets())
    np.testing.assert_array_equal(grid.ReadAsArray(), GRID)
    np.testing.assert_array_equal(cube.ReadAsArray(), CUBE.reshape(6, 20, 30))


def test_list_all_arrays(several):
    dataset = open_raster(several, "LIST_ALL_ARRAYS=YES")
    assert subdatasets(dataset) == [
        "/cell_area", "/grid", "/lat2d", "/sub/cube", "/sub/y_bounds", "/y", "/y_bounds"
    ]
    for name, _ in dataset.GetSubDatasets():
        assert gdal.Open(name).RasterCount >= 1


def test_hidden_array_opens_by_name(several):
    dataset = gdal.Open(f'ZARR:"{several}":/y_bounds')
    assert (dataset.RasterXSize, dataset.RasterYSize) == (2, 50)


@pytest.mark.parametrize("shape", [(), (5,)])
def test_fewer_than_two_dimensions(tmp_path, shape):
    data = np.arange(np.prod(shape, dtype=int), dtype="i2").reshape(shape) + 3
    write_array(tmp_path, data, fill_value=0)
    dataset = open_raster(tmp_path)
    np.testing.assert_array_equal(dataset.ReadAsArray(), data.reshape(1, -1))
    assert dataset.GetGeoTransform(can_return_null=True) is None


def test_nothing_to_show(tmp_path):
    write_group(tmp_path)
    with pytest.raises(RuntimeError, match=f"{tmp_path} has no array that can be shown"):
        open_raster(tmp_path)


def test_text_is_no_raster(tmp_path):
    write_v2(tmp_path / "text.zarr", "", np.array([["a", "b"]]))
    with pytest.raises(RuntimeError, match="text.zarr has no array"):
        open_raster(tmp_path / "text.zarr")
    with pytest.raises(RuntimeError, match="array /text does not hold numbers"):
        gdal.Open(f'ZARR:"{tmp_path}/text.zarr":/text')


# --- Dimensions as bands -------------------------------------------------------------------------

@pytest.fixture
def cube(tmp_path):
    path = tmp_path / "cube"
    write_group(path)
    codecs = [transpose(1, 0, 2, 3), sharding((1, 1, 5, 10), [BYTES, ZSTD])]
    write_array(path / "cube", CUBE, (2, 2, 10, 20), codecs, names=["t", "level", "y", "x"])
    write_array(path / "t", np.array([10.5, 20.25]), names=["t"],
                attributes={"units": "days since 2000-01-01"})
    write_array(path / "level", np.array([b"low", b"mid", b"top"]), names=["level"], fill_value="",
                data_type={"name": "null_terminated_bytes", "configuration": {"length_bytes": 3}})
    return path


def test_bands(cube):
    dataset = open_raster(cube)
    assert (dataset.RasterXSize, dataset.RasterYSize, dataset.RasterCount) == (30, 20, 6)
    np.testing.assert_array_equal(dataset.ReadAsArray(), CUBE.reshape(6, 20, 30))
    for i in range(6):
        band = dataset.GetRasterBand(i + 1)
        assert band.GetBlockSize() == [10, 5]
        assert band.GetMetadata() == {
            "DIM_t_INDEX": str(i // 3),
            "DIM_t_VALUE": ["10.5", "20.25"][i // 3],
            "DIM_t_DATETIME": ["2000-01-11T12:00:00Z", "2000-01-21T06:00:00Z"][i // 3],
            "DIM_t_UNIT": "days since 2000-01-01",
            "DIM_level_INDEX": str(i % 3),
            "DIM_level_VALUE": ["low", "mid", "top"][i % 3],
        }
        assert band.GetMetadataItem("DIM_t_INDEX") == str(i // 3)
        np.testing.assert_array_equal(band.ReadAsArray(), CUBE[i // 3, i % 3])


def test_one_metadata_item(cube):
    dataset = open_raster(cube)
    band = dataset.GetRasterBand(4)
    assert band.GetMetadataItem("DIM_t_VALUE") == "20.25"
    assert band.GetMetadataItem("DIM_u_VALUE") is None


def test_slices_are_subdatasets(cube):
    dataset = open_raster(cube, "MULTIBAND=NO")
    assert subdatasets(dataset) == [f"/cube:{t}:{level}" for t in range(2) for level in range(3)]
    assert dataset.GetSubDatasets()[5][1] == "/cube at t=1, level=2"
    for i, (name, _) in enumerate(dataset.GetSubDatasets()):
        one = gdal.Open(name)
        assert one.RasterCount == 1
        np.testing.assert_array_equal(one.ReadAsArray(), CUBE[i // 3, i % 3])
        assert one.GetRasterBand(1).GetMetadataItem("DIM_level_INDEX") == str(i % 3)


def test_multiband_no_leaves_two_dimensions_alone(tmp_path):
    write_array(tmp_path, GRID)
    assert open_raster(tmp_path, "MULTIBAND=NO").RasterCount == 1


@pytest.mark.parametrize("x, y, axes", [
    ("x", "level", (0, 2, 1, 3)),
    ("3", "1", (0, 2, 1, 3)),
    ("t", "x", (1, 2, 3, 0)),
    ("level", "t", (2, 3, 0, 1)),
])
def test_chosen_axes(cube, x, y, axes):
    dataset = open_raster(cube, f"DIM_X={x}", f"DIM_Y={y}")
    want = CUBE.transpose(axes)
    want = want.reshape(-1, *want.shape[2:])
    np.testing.assert_array_equal(dataset.ReadAsArray(), want)
    last = dataset.GetRasterBand(dataset.RasterCount)
    np.testing.assert_array_equal(last.ReadAsArray(), want[-1])


@pytest.mark.parametrize("options, problem", [
    (["DIM_X=depth"], '/cube has no dimension "depth"; it has the dimensions t, level, y, x$'),
    (["DIM_Y=4"], '/cube has no dimension "4"; it has the dimensions t, level, y, x$'),
    (["DIM_X=y"], "/cube: the X and Y dimensions are the same"),
])
def test_wrong_axes(cube, options, problem):
    with pytest.raises(RuntimeError, match=problem):
        open_raster(cube, *options)


def test_axes_by_meaning(tmp_path):
    """(longitude, time, latitude): the meaning of dimensions counts, not their order."""
    data = np.arange(24, dtype="i2").reshape(4, 2, 3)
    write_array(tmp_path, data, names=["longitude", "time", "latitude"])
    dataset = open_raster(tmp_path)
    np.testing.assert_array_equal(dataset.ReadAsArray(), data.transpose(1, 2, 0))


@pytest.mark.parametrize("slice_, problem", [
    (":2:0", "/cube: index 2 is outside a dimension of length 2"),
    (":0", "/cube: expected 2 indexes, one for each dimension that is neither X nor Y; got 1$"),
    (":0:0:0", "/cube: expected 2 indexes, .* got 3$"),
])
def test_wrong_slice(cube, slice_, problem):
    with pytest.raises(RuntimeError, match=problem):
        gdal.Open(f'ZARR:"{cube}":/cube{slice_}')


def resize(path, shape):
    """Sets a shape without writing chunks."""
    edit_json(path / "zarr.json", shape=shape)


@pytest.mark.parametrize("shape", [[65536, 1, 1], [256, 256, 1, 1]])
def test_most_bands(tmp_path, shape):
    write_array(tmp_path, np.full([1] * len(shape), 6, "u1"), fill_value=3)
    resize(tmp_path, shape)
    dataset = open_raster(tmp_path)
    assert dataset.RasterCount == 65536
    assert [dataset.GetRasterBand(i).ReadAsArray()[0, 0] for i in (1, 2, 65536)] == [6, 3, 3]


@pytest.mark.parametrize("shape", [[65537, 2, 2], [2**30, 2**30, 2, 2]])
def test_too_many_bands(tmp_path, warnings, shape):
    write_array(tmp_path / "a.zarr", np.zeros([1] * len(shape), "u1"))
    resize(tmp_path / "a.zarr", shape)
    hint = f'ZARR:"{tmp_path}/a.zarr":/a' + ":0" * (len(shape) - 2)
    assert open_raster(tmp_path / "a.zarr").RasterCount == 0
    assert len(warnings) == 1 and warnings[0].endswith(hint)
    assert gdal.Open(hint).RasterCount == 1
    with pytest.raises(RuntimeError, match="/a would have .* bands where 1 to 65536 are possible"):
        open_raster(f'ZARR:"{tmp_path}/a.zarr":/a')
    last = ":".join(str(n - 1) for n in shape[:-2])
    assert gdal.Open(f'ZARR:"{tmp_path}/a.zarr":/a:{last}').ReadAsArray().tolist() == [[0, 0]] * 2


def test_too_long_for_a_raster(tmp_path):
    write_array(tmp_path / "a.zarr", np.zeros((1, 1), "u1"))
    resize(tmp_path / "a.zarr", [2, 2**31])
    with pytest.raises(RuntimeError, match="/a: a dimension of length 2147483648 cannot be"):
        open_raster(tmp_path / "a.zarr")
    resize(tmp_path / "a.zarr", [2, 2**31 - 1])
    got = open_raster(tmp_path / "a.zarr").ReadAsArray(2**31 - 4, 0, 3, 2)
    assert got.tolist() == [[0, 0, 0], [0, 0, 0]]


# --- Reading -------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    path = tmp_path_factory.mktemp("grid")
    write_array(path, GRID, (16, 32), [sharding((8, 16), [BYTES, GZIP])])
    return path


@pytest.mark.parametrize("window", [
    (0, 0, 70, 50), (0, 0, 1, 1), (69, 49, 1, 1), (15, 7, 2, 2), (31, 15, 34, 20), (0, 33, 70, 1),
])
def test_windows(grid, window):
    x, y, columns, rows = window
    got = open_raster(grid).ReadAsArray(*window)
    np.testing.assert_array_equal(got, GRID[y : y + rows, x : x + columns])


def test_window_outside(grid):
    with pytest.raises(RuntimeError, match="Access window out of range"):
        open_raster(grid).ReadAsArray(60, 0, 11, 1)


def test_blocks(grid):
    """Blocks at the edges contain the part inside the raster."""
    dataset = open_raster(grid)
    band = dataset.GetRasterBand(1)
    assert band.GetBlockSize() == [16, 8]
    padded = np.pad(GRID, ((0, 6), (0, 10)))
    for y in range(7):
        for x in range(5):
            got = np.frombuffer(band.ReadBlock(x, y), "i2").reshape(8, 16)
            rows, columns = min(8, 50 - 8 * y), min(16, 70 - 16 * x)
            want = padded[8 * y :, 16 * x :]
            np.testing.assert_array_equal(got[:rows, :columns], want[:rows, :columns])


@pytest.mark.parametrize("gdal_type", range(1, gdal.GDT_TypeCount), ids=gdal.GetDataTypeName)
def test_buffer_types(grid, gdal_type):
    want = in_memory(GRID).ReadRaster(20, 10, 40, 30, buf_type=gdal_type)
    dataset = open_raster(grid)
    assert dataset.ReadRaster(20, 10, 40, 30, buf_type=gdal_type) == want
    assert dataset.GetRasterBand(1).ReadRaster(20, 10, 40, 30, buf_type=gdal_type) == want


ALGORITHMS = {
    "nearest": gdal.GRIORA_NearestNeighbour, "bilinear": gdal.GRIORA_Bilinear,
    "cubic": gdal.GRIORA_Cubic, "average": gdal.GRIORA_Average, "mode": gdal.GRIORA_Mode,
}


@pytest.mark.parametrize("algorithm", ALGORITHMS.values(), ids=ALGORITHMS)
@pytest.mark.parametrize("window, size", [
    ((0, 0, 70, 50), (35, 25)),
    ((0, 0, 70, 50), (14, 10)),
    ((0, 0, 70, 50), (10, 25)),
    ((3, 5, 60, 40), (20, 8)),
    ((0, 0, 70, 50), (33, 17)),
    ((11, 13, 37, 29), (10, 9)),
    ((20, 20, 10, 10), (25, 31)),
    ((20, 20, 10, 10), (20, 5)),
    ((10.25, 9.5, 40.5, 30.5), (20, 15)),
    ((10.75, 9.25, 40, 30), (20, 15)),
], ids=str)
@pytest.mark.parametrize("nodata", [None, 500], ids=["", "nodata"])
def test_resampling(tmp_path, algorithm, window, size, nodata):
    data = GRID if nodata is None else np.where(GRID % 3 == 0, 500, GRID).astype("i2")
    write_array(tmp_path, data, (16, 32), fill_value=nodata or 0)
    got = open_raster(tmp_path).ReadAsArray(*window, None, *size, resample_alg=algorithm)
    want = in_memory(data, nodata).ReadAsArray(*window, None, *size, resample_alg=algorithm)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("bands", [
    [1], [6], [1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1], [2, 3], [3, 4], [1, 4], [5, 3, 1], [2, 2, 2],
    [1, 3, 5, 6], [4, 4, 1, 2, 3, 6, 5], [3, 1, 2], [1, 2, 3, 4, 5, 6, 1], [1, 5, 3, 4, 2, 6],
    [1, 2, 2, 4, 5, 6],
], ids=str)
@pytest.mark.parametrize("layout", ["band", "pixel", "line", "padded"])
def test_bands_in_any_order_and_layout(cube, bands, layout):
    columns, rows = 13, 11
    item = 4
    spaces = {  # pixel, line, band
        "band": (item, item * columns, item * columns * rows),
        "pixel": (item * len(bands), item * len(bands) * columns, item),
        "line": (item, item * columns * len(bands), item * columns),
        "padded": (2 * item, 2 * item * columns + 12, (2 * item * columns + 12) * rows + 20),
    }[layout]
    names = ("buf_pixel_space", "buf_line_space", "buf_band_space")

    def read(dataset, **options):
        raw = bytes(dataset.ReadRaster(
            9, 7, columns, rows, buf_type=gdal.GDT_Int32, band_list=bands,
            **dict(zip(names, spaces)), **options,
        ))
        pixel, line, band = spaces
        shape, strides = (len(bands), rows, columns), (band, line, pixel)
        return np.ndarray(shape, "i4", raw, strides=strides)

    want = CUBE.reshape(6, 20, 30)[np.array(bands) - 1, 7:18, 9:22]
    dataset = open_raster(cube)
    np.testing.assert_array_equal(read(dataset), want)
    # Resampled reads go through the block cache, band by band.
    got = read(dataset, resample_alg=gdal.GRIORA_Cubic)
    np.testing.assert_array_equal(got, want)


def test_resampled_bands(cube):
    for size, algorithm in (((15, 10), 0), ((11, 7), 0), ((10, 5), gdal.GRIORA_Average)):
        options = {"buf_xsize": size[0], "buf_ysize": size[1], "resample_alg": algorithm,
                   "band_list": [5, 2, 3], "interleave": "pixel"}
        got = open_raster(cube).ReadAsArray(**options)
        np.testing.assert_array_equal(got, in_memory(CUBE).ReadAsArray(**options))


def test_chunk_larger_than_the_array(tmp_path):
    write_array(tmp_path, GRID, (1000, 1000))
    dataset = open_raster(tmp_path)
    assert dataset.GetRasterBand(1).GetBlockSize() == [70, 50]
    np.testing.assert_array_equal(dataset.ReadAsArray(), GRID)
    want = in_memory(GRID).ReadAsArray(buf_xsize=23, buf_ysize=11)
    np.testing.assert_array_equal(dataset.ReadAsArray(buf_xsize=23, buf_ysize=11), want)


def test_checksum_and_statistics(tmp_path):
    path = tmp_path / "some.zarr"
    write_group(path)
    data = np.where(GRID > 900, -5, GRID).astype("i2")
    write_array(path / "a", data, (16, 32), fill_value=-5)
    write_array(path / "b", data + 1, (16, 32))
    dataset = gdal.Open(f'ZARR:"{path}":/a')
    assert checksum(dataset) == checksum(in_memory(data))
    valid = data[data != -5].astype("f8")
    want = [valid.min(), valid.max(), valid.mean(), valid.std()]
    assert dataset.GetRasterBand(1).ComputeStatistics(False) == pytest.approx(want)
    del dataset
    # They are kept for this array only.
    assert (path / "a/gdal.aux.xml").exists()
    dataset = gdal.Open(f'ZARR:"{path}":/a')
    assert dataset.GetRasterBand(1).GetStatistics(False, False) == pytest.approx(want)
    dataset = gdal.Open(f'ZARR:"{path}":/b')
    assert dataset.GetRasterBand(1).GetMetadataItem("STATISTICS_MEAN") is None


# --- What a band and a dataset say ---------------------------------------------------------------

@pytest.mark.parametrize("dtype, fill_value, other", [
    ("u1", 255, 254),
    ("i2", -9, 9),
    ("f4", -9999, 9999),
    ("f8", "NaN", 0),
    ("f4", -3.4028234663852886e38, 1e38),
    ("i8", -(2**63), -(2**63) + 1),
    ("i8", 2**62 + 1, 2**62),
    ("u8", 2**64 - 1, 2**64 - 2),
])
def test_nodata_and_mask(tmp_path, dtype, fill_value, other):
    fill = float("nan") if fill_value == "NaN" else fill_value
    data = np.array([[other, fill]], dtype)
    write_array(tmp_path, data, fill_value=fill)
    edit_json(tmp_path / "zarr.json", fill_value=fill_value)
    dataset = open_raster(tmp_path)
    band = dataset.GetRasterBand(1)
    got = band.GetNoDataValue()
    assert math.isnan(got) if fill_value == "NaN" else got == fill
    assert type(got) is (int if dtype in ("i8", "u8") else float)
    assert band.GetMaskFlags() == gdal.GMF_NODATA
    np.testing.assert_array_equal(band.GetMaskBand().ReadAsArray(), [[255, 0]])


def test_no_nodata(tmp_path):
    write_array(tmp_path, GRID)
    dataset = open_raster(tmp_path)
    band = dataset.GetRasterBand(1)
    assert band.GetNoDataValue() is None
    assert band.GetMaskFlags() == gdal.GMF_ALL_VALID


def test_metadata(tmp_path):
    attributes = {
        "scale_factor": 0.25, "add_offset": 7, "units": "mm", "long_name": "rain in a day",
        "standard_name": "precipitation_amount", "count": 3, "share": 0.1, "big": 2**63,
        "list": [1, 2.5], "words": ["a", "b"], "nested": {"a": [None, "ü"]}, "flag": True,
        "COLOR_INTERPRETATION": "Gray",
    }
    write_array(tmp_path, GRID, attributes=attributes)
    dataset = open_raster(tmp_path)
    assert dataset.GetMetadata() == {
        "long_name": "rain in a day", "standard_name": "precipitation_amount", "count": "3",
        "share": "0.1", "big": "9223372036854775808", "list": "{1,2.5}", "words": '["a","b"]',
        "nested": '{"a":[null,"ü"]}', "flag": "true",
    }
    band = dataset.GetRasterBand(1)
    assert (band.GetScale(), band.GetOffset(), band.GetUnitType()) == (0.25, 7, "mm")
    assert band.GetDescription() == "rain in a day"
    assert band.GetColorInterpretation() == gdal.GCI_GrayIndex
    assert not list(tmp_path.parent.glob("*.aux.xml")) + list(tmp_path.rglob("*.aux.xml"))


def test_color_interpretation_of_each_band(tmp_path):
    colors = ["Red", "Green", "Blue"]
    write_array(tmp_path, np.zeros((3, 2, 2), "u1"), attributes={"COLOR_INTERPRETATION": colors})
    dataset = open_raster(tmp_path)
    got = [dataset.GetRasterBand(i).GetColorInterpretation() for i in (1, 2, 3)]
    assert got == [gdal.GCI_RedBand, gdal.GCI_GreenBand, gdal.GCI_BlueBand]


# --- Refusals ------------------------------------------------------------------------------------
