"""Random rasters with all that GDAL's data model has. A seed makes the same raster each time.

    source = make_raster(seed, folder)
    source.path      of a GeoTIFF or VRT; for a dataset in memory empty
    source.open()    the dataset
    source.words     what the raster has, for messages

Types, CRS and formats follow from the seed itself, so that few successive seeds have all of them;
everything else is random. What the format of a source cannot hold is not in the source.
"""
from dataclasses import dataclass, field

import numpy as np
from crs_kinds import KINDS, make_crs
from osgeo import gdal

NUMPY_TYPES = {"Byte": "u1", "Int8": "i1", "UInt16": "u2", "Int16": "i2", "UInt32": "u4",
               "Int32": "i4", "UInt64": "u8", "Int64": "i8", "Float16": "f2", "Float32": "f4",
               "Float64": "f8", "CInt16": "c8", "CInt32": "c8", "CFloat16": "c8",
               "CFloat32": "c8", "CFloat64": "c16"}
TYPES = [name for name in NUMPY_TYPES if hasattr(gdal, "GDT_" + name)]
FORMATS = ["GTiff", "VRT", "GTiff", "MEM", "VRT"]
SIZES = [(1, 1), (7, 5), (40, 33), (256, 256), (257, 300), (300, 1), (64, 512), (31, 31),
         (1030, 520)]
UNITS = ["m", "K", "°C", "kg m-2 s-1", "m²/s²", "%"]
TEXTS = ["plain", "äöü 漢字 🗺", "a=b", "space after ", "<b>&amp;\"'</b>", "line\nbreak", "1",
         "1.50", "true", "[1, 2]", '{"a": null}', "x" * 3000]
DOMAINS = ["MY_DOMAIN", "xml:NOTES", "json:NOTES", "RPC", "xml:XMP", "EXIF", "IMAGERY"]
RPC = {"ERR_BIAS": "-1", "ERR_RAND": "-1", "LINE_OFF": "2000.5", "SAMP_OFF": "1500",
       "LAT_OFF": "47.1", "LONG_OFF": "8.25", "HEIGHT_OFF": "500", "LINE_SCALE": "2001",
       "SAMP_SCALE": "1501",
       "LAT_SCALE": "0.125", "LONG_SCALE": "0.25", "HEIGHT_SCALE": "501",
       **{f"{part}_COEFF": " ".join(str(i) for i in range(20))
          for part in ("LINE_NUM", "LINE_DEN", "SAMP_NUM", "SAMP_DEN")}}
COLOURS = [gdal.GCI_Undefined, gdal.GCI_GrayIndex, gdal.GCI_RedBand, gdal.GCI_GreenBand,
           gdal.GCI_BlueBand, gdal.GCI_AlphaBand, gdal.GCI_HueBand, gdal.GCI_CyanBand]


@dataclass
class Source:
    seed: int
    format: str
    gdal_type: str
    path: str = ""
    dataset: object = None
    words: list = field(default_factory=list)

    def open(self):
        return self.dataset if self.format == "MEM" else gdal.Open(self.path)

    def __str__(self):
        return f"{self.format} of {self.gdal_type}: {', '.join(self.words)}"


def pick(random, choices):
    return choices[random.integers(len(choices))]


def chance(random, probability):
    return random.random() < probability


def attempt(call, *arguments):
    """What the source's format cannot hold is not in the source."""
    gdal.PushErrorHandler("CPLQuietErrorHandler")
    try:
        return call(*arguments)
    except RuntimeError:
        return None
    finally:
        gdal.PopErrorHandler()


def write_tiff(path, values):
    dataset = gdal.GetDriverByName("GTiff").Create(
        path, *values.shape[::-1], 1, gdal.GDT_Byte if values.dtype == "u1" else gdal.GDT_Float64)
    dataset.GetRasterBand(1).WriteArray(values)


# --- Values --------------------------------------------------------------------------------------

def limits(gdal_type):
    """The smallest and the largest integer of a type, or None of floating-point types."""
    name = {"CInt16": "i2", "CInt32": "i4"}.get(gdal_type, NUMPY_TYPES[gdal_type])
    dtype = np.dtype(name)
    return None if dtype.kind in "fc" else (np.iinfo(dtype).min, np.iinfo(dtype).max)


def random_pixels(random, gdal_type, shape, few):
    """`few` for integers of one digit."""
    dtype = np.dtype(NUMPY_TYPES[gdal_type])
    if gdal_type.startswith("CInt"):
        bound = 30_000 if gdal_type == "CInt16" else 2**23
        parts = random.integers(-bound, bound, (2, *shape))
        return (parts[0] + 1j * parts[1]).astype(dtype)
    if dtype.kind in "iu":
        low, high = limits(gdal_type)
        return random.integers(0 if few else low, 9 if few else high, shape, dtype, endpoint=True)
    values = random.normal(0, 100, shape)
    if dtype.kind == "c":
        return (values + 1j * random.normal(0, 100, shape)).astype(dtype)
    if chance(random, 0.5):
        special = random.random(shape) < 0.05
        values[special] = random.choice([np.nan, np.inf, -np.inf, -0.0, 1e-7], shape)[special]
    return values.astype(dtype)


def random_nodata(random, gdal_type):
    bounds = limits(gdal_type)
    if bounds and not gdal_type.startswith("C"):
        return int(pick(random, [0, 1, 7, *bounds, bounds[1] - 1]))
    if bounds:
        return float(pick(random, [0, -9999]))
    choices = [0.0, -9999.0, float("nan"), float("inf"), 0.1, -3.4028234663852886e38]
    if gdal_type in ("Float64", "CFloat64"):
        choices += [1e300, -1.7976931348623157e308]
    if gdal_type in ("Float16", "CFloat16"):  # what it holds
        choices = [0.0, -10000.0, float("nan"), float("inf")]
    return pick(random, choices)


def write_pixels(random, band, gdal_type, nodata, few):
    values = random_pixels(random, gdal_type, (band.YSize, band.XSize), few)
    if nodata is not None and chance(random, 0.7):
        values[random.random(values.shape) < 0.2] = nodata
        if chance(random, 0.3):  # whole chunks of nodata
            values[: values.shape[0] // 2 + 1] = nodata
    elif chance(random, 0.1):
        values[:] = 0
    band.WriteArray(values)


# --- What a dataset has --------------------------------------------------------------------------

def set_position(random, source, dataset):
    width, height = dataset.RasterXSize, dataset.RasterYSize
    kind = pick(random, ["north up", "north up", "north up", "south up", "rotated", "none", "GCPs"])
    kind_of_crs = list(KINDS)[source.seed % len(KINDS)]
    crs = make_crs(kind_of_crs)
    step = 1 / 128 if crs.IsGeographic() or "pole" in kind_of_crs else 30.0
    step *= float(pick(random, [1, 1, 0.3, 1.2345678]))
    source.words += [kind, f"CRS {kind_of_crs}"]
    left, top = (7.1, 48.3) if step < 1 else (500_000.5, 4_999_980.25)
    if kind == "GCPs":
        points = [gdal.GCP(left + i * step * 1.01, top - j * step * 0.99, 12.5 * (i + j), i + 0.5,
                           j + 0.25, f"note {i}" if chance(random, 0.5) else "", f"id{i}_{j}")
                  for i in (0, width) for j in (0, height / 2, height)]
        attempt(dataset.SetGCPs, points, crs)
        return
    if not chance(random, 0.1):
        attempt(dataset.SetSpatialRef, crs)
    else:
        source.words.append("without CRS")
    place = {"north up": (left, step, 0, top, 0, -step),
             "south up": (left, step, 0, top, 0, step),
             "rotated": (left, step, step / 3, top, step / 7, -step * 0.9)}.get(kind)
    if place:
        attempt(dataset.SetGeoTransform, place)


def set_dataset_metadata(random, source, dataset, folder):
    if chance(random, 0.6):
        items = {f"key_{i}": pick(random, TEXTS) for i in range(random.integers(1, 6))}
        if chance(random, 0.2):
            items["spaces"] = " before and after "
        if chance(random, 0.3):
            items |= {"Title": "Random", "TIFFTAG_SOFTWARE": "random_rasters", "units": "none",
                      "long_name": "a name", "scale_factor": "2", "odd key/ä": "x"}
        if chance(random, 0.4):
            items["AREA_OR_POINT"] = "Point"
        source.words.append("metadata")
        attempt(dataset.SetMetadata, items)
    for domain in random.permutation(DOMAINS)[:pick(random, [0, 0, 1, 2])]:
        source.words.append(f"domain {domain}")
        if domain.startswith("xml:"):
            attempt(dataset.SetMetadata, ["<notes><note>ä &amp; b</note></notes>"], domain)
        elif domain.startswith("json:"):
            attempt(dataset.SetMetadata, ['{"a": [1, null]}'], domain)
        else:
            attempt(dataset.SetMetadata, RPC if domain == "RPC" else {"a": "1", "b": "ä"}, domain)
    if chance(random, 0.1):
        source.words.append("GEOLOCATION")
        for axis, start in (("X", 7.0), ("Y", 48.0)):
            shape = (dataset.RasterYSize, dataset.RasterXSize)
            write_tiff(f"{folder}/{axis}.tif", start + np.add(*np.indices(shape)) / 64)
        attempt(dataset.SetMetadata, {
            "SRS": make_crs("WGS 84").ExportToWkt(), "X_DATASET": f"{folder}/X.tif", "X_BAND": "1",
            "Y_DATASET": f"{folder}/Y.tif", "Y_BAND": "1", "PIXEL_OFFSET": "0", "LINE_OFFSET": "0",
            "PIXEL_STEP": "1", "LINE_STEP": "1"}, "GEOLOCATION")


# --- What a band has -----------------------------------------------------------------------------

def random_table(random):
    table = gdal.RasterAttributeTable()
    for name, kind, usage in (("Value", gdal.GFT_Integer, gdal.GFU_MinMax),
                              ("Class", gdal.GFT_String, gdal.GFU_Name),
                              ("Share", gdal.GFT_Real, gdal.GFU_Generic),
                              ("Red", gdal.GFT_Integer, gdal.GFU_Red)):
        table.CreateColumn(name, kind, usage)
    for row in range(int(random.integers(1, 6))):
        table.SetValueAsInt(row, 0, row)
        table.SetValueAsString(row, 1, pick(random, ["forest", "ä & <b>", ""]))
        table.SetValueAsDouble(row, 2, row / 7)
        table.SetValueAsInt(row, 3, int(random.integers(256)))
    if chance(random, 0.3):
        table.SetLinearBinning(0.5, 2.0)
    if chance(random, 0.5) and hasattr(table, "SetTableType"):
        table.SetTableType(gdal.GRTT_ATHEMATIC)
    return table


def random_palette(random):
    palette = gdal.ColorTable()
    for entry in range(int(pick(random, [2, 10, 256]))):
        alpha = int(pick(random, [255, 255, 0, 128]))
        palette.SetColorEntry(entry, (*(int(c) for c in random.integers(256, size=3)), alpha))
    return palette


def set_statistics(random, band):
    if chance(random, 0.5):
        band.SetStatistics(-1.5, 99.25, 12.125, 3.0625)
    else:
        band.ComputeStatistics(False)


def set_band(random, source, band, has):
    """What all bands of a raster may have is in `has`; each band decides by itself."""
    number = band.GetBand()
    if "description" in has and chance(random, 0.8):
        attempt(band.SetDescription, pick(random, ["band ä", "B02", "NIR/1", f"band {number}"]))
    if "scale" in has:
        attempt(band.SetScale, float(pick(random, [0.1, 2, 1e-4, -3])))
        attempt(band.SetOffset, float(pick(random, [0, -273.15, 1e6])))
    if "unit" in has:
        attempt(band.SetUnitType, pick(random, UNITS))
    if "categories" in has and chance(random, 0.7):
        attempt(band.SetCategoryNames,
                ["none", "forest", "", "open water", "ä, b; c"][:random.integers(1, 6)])
    if "table" in has and chance(random, 0.7):
        attempt(band.SetDefaultRAT, random_table(random))
    if "band metadata" in has:
        attempt(band.SetMetadata, {f"band_key_{i}": pick(random, TEXTS) for i in range(3)})
    if "band domain" in has:
        attempt(band.SetMetadata, {"wavelength": "0.66", "unit": "µm"}, "IMAGERY")
    if "histogram" in has:
        counts = [int(n) for n in random.integers(99, size=8)]
        attempt(band.SetDefaultHistogram, -0.5, 255.5, counts)
    if "statistics" in has and not source.gdal_type.startswith("C"):
        attempt(set_statistics, random, band)


BAND_ITEMS = ["description", "scale", "unit", "categories", "table", "band metadata", "band domain",
              "histogram", "statistics", "palette", "colours", "mask", "overviews"]


def create(random, source, folder, size, count, nodata):
    """The dataset of the format with its pixels, for all else to be set."""
    gdal_type = getattr(gdal, "GDT_" + source.gdal_type)
    options = ["ALPHA=NO", "PHOTOMETRIC=MINISBLACK"] if source.format != "MEM" else []
    if source.format == "GTiff":
        options += pick(random, [[], ["PROFILE=GDALGeoTIFF"], ["TILED=YES"], ["INTERLEAVE=BAND"]])
        if source.gdal_type == "Byte" and nodata in (None, 0, 1) and chance(random, 0.4):
            options.append("NBITS=4")
    driver = gdal.GetDriverByName("MEM" if source.format == "MEM" else "GTiff")
    path = "" if source.format == "MEM" else f"{folder}/source.tif"
    return driver.Create(path, *size, count, gdal_type, options)


def add_band_of_another_type(random, source, dataset, folder):
    path = f"{folder}/other.tif"
    shape = (dataset.RasterYSize, dataset.RasterXSize)
    write_tiff(path, random_pixels(random, "Byte", shape, False))
    source.words.append("types differ")
    dataset.AddBand(gdal.GDT_Byte if source.gdal_type != "Byte" else gdal.GDT_UInt16)
    set_source(dataset.GetRasterBand(dataset.RasterCount), path)


def set_source(band, path):
    band.SetMetadataItem("source_0", (
        f'<SimpleSource><SourceFilename relativeToVRT="0">{path}</SourceFilename>'
        "<SourceBand>1</SourceBand></SimpleSource>"), "new_vrt_sources")


def add_masks(random, source, dataset, folder):
    """One for the dataset, or in formats that have them one for each band."""
    shape = (dataset.RasterYSize, dataset.RasterXSize)
    flags = pick(random, [gdal.GMF_PER_DATASET, 0]) if source.format != "GTiff" else \
        gdal.GMF_PER_DATASET
    bands = [dataset.GetRasterBand(i + 1) for i in range(dataset.RasterCount)]
    source.words.append("mask" if flags else "masks of bands")
    for number, band in enumerate(bands[:1] if flags else bands, 1):
        values = np.where(random.random(shape) < 0.3, 0, 255).astype("u1")
        if attempt(band.CreateMaskBand, flags) is None:
            return
        if source.format != "VRT":
            band.GetMaskBand().WriteArray(values)
            continue
        path = f"{folder}/mask{number}.tif"
        write_tiff(path, values)
        set_source(band.GetMaskBand(), path)


def make_raster(seed, folder):
    random = np.random.default_rng(seed)
    source = Source(seed, FORMATS[seed % len(FORMATS)], TYPES[seed // 2 % len(TYPES)])
    size = pick(random, SIZES)
    count = int(pick(random, [1, 1, 1, 2, 3, 4, 5, 8, *([60] if size[0] < 50 else [2])]))
    if seed % 50 == 13:
        size, count = (7, 5), 200
    source.words += [f"{size[0]} × {size[1]} × {count}"]
    nodata = random_nodata(random, source.gdal_type) if chance(random, 0.5) else None
    dataset = create(random, source, folder, size, count, nodata)
    has = {item for item in BAND_ITEMS if chance(random, 0.3)}
    source.words += sorted(has)
    if "palette" in has and source.gdal_type in ("Byte", "UInt16") and count == 1:
        dataset.GetRasterBand(1).SetColorTable(random_palette(random))
    if nodata is not None:
        source.words.append(f"nodata {nodata}")
    for number in range(1, count + 1):
        band = dataset.GetRasterBand(number)
        has_few = band.GetMetadataItem("NBITS", "IMAGE_STRUCTURE")
        write_pixels(random, band, source.gdal_type, nodata, has_few or chance(random, 0.4))
    if source.format == "VRT":
        del dataset
        source.path = f"{folder}/source.vrt"
        dataset = gdal.GetDriverByName("VRT").CreateCopy(
            source.path, gdal.Open(f"{folder}/source.tif"))
        if chance(random, 0.15):
            add_band_of_another_type(random, source, dataset, folder)
    set_all(random, source, dataset, folder, has, nodata)
    source.dataset = dataset
    if source.format == "MEM":
        return source
    source.path = source.path or f"{folder}/source.tif"
    source.dataset = dataset = None
    if "overviews" in has and min(size) > 30:
        attempt(gdal.Open(source.path).BuildOverviews, pick(random, ["NEAREST", "AVERAGE"]), [2, 4])
    return source


def set_all(random, source, dataset, folder, has, nodata):
    differ = chance(random, 0.4) and source.format != "GTiff"
    for number in range(1, dataset.RasterCount + 1):
        band = dataset.GetRasterBand(number)
        if differ and nodata is not None and chance(random, 0.5):
            attempt(band.SetNoDataValue, random_nodata(random, source.gdal_type))
        elif nodata is not None and not (differ and chance(random, 0.3)):
            attempt(band.SetNoDataValue, nodata)
        if "colours" in has:
            attempt(band.SetColorInterpretation, pick(random, COLOURS))
        set_band(random, source, band, has if not differ or chance(random, 0.7) else set())
    if differ:
        source.words.append("bands differ")
    set_position(random, source, dataset)
    set_dataset_metadata(random, source, dataset, folder)
    if "mask" in has:
        attempt(add_masks, random, source, dataset, folder)
