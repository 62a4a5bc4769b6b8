"""Writes stores, or tells what is in them, with GDAL's built-in Zarr driver or with ours: the
process that runs this decides by GDAL_DRIVER_PATH.

usage: builtin.py write FOLDER     stores with every option of the driver, and a list of them
       builtin.py describe FOLDER  what the driver sees in the stores of the list

Both print JSON. A case that fails is in it, with the driver's words.
"""
import hashlib
import json
import struct
import sys
from pathlib import Path

import numpy as np
from osgeo import gdal, osr

sys.path.insert(0, str(Path(__file__).parents[1] / "driver"))

from multidim import NUMBERS, extreme_values
from options import formats, is_number, option_list, with_needs

DRIVER = gdal.GetDriverByName("Zarr")
SHAPE = (2, 5, 7)
# For types without limits of their own, and for cases that need one type only.
ONE_TYPE = "Int16"
STRINGS = ["", "a", "Zürich", "a longer text than others", "x"]
RECORD = struct.Struct("<hxxi")  # with the layout of C
NUMERIC = {gdal.GetDataTypeName(number): (number, dtype) for number, dtype in NUMBERS.items()}
GEOTRANSFORM = (440720.0, 60.0, 0.0, 3751320.0, 0.0, -60.0)


def values_of(name):
    return extreme_values(NUMERIC[name][1], SHAPE)


def nodata_of(dtype):
    return 7 if dtype.kind in "ui" else -9999.0


def crs():
    reference = osr.SpatialReference()
    reference.ImportFromEPSG(26711)
    reference.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
    return reference


# Writing.

def string_type():
    return gdal.ExtendedDataType.CreateString()


def record_type():
    return gdal.ExtendedDataType.CreateCompound("", RECORD.size, [
        gdal.EDTComponent.Create("small", 0, gdal.ExtendedDataType.Create(gdal.GDT_Int16)),
        gdal.EDTComponent.Create("large", 4, gdal.ExtendedDataType.Create(gdal.GDT_Int32)),
    ])


def create_attributes(owner):
    def create(name, dimensions, kind, value):
        owner.CreateAttribute(name, dimensions, kind).Write(value)

    create("text", [], string_type(), "some words, grüezi")
    create("integer", [], gdal.ExtendedDataType.Create(gdal.GDT_Int32), -12)
    create("number", [], gdal.ExtendedDataType.Create(gdal.GDT_Float64), 1.5)
    create("list", [3], gdal.ExtendedDataType.Create(gdal.GDT_Float64), [0.25, 1e300, -3])


def create_dimensions(group):
    """An array of SHAPE with coordinates: pixel centres for y and x."""
    _, step, _, _, _, down = GEOTRANSFORM
    axes = {
        "time": ("TEMPORAL", 0.0, 1.0),
        "y": ("HORIZONTAL_Y", GEOTRANSFORM[3] + down / 2, down),
        "x": ("HORIZONTAL_X", GEOTRANSFORM[0] + step / 2, step),
    }
    dimensions = []
    for (name, (kind, start, step)), size in zip(axes.items(), SHAPE):
        dimension = group.CreateDimension(name, kind, None, size)
        coordinates = group.CreateMDArray(
            name, [dimension], gdal.ExtendedDataType.Create(gdal.GDT_Float64))
        coordinates.Write((start + step * np.arange(size)).tobytes())
        dimension.SetIndexingVariable(coordinates)
        dimensions.append(dimension)
    return dimensions


def create_numbers(group, dimensions, name, options):
    number, dtype = NUMERIC[name]
    array = group.CreateMDArray(name, dimensions, gdal.ExtendedDataType.Create(number), options)
    array.SetNoDataValueDouble(nodata_of(dtype))
    array.SetUnit("m")
    array.SetScale(0.5)
    array.SetOffset(10)
    array.SetSpatialRef(crs())
    create_attributes(array)
    array.Write(values_of(name).tobytes())


def of_one_dimension(options):
    return [option for option in options if not option.startswith(("BLOCKSIZE", "SHARD_"))]


def create_strings(group, options):
    dimension = group.CreateDimension("word", None, None, len(STRINGS))
    # GDAL 3.6 has no strings of unlimited length.
    limited = gdal.ExtendedDataType.CreateString(40)
    array = group.CreateMDArray("String", [dimension], limited,
                                of_one_dimension(options))
    array.Write(STRINGS)


def create_records(group, options):
    dimension = group.CreateDimension("record", None, None, 3)
    array = group.CreateMDArray("Compound", [dimension], record_type(),
                                of_one_dimension(options))
    records = b"".join(RECORD.pack(*pair) for pair in [(1, 2), (-32768, 2**31 - 1), (0, -1)])
    array.Write(records, buffer_datatype=record_type())


def array_cases():
    """A name, options, and whether to write every type."""
    yield "default", [], True
    for name, values in option_list(DRIVER, "array").items():
        for value in values:
            yield f"{name}={value}", with_needs("array", name, value), \
                not is_number(DRIVER, "array", name)


class Report:
    def __init__(self):
        self.stores = []
        # By path, what could not be written: the case, and the driver's message.
        self.failures = {}

    def attempt(self, path, case, function, *arguments):
        try:
            return function(*arguments)
        except Exception as error:  # raised by Python's bindings if there is no result
            self.failures[path] = f"{case}: {error or type(error).__name__}"
            return None


def write_multidimensional(folder, report):
    """A store for each format, with a group for each case and an array for each type."""
    for form in formats(DRIVER):
        store = f"multidim_{form}.zarr"
        report.stores.append(store)
        dataset = DRIVER.CreateMultiDimensional(str(folder / store), [], [f"FORMAT={form}"])
        root = dataset.GetRootGroup()
        create_attributes(root)
        for number, (case, options, every_type) in enumerate(array_cases()):
            name = f"case{number}"
            group = root.CreateGroup(name)
            group.CreateAttribute("case", [], string_type()).Write(case)
            dimensions = create_dimensions(group)
            for type_name in NUMERIC if every_type else [ONE_TYPE]:
                report.attempt(f"{store}/{name}/{type_name}", case, create_numbers, group,
                               dimensions, type_name, options)
            if every_type:
                for type_name, create in (("String", create_strings), ("Compound", create_records)):
                    report.attempt(f"{store}/{name}/{type_name}", case, create, group, options)
            del dimensions, group
        del root
        dataset = None


def write_dataset_options(folder, report):
    for name, values in option_list(DRIVER, "dataset").items():
        for value in values:
            store = f"dataset_{name}_{value}.zarr"
            report.stores.append(store)
            dataset = DRIVER.CreateMultiDimensional(str(folder / store), [], [f"{name}={value}"])
            root = dataset.GetRootGroup()
            create_numbers(root, create_dimensions(root), ONE_TYPE, [])
            del root
            dataset = None


def write_raster(path, type_name, bands, options):
    number, dtype = NUMERIC[type_name]
    dataset = DRIVER.Create(str(path), SHAPE[2], SHAPE[1], bands, number, options)
    dataset.SetGeoTransform(GEOTRANSFORM)
    dataset.SetSpatialRef(crs())
    dataset.SetMetadataItem("text", "some words, grüezi")
    if bands == 1:  # the built-in driver cannot set one on the bands of one array
        dataset.GetRasterBand(1).SetNoDataValue(nodata_of(dtype))
    for index in range(bands):
        dataset.GetRasterBand(index + 1).WriteArray(values_of(type_name)[index])
    dataset.FlushCache()


def copy_raster(path, options):
    source = gdal.GetDriverByName("MEM").Create("", SHAPE[2], SHAPE[1], 1, gdal.GDT_Int16)
    source.SetGeoTransform(GEOTRANSFORM)
    source.SetSpatialRef(crs())
    band = source.GetRasterBand(1)
    band.WriteArray(values_of(ONE_TYPE)[0])
    band.SetNoDataValue(7)
    band.SetScale(0.5)
    band.SetOffset(10)
    band.SetUnitType("m")
    DRIVER.CreateCopy(str(path), source, options=options)


def write_rasters(folder, report):
    def attempt(store, function, *arguments):
        report.stores.append(store)
        report.attempt(store, " ".join(arguments[-1]), function, folder / store, *arguments)

    for form in formats(DRIVER):
        for type_name in NUMERIC:
            attempt(f"raster_{form}_{type_name}.zarr", write_raster, type_name, 1,
                    [f"FORMAT={form}"])
        attempt(f"raster_{form}_bands.zarr", write_raster, ONE_TYPE, 2, [f"FORMAT={form}"])
        for name, values in option_list(DRIVER, "raster").items():
            for value in values:
                options = with_needs("raster", name, value)
                if name != "FORMAT":
                    options.append(f"FORMAT={form}")
                sign = value.replace("/", "slash").replace(",", "x")
                attempt(f"raster_{form}_{name}_{sign}.zarr", write_raster, ONE_TYPE, 1, options)
        attempt(f"copy_{form}.zarr", copy_raster, [f"FORMAT={form}"])


def write(folder):
    report = Report()
    write_multidimensional(folder, report)
    write_dataset_options(folder, report)
    write_rasters(folder, report)
    (folder / "stores.json").write_text(json.dumps(report.stores))
    return {"failures": report.failures, "truth": truth()}


def truth():
    """The values by type: of an array, and of the bands of a raster."""
    return {name: [digest(values_of(name)), *map(digest, values_of(name))] for name in NUMERIC}


# Describing: what two drivers that see the same thing say in the same words.

def plain(value):
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


def crs_text(reference):
    return None if reference is None else reference.ExportToWkt(["FORMAT=WKT2"])


def digest(values):
    """Of the bits, so that NaN equals NaN."""
    values = np.ascontiguousarray(values)
    return [str(values.dtype), list(values.shape), hashlib.sha1(values.tobytes()).hexdigest()]


def describe_values(array):
    kind = array.GetDataType()
    if kind.GetClass() == gdal.GEDTC_STRING:
        return plain(array.Read())
    if kind.GetClass() == gdal.GEDTC_COMPOUND:
        return {component.GetName(): digest(array[component.GetName()].ReadAsArray())
                for component in kind.GetComponents()}
    return digest(array.ReadAsArray())


def describe_attributes(owner):
    return {attribute.GetName(): plain(attribute.Read()) for attribute in owner.GetAttributes()}


def describe_array(array):
    kind = array.GetDataType()
    is_number = kind.GetClass() == gdal.GEDTC_NUMERIC
    dimensions = array.GetDimensions() or []
    seen = {
        "type": gdal.GetDataTypeName(kind.GetNumericDataType()) if is_number else kind.GetClass(),
        "dimensions": [[d.GetName(), d.GetSize(), d.GetIndexingVariable() is not None]
                       for d in dimensions],
        "values": describe_values(array),
        "attributes": describe_attributes(array),
        "unit": array.GetUnit(), "scale": array.GetScale(), "offset": array.GetOffset(),
        "crs": crs_text(array.GetSpatialRef()),
        "block": array.GetBlockSize(),
    }
    if is_number:
        seen["nodata"] = repr(array.GetNoDataValueAsDouble())
    if is_number and len(dimensions) == 3:
        raster = array.AsClassicDataset(2, 1)
        seen["geotransform"] = raster.GetGeoTransform()
    return seen


def describe_group(group, path, seen, problems):
    seen[path] = {"attributes": describe_attributes(group)}
    for name in group.GetMDArrayNames() or []:
        try:
            seen[f"{path}/{name}"] = describe_array(group.OpenMDArray(name))
        except Exception as error:
            problems[f"{path}/{name}"] = str(error)
    for name in group.GetGroupNames() or []:
        describe_group(group.OpenGroup(name), f"{path}/{name}", seen, problems)


def describe_band(band):
    return {
        "type": gdal.GetDataTypeName(band.DataType), "values": digest(band.ReadAsArray()),
        "nodata": repr(band.GetNoDataValue()), "block": band.GetBlockSize(),
        "scale": band.GetScale(), "offset": band.GetOffset(), "unit": band.GetUnitType(),
    }


def describe_raster(name, path, seen):
    dataset = gdal.Open(name)
    metadata = dataset.GetMetadata()
    crs = dataset.GetSpatialRef()
    seen[path] = {
        "size": [dataset.RasterXSize, dataset.RasterYSize, dataset.RasterCount],
        "geotransform": dataset.GetGeoTransform(can_return_null=True),
        "crs": crs_text(crs), "axes": crs and crs.GetDataAxisToSRSAxisMapping(),
        "attributes": {key: metadata[key] for key in sorted(metadata)},
    }
    for index in range(dataset.RasterCount):
        seen[f"{path} band {index + 1}"] = describe_band(dataset.GetRasterBand(index + 1))
    for subdataset, _ in dataset.GetSubDatasets():
        describe_raster(subdataset, f"{path} at {subdataset.rsplit(':', 1)[1]}", seen)


def describe(folder):
    """All nodes by path, and those that could not be read."""
    seen, problems = {}, {}
    for store in json.loads((folder / "stores.json").read_text()):
        try:
            if store.startswith(("raster_", "copy_")):
                describe_raster(str(folder / store), f"raster {store}", seen)
            dataset = gdal.OpenEx(str(folder / store), gdal.OF_MULTIDIM_RASTER)
            describe_group(dataset.GetRootGroup(), store, seen, problems)
        except Exception as error:
            problems[store] = str(error)
    return {"seen": seen, "problems": problems}


if __name__ == "__main__":
    gdal.UseExceptions()
    osr.UseExceptions()
    gdal.PushErrorHandler("CPLQuietErrorHandler")
    action, target = {"write": write, "describe": describe}[sys.argv[1]], Path(sys.argv[2])
    json.dump(action(target), sys.stdout)
