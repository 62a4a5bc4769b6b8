"""Copies keep what their sources state: items of metadata, types of bands, points, epochs, and the
order of arrays; and state nothing else."""
import json

import netCDF4
import numpy as np
import pytest
import xarray
from classic import open_raster
from osgeo import gdal
from stores import write_array, write_group
from test_copied_meaning import copy, crs_named, in_memory

CONVENTIONS = ["GDAL", "CF", "SPATIAL_PROJ"]
VERSIONS = ["ZARR_V2", "ZARR_V3"]
PLACE = (500000, 10, 0, 5000000, 0, -10)


def names_of_arrays(path):
    return gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER).GetRootGroup().GetMDArrayNames()


# --- hierarchies ---------------------------------------------------------------------------------

def test_variables_of_dimensions_are_listed_first(tmp_path):
    """The netCDF driver takes the first array along X that it is given for the coordinates of X."""
    with netCDF4.Dataset(tmp_path / "a.nc", "w") as source:
        for name in ("y", "x"):
            source.createDimension(name, 4)
            variable = source.createVariable(name, "f8", [name])
            variable.setncatts({"units": "m", "standard_name": f"projection_{name}_coordinate"})
            variable[:] = [10, 20, 30, 40]
        source.createVariable("a", "f8", ["x"])[:] = [1, 2, 3, 4]
        source.createVariable("b", "f8", ["y", "x"])[:] = 0
        source["b"].grid_mapping = "crs"
        source.createVariable("crs", "i4", [])[...] = 0
        source["crs"].setncatts({"grid_mapping_name": "transverse_mercator",
                                 "crs_wkt": crs_named(32633).ExportToWkt()})
    gdal.MultiDimTranslate(str(tmp_path / "a.zarr"), str(tmp_path / "a.nc"), format="Zarr")
    assert names_of_arrays(tmp_path / "a.zarr") == ["x", "y", "a", "b"]
    gdal.MultiDimTranslate(str(tmp_path / "b.nc"), str(tmp_path / "a.zarr"), format="netCDF")
    with netCDF4.Dataset(tmp_path / "b.nc") as copied:
        assert copied["a"].ncattrs() == []
        assert copied["x"].standard_name == "projection_x_coordinate"


def test_arrays_that_cannot_be_read_are_listed(tmp_path):
    write_group(tmp_path)
    for name in ("a", "bad", "x"):
        write_array(tmp_path / name, np.arange(3.0), names=["x"])
    (tmp_path / "bad/zarr.json").write_text("{")
    assert names_of_arrays(tmp_path) == ["x", "a", "bad"]


def structure_with_a_string():
    return gdal.ExtendedDataType.CreateCompound(
        "", 8, [gdal.EDTComponent.Create("a", 0, gdal.ExtendedDataType.CreateString())])


def with_one_array():
    dataset = gdal.GetDriverByName("MEM").CreateMultiDimensional("")
    root = dataset.GetRootGroup()
    root.CreateMDArray("a", [root.CreateDimension("x", "", "", 3)],
                       gdal.ExtendedDataType.Create(gdal.GDT_Byte)).Write(bytes([1, 2, 3]))
    return dataset, root


@pytest.mark.parametrize("owner", ["group", "array"])
def test_attributes_that_a_store_cannot_hold_are_a_warning(tmp_path, owner):
    """Unless the program is strict. Values are copied."""
    source, root = with_one_array()
    holder = root if owner == "group" else root.OpenMDArray("a")
    holder.CreateAttribute("lost", [], structure_with_a_string())
    holder.CreateAttribute("kept", [], gdal.ExtendedDataType.CreateString()).Write("text")
    messages = []
    gdal.PushErrorHandler(lambda kind, _, text: messages.append((kind, text)))
    copied = gdal.GetDriverByName("Zarr").CreateCopy(str(tmp_path / "a.zarr"), source, 0)
    gdal.PopErrorHandler()
    del copied
    assert [(kind, "lost" in text) for kind, text in messages] == [(gdal.CE_Warning, True)]
    opened = gdal.OpenEx(str(tmp_path / "a.zarr"), gdal.OF_MULTIDIM_RASTER)
    array = opened.GetRootGroup().OpenMDArray("a")
    assert bytes(array.Read()) == bytes([1, 2, 3])
    shown = opened.GetRootGroup() if owner == "group" else array
    assert [each.GetName() for each in shown.GetAttributes()] == ["kept"]

    with pytest.raises(RuntimeError, match="lost"):
        gdal.GetDriverByName("Zarr").CreateCopy(str(tmp_path / "b.zarr"), source, 1)
    assert not (tmp_path / "b.zarr").exists()


@pytest.mark.parametrize("is_strict", [0, 1])
def test_a_copy_without_one_of_the_arrays_fails(tmp_path, is_strict):
    """GDAL leaves an array out that could not be created."""
    source, root = with_one_array()
    root.CreateMDArray("lost", [], structure_with_a_string())
    with pytest.raises(RuntimeError, match="maximum length"):
        gdal.GetDriverByName("Zarr").CreateCopy(str(tmp_path / "a.zarr"), source, is_strict)
    assert not (tmp_path / "a.zarr").exists()


@pytest.mark.parametrize("is_strict", [0, 1])
@pytest.mark.parametrize("folder", ["", "group"])
def test_a_copy_without_an_array_that_cannot_be_opened_fails(tmp_path, folder, is_strict):
    source = tmp_path / "a.zarr"
    write_group(source / folder)
    write_group(source)
    write_array(source / folder / "good", np.arange(3.0), names=["x"])
    write_array(source / folder / "bad", np.arange(3.0), names=["x"])
    (source / folder / "bad/zarr.json").write_text("{")
    opened = gdal.OpenEx(str(source), gdal.OF_MULTIDIM_RASTER)
    with pytest.raises(RuntimeError, match="bad"):
        gdal.GetDriverByName("Zarr").CreateCopy(str(tmp_path / "b.zarr"), opened, is_strict)
    assert not (tmp_path / "b.zarr").exists()


@pytest.mark.parametrize("version", VERSIONS)
def test_structures_reach_netcdf(tmp_path, version):
    """Of which netCDF needs the name: one for each type."""
    types = {"v": np.dtype([("a", "<i2"), ("b", "<f8")]), "w": np.dtype([("a", "<i4")])}
    with netCDF4.Dataset(tmp_path / "a.nc", "w") as source:
        source.createDimension("n", 2)
        for name, dtype in types.items():
            kind = source.createCompoundType(dtype, f"of_{name}")
            source.createVariable(name, kind, ["n"])[:] = np.ones(2, dtype)
    gdal.MultiDimTranslate(str(tmp_path / "a.zarr"), str(tmp_path / "a.nc"), format="Zarr",
                           creationOptions=[f"FORMAT={version}"])
    gdal.MultiDimTranslate(str(tmp_path / "b.nc"), str(tmp_path / "a.zarr"), format="netCDF")
    with netCDF4.Dataset(tmp_path / "b.nc") as copied:
        for name, dtype in types.items():
            assert copied[name].dtype.names == dtype.names
            assert copied[name][:].tolist() == np.ones(2, dtype).tolist()


@pytest.mark.parametrize("version", VERSIONS)
def test_positions_of_groups_and_pyramids_are_copied(tmp_path, version):
    """What a group states (GeoZarr), and no object of GDAL shows."""
    write_group(tmp_path / "a.zarr")
    write_group(tmp_path / "a.zarr/g", {
        "spatial:dimensions": ["y", "x"], "spatial:transform": [10, 0, 4e5, 0, -10, 5e6],
        "proj:code": "EPSG:32633"})
    write_array(tmp_path / "a.zarr/g/a", np.ones((4, 5)), names=["y", "x"])
    gdal.MultiDimTranslate(str(tmp_path / "b.zarr"), str(tmp_path / "a.zarr"), format="Zarr",
                           creationOptions=[f"FORMAT={version}"])
    copied = gdal.Open(str(tmp_path / "b.zarr"))
    assert copied.GetGeoTransform() == (4e5, 10, 0, 5e6, 0, -10)
    assert copied.GetSpatialRef().GetAuthorityCode(None) == "32633"

    gdal.GetDriverByName("Zarr").Create(
        str(tmp_path / "c.zarr"), 64, 64, 3, gdal.GDT_Byte, [f"FORMAT={version}"])
    raster = gdal.Open(str(tmp_path / "c.zarr"), gdal.GA_Update)
    raster.BuildOverviews("nearest", [2, 4])
    raster.SetGCPs([gdal.GCP(1, 2, 0, 3, 4)], "")
    del raster
    gdal.MultiDimTranslate(str(tmp_path / "d.zarr"), str(tmp_path / "c.zarr"), format="Zarr",
                           creationOptions=[f"FORMAT={version}"])
    copied = gdal.Open(str(tmp_path / "d.zarr"))
    assert copied.RasterCount == 3
    assert copied.GetRasterBand(1).GetOverviewCount() == 2
    assert copied.GetGCPCount() == 1


# --- metadata ------------------------------------------------------------------------------------

@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("bands", [1, 2])
@pytest.mark.parametrize("name", [
    "COLOR_INTERPRETATION", "_CRS", "_ARRAY_DIMENSIONS", "long_name", "grid_mapping", "crs",
    "proj:code", "spatial:transform", "multiscales", "gdal:geotransform", "gdal:metadata"])
def test_items_are_not_properties(tmp_path, name, bands, version):
    source = in_memory(bands)
    source.SetMetadataItem(name, "EPSG:4326")
    raster = copy(source, tmp_path / "a.zarr", f"FORMAT={version}")
    assert raster.GetMetadata_List() == [f"{name}=EPSG:4326"]
    assert raster.GetSpatialRef() is None
    for number in range(1, bands + 1):
        band = raster.GetRasterBand(number)
        assert (band.GetDescription(), band.GetMetadata()) == ("", {})
        assert band.GetColorInterpretation() == gdal.GCI_Undefined
    raster = gdal.Open(str(tmp_path / "a.zarr"), gdal.GA_Update)
    raster.SetMetadataItem(name, None)
    del raster
    assert open_raster(tmp_path / "a.zarr").GetMetadata() == {}


def test_an_item_beside_the_name_of_the_band(tmp_path):
    source = in_memory()
    source.SetMetadataItem("long_name", "scene")
    source.GetRasterBand(1).SetDescription("red")
    raster = copy(source, tmp_path / "a.zarr")
    assert json.loads((tmp_path / "a.zarr/a/.zattrs").read_text())["long_name"] == "red"
    assert raster.GetRasterBand(1).GetDescription() == "red"
    assert raster.GetMetadata() == {"long_name": "scene"}


@pytest.mark.parametrize("options", [[], ["SINGLE_ARRAY=YES"], ["ARRAY_NAME=named"]], ids=str)
def test_bands_without_a_name_stay_without(tmp_path, options):
    source = in_memory(3)
    source.SetMetadataItem("long_name", "scene")
    source.GetRasterBand(2).SetScale(2)
    source.GetRasterBand(2).SetDescription("red")
    raster = copy(source, tmp_path / "a.zarr", *options)
    assert [raster.GetRasterBand(n).GetDescription() for n in (1, 2, 3)] == ["", "red", ""]
    assert raster.GetMetadata() == {"long_name": "scene"}


def test_the_sidecar_does_not_repeat_the_store(tmp_path):
    """Where items would be out of date when another program changes an attribute."""
    source = in_memory()
    items = {"title": "first", "spaces": "  two", "eo:cloud_cover": "5"}
    source.SetMetadata([f"{name}={value}" for name, value in items.items()])
    source.SetMetadata({"LINE_OFF": "1"}, "RPC")
    raster = copy(source, tmp_path / "a.zarr", "CREATE_CONSOLIDATED_METADATA=NO")
    assert sorted(raster.GetMetadata_List()) == sorted(source.GetMetadata_List())
    del raster
    attributes = tmp_path / "a.zarr/a/.zattrs"
    attributes.write_text(attributes.read_text().replace("first", "second"))
    raster = open_raster(tmp_path / "a.zarr")
    assert raster.GetMetadataItem("title") == "second"
    assert len(raster.GetMetadata_List()) == len(items)
    assert raster.GetMetadata("RPC") == {"LINE_OFF": "1"}


def test_items_belong_to_one_raster_of_a_store(tmp_path):
    source = in_memory()
    source.SetMetadataItem("units", "K")
    copy(source, tmp_path / "a.zarr", "ARRAY_NAME=first")
    copy(in_memory(), tmp_path / "a.zarr", "ARRAY_NAME=second", "APPEND_SUBDATASET=YES")
    items = [gdal.Open(f'ZARR:"{tmp_path}/a.zarr":/{name}').GetMetadata()
             for name in ("first", "second")]
    assert items == [{"units": "K"}, {}]


@pytest.mark.parametrize("item", ["spaces=  two before", "eo:cloud_cover=5", "a=b=c:d", "empty="])
def test_items_keep_their_spelling(tmp_path, item):
    source = in_memory()
    source.SetMetadata([item, "eo=other"])
    raster = copy(source, tmp_path / "a.zarr")
    assert sorted(raster.GetMetadata_List()) == sorted([item, "eo=other"])
    name, value = item.split("=", 1)
    assert xarray.open_zarr(tmp_path / "a.zarr")["a"].attrs[name] == value


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_no_items_are_made_up(tmp_path, convention):
    source = in_memory(2)
    source.GetRasterBand(1).SetScale(2)
    source.SetSpatialRef(crs_named(32633))
    source.SetGeoTransform(PLACE)
    for number, options in enumerate([["SINGLE_ARRAY=YES"], []]):
        raster = copy(source, tmp_path / f"{number}.zarr", *options,
                      f"GEOREFERENCING_CONVENTION={convention}")
        assert set(raster.GetMetadata()) <= {"AREA_OR_POINT"}
        assert [raster.GetRasterBand(n).GetMetadata() for n in (1, 2)] == [{}, {}]


# --- types ---------------------------------------------------------------------------------------

def of_different_types():
    source = in_memory(1, gdal.GDT_Byte)
    source.AddBand(gdal.GDT_Float64)
    source.AddBand(gdal.GDT_Int32)
    for number, value in enumerate((200, 0.1, 2**31 - 1), 1):
        source.GetRasterBand(number).WriteArray(np.full((3, 4), value, "f8"))
    source.GetRasterBand(3).SetNoDataValue(-1)
    return source


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("is_strict", [False, True])
def test_bands_keep_their_types(tmp_path, warnings, version, is_strict):
    path = str(tmp_path / "a.zarr")
    gdal.GetDriverByName("Zarr").CreateCopy(path, of_different_types(), is_strict,
                                            [f"FORMAT={version}"])
    raster = gdal.Open(path, gdal.GA_Update)
    bands = [raster.GetRasterBand(number) for number in (1, 2, 3)]
    assert [band.DataType for band in bands] == [gdal.GDT_Byte, gdal.GDT_Float64, gdal.GDT_Int32]
    assert [band.GetNoDataValue() for band in bands] == [None, None, -1]
    values = raster.ReadAsArray(buf_type=gdal.GDT_Float64)
    assert values[:, 1, 1].tolist() == [200, 0.1, 2**31 - 1]
    raster.BuildOverviews("NEAREST", [2])
    assert bands[1].GetOverview(0).ReadAsArray()[0, 0] == pytest.approx(0.1)
    assert raster.CreateMaskBand(gdal.GMF_PER_DATASET) == 0
    assert warnings == []


def test_bands_of_different_types_in_one_array(tmp_path, warnings):
    raster = copy(of_different_types(), tmp_path / "a.zarr", "SINGLE_ARRAY=YES")
    assert {raster.GetRasterBand(n).DataType for n in (1, 2, 3)} == {gdal.GDT_Float64}
    assert len(warnings) == 1 and "different data types" in warnings[0]
    with pytest.raises(RuntimeError, match="different data types"):
        gdal.GetDriverByName("Zarr").CreateCopy(str(tmp_path / "b.zarr"), of_different_types(),
                                                True, ["SINGLE_ARRAY=YES"])
    assert not (tmp_path / "b.zarr").exists()


def test_large_nodata_is_copied_without_a_warning(tmp_path, warnings):
    source = gdal.GetDriverByName("GTiff").Create(str(tmp_path / "a.tif"), 4, 3, 1,
                                                  gdal.GDT_UInt64)
    source.GetRasterBand(1).SetNoDataValue(2**64 - 2)
    source.FlushCache()
    raster = copy(source, tmp_path / "a.zarr")
    assert raster.GetRasterBand(1).GetNoDataValue() == 2**64 - 2
    assert warnings == []


# --- places --------------------------------------------------------------------------------------

@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("version", VERSIONS)
def test_a_coordinate_epoch_is_kept(tmp_path, warnings, convention, version):
    crs = crs_named(9000)
    crs.SetCoordinateEpoch(2021.3)
    source = in_memory()
    source.SetSpatialRef(crs)
    source.SetGeoTransform((10, 1, 0, 50, 0, -1))
    path = tmp_path / "a.zarr"
    raster = copy(source, path, f"FORMAT={version}", f"GEOREFERENCING_CONVENTION={convention}")
    assert raster.GetSpatialRef().GetCoordinateEpoch() == 2021.3
    assert raster.GetMetadata() in ({}, {"AREA_OR_POINT": "Area"})
    assert warnings == []
    raster = gdal.Open(str(path), gdal.GA_Update)
    raster.SetSpatialRef(crs_named(4326))
    del raster
    assert open_raster(path).GetSpatialRef().GetCoordinateEpoch() == 0


@pytest.mark.parametrize("bands", [1, 2])
def test_control_points_keep_digits_and_epoch(tmp_path, bands):
    crs = crs_named(9000)
    crs.SetCoordinateEpoch(2021.3)
    points = [gdal.GCP(7.123456789012345 + i, 50.58334085123456 + j, 0.1 + 0.2, i + 1 / 3, j)
              for i in (0, 3) for j in (0, 2)]
    source = in_memory(bands)
    source.SetGCPs(points, crs)
    raster = copy(source, tmp_path / "a.zarr", "SINGLE_ARRAY=" + ("YES" if bands == 1 else "NO"))
    if bands > 1:
        raster = gdal.Open(f'ZARR:"{tmp_path}/a.zarr":/Band2')
    assert [(p.GCPX, p.GCPY, p.GCPZ, p.GCPPixel, p.GCPLine) for p in raster.GetGCPs()] == [
        (p.GCPX, p.GCPY, p.GCPZ, p.GCPPixel, p.GCPLine) for p in points]
    assert raster.GetGCPSpatialRef().GetCoordinateEpoch() == 2021.3


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_control_points_have_the_only_crs(tmp_path, convention):
    """As in GeoTIFF, also if gdal_translate gives the raster another with -a_srs."""
    source = in_memory()
    source.SetGCPs([gdal.GCP(1, 2, 0, 0, 0), gdal.GCP(3, 2, 0, 4, 0), gdal.GCP(1, 0, 0, 0, 3)],
                   crs_named(32633))
    found = []
    for driver, options in (("GTiff", []), ("Zarr", [f"GEOREFERENCING_CONVENTION={convention}"])):
        path = str(tmp_path / f"a.{driver}")
        gdal.Translate(path, source, format=driver, outputSRS="EPSG:3035", creationOptions=options)
        raster = gdal.Open(path)
        found.append((raster.GetSpatialRef(), raster.GetGCPSpatialRef().GetName()))
    assert found[0] == found[1] and found[0][0] is None


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_heights_of_a_compound_crs_reach_geotiff(tmp_path, convention):
    source = in_memory()
    source.SetSpatialRef(crs_named(7415))
    source.SetGeoTransform((100_000, 10, 0, 500_000, 0, -10))
    copy(source, tmp_path / "a.zarr", f"GEOREFERENCING_CONVENTION={convention}")
    gdal.Translate(str(tmp_path / "a.tif"), str(tmp_path / "a.zarr"))
    crs = gdal.Open(str(tmp_path / "a.tif")).GetSpatialRef()
    assert crs.IsCompound() and crs.GetAuthorityCode("VERT_CS") == "5709"
