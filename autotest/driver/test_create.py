"""gdal_translate and Create() store everything: pixels, position and metadata.

Each raster is opened again and compared with the GeoTIFF that it was made from.
"""
import json

import numpy as np
import pytest
import zarr
from classic import REPLACES_STORES, listed_arrays, open_raster, write_tiff
from night import each_value
from osgeo import gdal, gdal_array, osr
from test_programs import run

RANDOM = np.random.default_rng(11)
TYPES = ["Byte", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64", "Float32", "Float64",
         "CFloat32", "CFloat64"]
GRID = RANDOM.integers(-500, 500, (45, 60)).astype("i2")
PLACE = (500_000, 20, 0, 5_100_000, 0, -20)


def translate(source, path, *arguments, **options):
    creation = [word for name, value in options.items() for word in ("-co", f"{name}={value}")]
    run("gdal_translate", "-q", "-of", "Zarr", source, path, *arguments, *creation)


def any_elements(gdal_type, shape):
    """Elements of any bits except NaNs, which cannot be compared."""
    dtype = np.dtype(gdal_array.GDALTypeCodeToNumericTypeCode(gdal.GetDataTypeByName(gdal_type)))
    if dtype.kind == "c":
        part = RANDOM.normal(scale=1e6, size=(2, *shape))
        return (part[0] + 1j * part[1]).astype(dtype)
    if dtype.kind == "f":
        return (RANDOM.normal(size=shape) * 10.0 ** RANDOM.integers(-30, 30, shape)).astype(dtype)
    limits = np.iinfo(dtype)
    return RANDOM.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def description_of(dataset):
    """All metadata of a raster except its pixels, and how they are stored."""
    srs = dataset.GetSpatialRef()
    bands = []
    for index in range(1, dataset.RasterCount + 1):
        band = dataset.GetRasterBand(index)
        table = band.GetColorTable()
        rat = band.GetDefaultRAT()
        metadata = band.GetMetadata()
        nodata = band.GetNoDataValue()
        bands.append({
            "type": gdal.GetDataTypeName(band.DataType),
            "nodata": "nan" if nodata != nodata else nodata,
            "description": band.GetDescription(),
            "unit": band.GetUnitType(),
            "scale": band.GetScale() or 1,
            "offset": band.GetOffset() or 0,
            "color": gdal.GetColorInterpretationName(band.GetColorInterpretation()),
            "table": table and [table.GetColorEntry(i) for i in range(table.GetCount())],
            "categories": band.GetCategoryNames(),
            "rat": rat and [[rat.GetNameOfCol(c)] + [rat.GetValueAsString(r, c)
                                                     for r in range(rat.GetRowCount())]
                            for c in range(rat.GetColumnCount())],
            "metadata": {k: v for k, v in metadata.items() if not k.startswith("DIM_")},
            "mask": band.GetMaskFlags(),
        })
    return {
        "size": (dataset.RasterXSize, dataset.RasterYSize),
        "place": dataset.GetGeoTransform(can_return_null=True),
        "srs": srs and (srs.GetAuthorityCode(None) or srs.ExportToWkt(["FORMAT=WKT2_2019"])),
        "gcps": [(p.GCPPixel, p.GCPLine, p.GCPX, p.GCPY, p.GCPZ, p.Id) for p in dataset.GetGCPs()],
        # Items that state another aspect tested here, or that refer to another array.
        "metadata": {k: v for k, v in dataset.GetMetadata().items()
                     if k not in ("long_name", "grid_mapping", "coordinates")},
        "rpc": dataset.GetMetadata("RPC"),
        "bands": bands,
    }


def assert_same(path, want_path, ignore=()):
    """Pixels and metadata are equal, except for ignored items of datasets, bands and metadata."""
    got, want = gdal.Open(str(path)), gdal.Open(str(want_path))
    np.testing.assert_array_equal(got.ReadAsArray(), want.ReadAsArray())
    there, here = description_of(got), description_of(want)
    for side in (there, here):
        for said in (side["metadata"], side, *side["bands"]):
            for key in ignore:
                said.pop(key, None)
    # Coordinates, which are the centres of cells, give the position with rounding.
    places = there.pop("place", None), here.pop("place", None)
    assert (places[0] is None) == (places[1] is None)
    if places[0]:
        np.testing.assert_allclose(*places, rtol=1e-12)
    assert there == here


# --- pixels --------------------------------------------------------------------------------------

@each_value()
@pytest.mark.parametrize("zarr_format", ["ZARR_V2", "ZARR_V3"])
@pytest.mark.parametrize("gdal_type", TYPES)
def test_every_type(tmp_path, gdal_type, zarr_format):
    data = any_elements(gdal_type, (3, 47, 61))
    write_tiff(tmp_path / "a.tif", data)
    translate(tmp_path / "a.tif", tmp_path / "a.zarr", FORMAT=zarr_format, BLOCKSIZE="2,16,32")
    assert_same(tmp_path / "a.zarr", tmp_path / "a.tif", ["description", "color"])
    np.testing.assert_array_equal(gdal.Open(str(tmp_path / "a.zarr")).ReadAsArray(), data)
    run("gdal_translate", "-q", tmp_path / "a.zarr", tmp_path / "b.tif")
    np.testing.assert_array_equal(gdal.Open(str(tmp_path / "b.tif")).ReadAsArray(), data)


@pytest.mark.parametrize("zarr_format", ["ZARR_V2", "ZARR_V3"])
@pytest.mark.parametrize("gdal_type, part", [("CInt16", "<i2"), ("CInt32", "<i4")])
def test_complex_integers(tmp_path, gdal_type, part, zarr_format):
    """Zarr has none: they are structures."""
    data = (GRID + 1j * GRID[::-1]).astype("c16")
    code = gdal.GetDataTypeByName(gdal_type)
    write_tiff(tmp_path / "a.tif", data, code)
    translate(tmp_path / "a.tif", tmp_path / "a.zarr", FORMAT=zarr_format, COMPRESS="NONE",
              BLOCKSIZE=f"{GRID.shape[0]},{GRID.shape[1]}")
    run("gdal_translate", "-q", tmp_path / "a.zarr", tmp_path / "b.tif")
    for name in ("a.zarr", "b.tif"):
        dataset = gdal.Open(str(tmp_path / name))
        np.testing.assert_array_equal(dataset.ReadAsArray(), data)
        assert dataset.GetRasterBand(1).DataType == code
        assert dataset.GetRasterBand(1).GetNoDataValue() is None
    chunk = tmp_path / "a.zarr/a" / ("0.0" if zarr_format == "ZARR_V2" else "c/0/0")
    stored = np.frombuffer(chunk.read_bytes(), [("real", part), ("imag", part)])
    np.testing.assert_array_equal(stored["real"].reshape(GRID.shape), GRID)
    np.testing.assert_array_equal(stored["imag"].reshape(GRID.shape), GRID[::-1])
    driver = gdal.GetDriverByName("Zarr")
    updated = driver.Create(str(tmp_path / "c.zarr"), 5, 4, 2, code, ["FORMAT=" + zarr_format])
    updated.GetRasterBand(2).WriteArray(np.full((4, 5), 3 - 7j))
    del updated
    bands = gdal.Open(str(tmp_path / "c.zarr")).ReadAsArray()
    assert (bands[0] == 0).all() and (bands[1] == 3 - 7j).all()


LAYOUTS = {
    "default": {},
    "v3": {"FORMAT": "ZARR_V3"},
    "by pixel": {"INTERLEAVE": "PIXEL"},
    "by pixel, v3": {"INTERLEAVE": "PIXEL", "FORMAT": "ZARR_V3", "BLOCKSIZE": "16,32,2"},
    "arrays": {"SINGLE_ARRAY": "NO"},
    "shards": {"FORMAT": "ZARR_V3", "BLOCKSIZE": "2,32,32", "SHARD_CHUNK_SHAPE": "1,8,16",
               "COMPRESS": "ZSTD"},
    "shards by pixel": {"FORMAT": "ZARR_V3", "INTERLEAVE": "PIXEL", "BLOCKSIZE": "32,32,2",
                        "SHARD_CHUNK_SHAPE": "8,16,1", "COMPRESS": "GZIP"},
    "odd chunks": {"BLOCKSIZE": "3,7,13", "COMPRESS": "BLOSC"},
    "F order": {"BLOCKSIZE": "2,16,16", "CHUNK_MEMORY_LAYOUT": "F", "COMPRESS": "ZLIB"},
    "large chunks": {"BLOCKSIZE": "50,500,500", "FILTER": "DELTA", "COMPRESS": "LZMA"},
    "auto": {"FORMAT": "ZARR_V3", "CHUNKS": "AUTO", "SHARDING": "AUTO", "COMPRESS": "LZ4"},
    "slashes": {"DIM_SEPARATOR": "/", "BLOCKSIZE": "1,20,20"},
}


def for_bands(options, bands):
    """Chunk lengths that fit an array without a band dimension."""
    if bands > 1:
        return options
    is_by_pixel = options.get("INTERLEAVE") == "PIXEL"
    cut = slice(None, 2) if is_by_pixel else slice(1, None)
    return {name: ",".join(value.split(",")[cut]) if value[0].isdigit() else value
            for name, value in options.items() if name != "INTERLEAVE"}


@each_value()
@pytest.mark.parametrize("interleave", ["BAND", "PIXEL"])
@pytest.mark.parametrize("bands", [1, 3, 40])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(tmp_path, layout, bands, interleave):
    """Sources of both interleavings, which are copied in different orders."""
    data = RANDOM.integers(0, 60_000, (bands, 70, 53)).astype("u2")
    write_tiff(tmp_path / "a.tif", data, options=[f"INTERLEAVE={interleave}"])
    options = for_bands(LAYOUTS[layout], bands)
    translate(tmp_path / "a.tif", tmp_path / "a.zarr", **options)
    if layout == "arrays" and bands > 1:
        got = [gdal.Open(f'ZARR:"{tmp_path / "a.zarr"}":/Band{i + 1}').ReadAsArray()
               for i in range(bands)]
        np.testing.assert_array_equal(got, data)
        return
    assert_same(tmp_path / "a.zarr", tmp_path / "a.tif", ["description", "color"])
    if options.get("FORMAT") != "ZARR_V3":
        there = zarr.open_group(str(tmp_path / "a.zarr"), mode="r")["a"]
        # GDAL may request the interleaving of the source if no other is requested.
        dimensions = there.attrs["_ARRAY_DIMENSIONS"]
        if options.get("INTERLEAVE") == "PIXEL":
            assert dimensions == ["Y", "X", "Band"]
        there = np.moveaxis(there[:], -1, 0) if dimensions[-1] == "Band" else there[:]
        np.testing.assert_array_equal(there.reshape(data.shape), data)


@pytest.mark.parametrize("layout", ["default", "shards", "arrays", "by pixel"])
def test_create_and_write(tmp_path, layout):
    """Create(), then bands in one order and windows in another."""
    data = RANDOM.normal(size=(3, 70, 53)).astype("f4")
    options = [f"{name}={value}" for name, value in LAYOUTS[layout].items()]
    dataset = gdal.GetDriverByName("Zarr").Create(
        str(tmp_path / "a.zarr"), 53, 70, 3, gdal.GDT_Float32, options)
    for band in (3, 1, 2):
        for y in (35, 0):
            dataset.GetRasterBand(band).WriteArray(data[band - 1, y:y + 35], 0, y)
    np.testing.assert_array_equal(dataset.ReadAsArray(), data)
    dataset = None
    names = [f'ZARR:"{tmp_path / "a.zarr"}":/Band{i}' for i in (1, 2, 3)]
    if layout != "arrays":
        names = [str(tmp_path / "a.zarr")]
    got = [gdal.Open(name).ReadAsArray() for name in names]
    np.testing.assert_array_equal(np.reshape(got, data.shape), data)


def test_nothing_written(tmp_path):
    """Pixels that are never written are zero, and have no chunks."""
    dataset = gdal.GetDriverByName("Zarr").Create(str(tmp_path / "a.zarr"), 3000, 2000)
    assert not dataset.ReadAsArray().any()
    dataset = None
    assert not gdal.Open(str(tmp_path / "a.zarr")).ReadAsArray().any()
    files = {p.name for p in (tmp_path / "a.zarr").rglob("*") if p.is_file()}
    assert files <= {".zgroup", ".zarray", ".zattrs", ".zmetadata"}


def test_windows(tmp_path):
    """Windows, other sizes, other types and single bands, through gdal_translate's VRT."""
    data = RANDOM.integers(0, 255, (4, 90, 110)).astype("u1")
    write_tiff(tmp_path / "a.tif", data, place=PLACE, crs=32633)
    for number, arguments in enumerate([
            "-srcwin 13 21 70 33", "-srcwin -5 -5 30 30", "-b 3 -b 1",
            "-outsize 50% 50% -r average",
            "-ot Float32 -scale 0 255 0 1", "-projwin 500100 5099900 501000 5099000",
            "-expand gray",
            "-b 1 -mask 4", "-colorinterp red,green,blue,alpha"]):
        if "expand" in arguments:
            continue
        words = arguments.split()
        translate(tmp_path / "a.tif", tmp_path / f"{number}.zarr", *words)
        run("gdal_translate", "-q", tmp_path / "a.tif", tmp_path / f"{number}.tif", *words)
        assert_same(tmp_path / f"{number}.zarr", tmp_path / f"{number}.tif",
                    ["description", "color"])


# --- what is said of the pixels ------------------------------------------------------------------

def make_described(bands=1, gdal_type=gdal.GDT_Byte, shape=(40, 50)):
    """A raster in memory with all metadata that Zarr has a place for."""
    data = RANDOM.integers(0, 5, (bands, *shape))
    dataset = gdal.GetDriverByName("MEM").Create("", shape[1], shape[0], bands, gdal_type)
    srs = osr.SpatialReference()
    srs.ImportFromEPSG(25832)
    dataset.SetSpatialRef(srs)
    dataset.SetGeoTransform(PLACE)
    dataset.SetMetadata({"TITLE": "a test", "AREA_OR_POINT": "Area", "number": "12.50",
                         "text": "lines\nand \"quotes\", ümlaut"})
    for index in range(1, bands + 1):
        band = dataset.GetRasterBand(index)
        band.WriteArray(data[index - 1])
        band.SetNoDataValue(4)
        band.SetUnitType("m")
        band.SetScale(0.25)
        band.SetOffset(-10)
        band.SetDescription(f"name of band {index}")
        band.SetMetadata({"sensor": f"eye {index}"})
    return dataset


def copy(source, path, **options):
    creation = [f"{name}={value}" for name, value in options.items()]
    assert gdal.GetDriverByName("Zarr").CreateCopy(str(path), source, options=creation) is not None
    gdal.ErrorReset()
    return path


def assert_described_as(path, source, ignore=()):
    want, got = description_of(source), description_of(open_raster(path))
    for key in ignore:
        want.pop(key, None), got.pop(key, None)
        for one, other in zip(want["bands"], got["bands"]):
            one.pop(key, None), other.pop(key, None)
    assert got == want
    np.testing.assert_array_equal(open_raster(path).ReadAsArray(), source.ReadAsArray())


@each_value()
@pytest.mark.parametrize("layout", ["default", "v3", "by pixel", "shards", "F order"])
@pytest.mark.parametrize("bands", [1, 3])
def test_description(tmp_path, bands, layout):
    source = make_described(bands)
    path = copy(source, tmp_path / "a.zarr", **for_bands(LAYOUTS[layout], bands))
    assert_described_as(path, source)
    run("gdal_translate", "-q", path, tmp_path / "b.tif")
    run("gdal_translate", "-q", "-of", "Zarr", tmp_path / "b.tif", tmp_path / "b.zarr")
    assert_described_as(tmp_path / "b.zarr", source, ["color"])


def test_description_of_arrays(tmp_path):
    """With an array for each band, each keeps its own metadata."""
    source = make_described(3)
    for index, nodata in enumerate((1, 2, 3), 1):
        source.GetRasterBand(index).SetNoDataValue(nodata)
        source.GetRasterBand(index).SetScale(index)
        source.GetRasterBand(index).SetUnitType(f"m{index}")
    path = copy(source, tmp_path / "a.zarr", SINGLE_ARRAY="NO")
    for index, band in enumerate(description_of(source)["bands"], 1):
        got = description_of(open_raster(f'ZARR:"{path}":/Band{index}'))
        assert got["bands"] == [band]
        assert got["place"] == PLACE and got["metadata"] == source.GetMetadata()
    # Create() can set a colour table as well.
    dataset = gdal.GetDriverByName("Zarr").Create(str(tmp_path / "b.zarr"), 5, 5, 2, options=[
        "SINGLE_ARRAY=NO"])
    dataset.GetRasterBand(2).SetCategoryNames(["one", "two"])
    dataset = None
    dataset = open_raster(f'ZARR:"{tmp_path / "b.zarr"}":/Band2')
    assert dataset.GetRasterBand(1).GetCategoryNames() == ["one", "two"]


NODATA = {
    "Byte": [0, 255], "Int16": [-32768], "UInt16": [65535], "Int32": [-2**31],
    "UInt32": [2**32 - 1],
    "Int64": [-2**63, 2**53 + 1], "UInt64": [2**64 - 1, 2**53 + 1],
    "Float32": [float("nan"), -9999, float(np.finfo("f4").min), float("inf")],
    "Float64": [float("nan"), 1e300, -float("inf"), 0.1],
}


@each_value()
@pytest.mark.parametrize("zarr_format", ["ZARR_V2", "ZARR_V3"])
@pytest.mark.parametrize("gdal_type, nodata",
                         [(t, v) for t, values in NODATA.items() for v in values])
def test_nodata(tmp_path, gdal_type, nodata, zarr_format):
    data = any_elements(gdal_type, (1, 20, 30))
    data[0, :5] = nodata
    write_tiff(tmp_path / "a.tif", data, nodata=nodata)
    translate(tmp_path / "a.tif", tmp_path / "a.zarr", FORMAT=zarr_format, BLOCKSIZE="5,10")
    run("gdal_translate", "-q", tmp_path / "a.zarr", tmp_path / "b.tif")
    for path in (tmp_path / "a.zarr", tmp_path / "b.tif"):
        dataset = gdal.Open(str(path))
        assert repr(dataset.GetRasterBand(1).GetNoDataValue()) in (repr(nodata), f"{nodata}.0")
        np.testing.assert_array_equal(dataset.ReadAsArray(), data[0])
    # Chunks without any other value are not stored.
    chunks = {str(p.relative_to(tmp_path / "a.zarr/a")).replace("/", ".").removeprefix("c.")
              for p in (tmp_path / "a.zarr/a").rglob("*")} & {f"0.{i}" for i in range(3)}
    assert not chunks


@pytest.mark.parametrize("nodata", [-9999, 256, 0.5, float("nan")])
def test_nodata_that_no_pixel_can_have(tmp_path, nodata):
    """Zarr cannot store it as an element, so it is kept in the sidecar."""
    write_tiff(tmp_path / "a.tif", GRID.astype("u1"), nodata=nodata)
    translate(tmp_path / "a.tif", tmp_path / "a.zarr")
    dataset = open_raster(tmp_path / "a.zarr")
    assert repr(dataset.GetRasterBand(1).GetNoDataValue()) == repr(float(nodata))


def test_colors(tmp_path):
    source = make_described()
    band = source.GetRasterBand(1)
    table = gdal.ColorTable()
    for index in range(5):
        table.SetColorEntry(index, (index * 50, 255 - index, 7, 255 if index else 0))
    band.SetColorTable(table)
    band.SetColorInterpretation(gdal.GCI_PaletteIndex)
    band.SetCategoryNames(["nothing", "water", "meadow", "wood", "nodata"])
    path = copy(source, tmp_path / "a.zarr")
    assert_described_as(path, source)
    run("gdal_translate", "-q", "-expand", "rgb", path, tmp_path / "c.zarr", "-of", "Zarr")
    run("gdal_translate", "-q", "-expand", "rgb", path, tmp_path / "c.tif")
    assert_same(tmp_path / "c.zarr", tmp_path / "c.tif", ["description"])


def test_attribute_table(tmp_path):
    source = make_described()
    rat = gdal.RasterAttributeTable()
    rat.CreateColumn("value", gdal.GFT_Integer, gdal.GFU_MinMax)
    rat.CreateColumn("name", gdal.GFT_String, gdal.GFU_Name)
    rat.CreateColumn("area", gdal.GFT_Real, gdal.GFU_Generic)
    rat.SetRowCount(3)
    for row, (value, name,
              area) in enumerate([(1, "wäter", 0.5), (2, "meadow", 1.25), (3, "", -1)]):
        rat.SetValueAsInt(row, 0, value)
        rat.SetValueAsString(row, 1, name)
        rat.SetValueAsDouble(row, 2, area)
    source.GetRasterBand(1).SetDefaultRAT(rat)
    path = copy(source, tmp_path / "a.zarr")
    assert_described_as(path, source)


@pytest.mark.parametrize("interpretations",
                         ["red,green,blue", "red,green,blue,alpha", "gray,alpha"])
@pytest.mark.parametrize("layout", ["default", "by pixel"])
def test_color_interpretation(tmp_path, interpretations, layout):
    bands = interpretations.count(",") + 1
    write_tiff(tmp_path / "a.tif", any_elements("Byte", (bands, 30, 40)))
    arguments = ["-colorinterp", interpretations]
    translate(tmp_path / "a.tif", tmp_path / "a.zarr", *arguments, **LAYOUTS[layout])
    run("gdal_translate", "-q", tmp_path / "a.tif", tmp_path / "b.tif", *arguments)
    assert_same(tmp_path / "a.zarr", tmp_path / "b.tif", ["description"])


@pytest.mark.parametrize("kind", ["dataset", "band"])
def test_mask(tmp_path, kind):
    source = make_described(3)
    for index in (1, 2, 3):
        source.GetRasterBand(index).DeleteNoDataValue()
    mask = np.where(RANDOM.random((40, 50)) < 0.3, 0, 255).astype("u1")
    if kind == "dataset":
        source.CreateMaskBand(gdal.GMF_PER_DATASET)
        source.GetRasterBand(1).GetMaskBand().WriteArray(mask)
    else:
        for index in (1, 2, 3):
            source.GetRasterBand(index).CreateMaskBand(0)
            source.GetRasterBand(index).GetMaskBand().WriteArray(mask if index == 2 else ~mask)
    path = copy(source, tmp_path / "a.zarr")
    got = open_raster(path)
    for index in (1, 2, 3):
        want = source.GetRasterBand(index)
        assert got.GetRasterBand(index).GetMaskFlags() == want.GetMaskFlags()
        np.testing.assert_array_equal(got.GetRasterBand(index).GetMaskBand().ReadAsArray(),
                                      want.GetMaskBand().ReadAsArray())


def test_ground_control_points(tmp_path):
    source = make_described()
    source.SetGeoTransform((0, 1, 0, 0, 0, 1))
    points = [gdal.GCP(9.0, 48.0, 10.5, 0.5, 0.5, "info", "one"),
              gdal.GCP(10.0, 48.0, 11, 49.5, 0.5, "", "two"),
              gdal.GCP(9.0, 47.0, 12, 0.5, 39.5, "", "three")]
    srs = osr.SpatialReference()
    srs.ImportFromEPSG(4326)
    source = gdal.Translate("", source, format="MEM", GCPs=points, outputSRS="EPSG:4326")
    path = copy(source, tmp_path / "a.zarr")
    got = open_raster(path)
    assert not (got.GetGeoTransform(can_return_null=True) or got.GetSpatialRef())
    assert description_of(got)["gcps"] == description_of(source)["gcps"]
    assert got.GetGCPSpatialRef().IsSame(source.GetGCPSpatialRef())
    run("gdalwarp", "-q", path, tmp_path / "warped.zarr", "-of", "Zarr", "-t_srs", "EPSG:3857")
    gdal.Warp(str(tmp_path / "warped.tif"), source, dstSRS="EPSG:3857")
    assert_same(tmp_path / "warped.zarr", tmp_path / "warped.tif",
                ["description", "metadata", "color", "place"])
    warped, want = (gdal.Open(str(tmp_path / f"warped.{name}")) for name in ("zarr", "tif"))
    np.testing.assert_allclose(warped.GetGeoTransform(), want.GetGeoTransform(), rtol=1e-12)


def test_other_domains(tmp_path):
    source = make_described()
    rpc = {"LINE_OFF": "20", "SAMP_OFF": "25", "LAT_OFF": "48", "LONG_OFF": "9",
           "HEIGHT_OFF": "100",
           "LINE_SCALE": "20", "SAMP_SCALE": "25", "LAT_SCALE": "1", "LONG_SCALE": "1",
           "HEIGHT_SCALE": "100"}
    for name in ("LINE_NUM", "LINE_DEN", "SAMP_NUM", "SAMP_DEN"):
        rpc[f"{name}_COEFF"] = " ".join(map(str, RANDOM.integers(-5, 5, 20)))
    geolocation = {"X_DATASET": "lon.tif", "X_BAND": "1", "Y_DATASET": "lat.tif", "Y_BAND": "1",
                   "LINE_OFFSET": "0", "LINE_STEP": "1", "PIXEL_OFFSET": "0", "PIXEL_STEP": "1"}
    domains = {"RPC": rpc, "GEOLOCATION": geolocation, "MINE": {"a": "1", "b": "two"}}
    for domain, items in domains.items():
        source.SetMetadata(items, domain)
    xml = '<x:xmpmeta xmlns:x="adobe:ns:meta/" />'
    source.SetMetadata([xml], "xml:XMP")
    path = copy(source, tmp_path / "a.zarr")
    got = open_raster(path)
    for domain, items in domains.items():
        assert got.GetMetadata(domain) == items
    assert got.GetMetadata("xml:XMP")[0].strip() == xml
    assert description_of(got)["metadata"] == source.GetMetadata()


def test_statistics(tmp_path):
    source = make_described()
    source.GetRasterBand(1).ComputeStatistics(False)
    path = copy(source, tmp_path / "a.zarr")
    want = source.GetRasterBand(1).GetStatistics(False, False)
    got = open_raster(path)
    assert got.GetRasterBand(1).GetStatistics(False, False) == want


# --- more than one array -------------------------------------------------------------------------

def subdatasets(path):
    return listed_arrays(path)


@each_value()
@pytest.mark.parametrize("zarr_format", ["ZARR_V2", "ZARR_V3"])
@pytest.mark.parametrize("convention", ["GDAL", "SPATIAL_PROJ", "CF"])
def test_append(tmp_path, zarr_format, convention):
    """With sizes and positions that differ from the existing arrays', which do not
    change."""
    rasters = {
        "first": (GRID, PLACE, 32633),
        "same": (GRID + 1, PLACE, 32633),
        "elsewhere": (GRID + 2, (0, 20, 0, 5_100_000, 0, -20), 32633),
        "other_crs": (GRID + 3, PLACE, 25832),
        "smaller": (GRID[:20, :30], PLACE, 32633),
        "square": (GRID[:45, :45], (7, 0.01, 0, 50, 0, -0.01), 4326),
        "wider": (GRID[:, :50], PLACE, 32633),
        "south_up": (GRID + 4, (500_000, 20, 0, 5_000_000, 0, 20), 32633),
        "rotated": (GRID + 5, (500_000, 20, 3, 5_100_000, 4, -20), 32633),
        "nowhere": (GRID + 6, None, None),
    }
    path = tmp_path / "a.zarr"
    for name, (data, place, crs) in rasters.items():
        write_tiff(tmp_path / f"{name}.tif", data, place=place, crs=crs)
        append = {} if name == "first" else {"APPEND_SUBDATASET": "YES"}
        translate(tmp_path / f"{name}.tif", path, ARRAY_NAME=name, FORMAT=zarr_format,
                  GEOREFERENCING_CONVENTION=convention, **append)
    for name in rasters:
        assert_same(f'ZARR:"{path}":/{name}', tmp_path / f"{name}.tif", ["description", "color"])
    # Arrays with the same position share their coordinates.
    arrays = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    dimensions = {name: [d.GetName() for d in arrays.OpenMDArray(name).GetDimensions()]
                  for name in rasters}
    assert dimensions["first"] == dimensions["same"] == dimensions["other_crs"] == ["Y", "X"]
    assert dimensions["wider"] == ["Y", "wider_X"]
    assert dimensions["elsewhere"] == ["Y", "elsewhere_X"]
    assert {name.rpartition("/")[2] for name in subdatasets(path)} == rasters.keys()


@pytest.mark.parametrize("convention", ["GDAL", "SPATIAL_PROJ", "CF"])
def test_append_to_what_lies_nowhere(tmp_path, convention):
    """Arrays without coordinates share dimensions; they get none from one that is positioned
    later."""
    path = tmp_path / "a.zarr"
    for name, (place, crs) in {"a": (None, None), "b": (PLACE, 32633), "c": (None, None)}.items():
        write_tiff(tmp_path / f"{name}.tif", GRID, place=place, crs=crs)
        append = {} if name == "a" else {"APPEND_SUBDATASET": "YES"}
        translate(tmp_path / f"{name}.tif", path, ARRAY_NAME=name,
                  GEOREFERENCING_CONVENTION=convention, **append)
    for name in "abc":
        assert_same(f'ZARR:"{path}":/{name}', tmp_path / f"{name}.tif", ["description", "color"])


def test_create_appended(tmp_path):
    """Its position is not known yet, so it has dimensions of its own."""
    path = tmp_path / "a.zarr"
    write_tiff(tmp_path / "a.tif", GRID, place=PLACE, crs=32633)
    translate(tmp_path / "a.tif", path)
    for name, place in {"b": None, "c": PLACE, "d": (0, 1, 0, 50, 0, -1)}.items():
        dataset = gdal.GetDriverByName("Zarr").Create(
            str(path), 60, 45, 1, gdal.GDT_Int16, ["APPEND_SUBDATASET=YES", f"ARRAY_NAME={name}"])
        if place:
            dataset.SetGeoTransform(place)
        dataset.WriteArray(GRID + ord(name))
        dataset = None
        dataset = open_raster(f'ZARR:"{path}":/{name}')
        assert dataset.GetGeoTransform(can_return_null=True) == place
        np.testing.assert_array_equal(dataset.ReadAsArray(), GRID + ord(name))
    assert_same(f'ZARR:"{path}":/a', tmp_path / "a.tif", ["description", "color"])


def test_append_needs_a_name_and_a_store(tmp_path):
    write_tiff(tmp_path / "a.tif", GRID)
    source = gdal.Open(str(tmp_path / "a.tif"))
    driver = gdal.GetDriverByName("Zarr")
    path = copy(source, tmp_path / "a.zarr")
    before = sorted(path.rglob("*"))
    for target, options, message in [
        (path, ["APPEND_SUBDATASET=YES"], "needs the option ARRAY_NAME"),
        (path, ["APPEND_SUBDATASET=YES", "ARRAY_NAME=a"], "already exists"),
        (path, ["APPEND_SUBDATASET=YES", "ARRAY_NAME=a/b"], "a"),
        (path, ["APPEND_SUBDATASET=YES", "ARRAY_NAME=../b"], r"\.\./b"),
        (tmp_path / "none.zarr", ["APPEND_SUBDATASET=YES", "ARRAY_NAME=b"], "none.zarr"),
        *([] if REPLACES_STORES else
          [(path, ["ARRAY_NAME=b"],
            ('already exists; remove it first .gdalmanage delete ".*a.zarr".*'
             'APPEND_SUBDATASET=YES'))]),
    ]:
        with pytest.raises(RuntimeError, match=message):
            driver.CreateCopy(str(target), source, options=options)
        with pytest.raises(RuntimeError, match=message):
            driver.Create(str(target), 5, 5, 1, options=options)
    assert sorted(path.rglob("*")) == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.tif", "a.zarr"]
    assert_same(path, tmp_path / "a.tif", ["description", "color"])


def test_consolidated_metadata(tmp_path):
    """It names the appended array, in both versions, unless it is not wanted."""
    write_tiff(tmp_path / "a.tif", GRID, place=PLACE, crs=32633)
    for name, options in {"v2": {}, "v3": {"FORMAT": "ZARR_V3"}}.items():
        path = tmp_path / f"{name}.zarr"
        translate(tmp_path / "a.tif", path, **options)
        translate(tmp_path / "a.tif", path, ARRAY_NAME="b", APPEND_SUBDATASET="YES")
        document = json.loads((path / (".zmetadata" if name == "v2" else "zarr.json")).read_text())
        nodes = document.get("consolidated_metadata", document)["metadata"]
        for array in (name, "b", "X", "Y"):
            assert (f"{array}/.zarray" if name == "v2" else array) in nodes
        if name == "v2":
            assert sorted(zarr.open_consolidated(str(path)).array_keys()) == ["X", "Y", "b", "v2"]
    translate(tmp_path / "a.tif", tmp_path / "n.zarr", CREATE_CONSOLIDATED_METADATA="NO")
    assert not (tmp_path / "n.zarr/.zmetadata").exists()
