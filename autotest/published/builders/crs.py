"""Where stores state a CRS, and how."""
import numpy as np

from .matrix import builder
from .store import (
    COLUMNS,
    EASTINGS,
    GEOTRANSFORM,
    LATITUDE,
    LONGITUDE,
    NORTHINGS,
    ROWS,
    TRANSFORM,
    ZONE,
    X,
    Y,
    crs_named,
    wkt,
)

# A CRS that little names


@builder(of="dynamical.org")
def dynamical_org(store):
    store.group()
    store.scalar("spatial_ref", {"crs_wkt": wkt(ZONE), "spatial_ref": wkt(ZONE),
                                 "grid_mapping_name": "transverse_mercator"})
    return store.utm({"coordinates": "spatial_ref", "units": "degree_Celsius"})


@builder(of="xarray")
def grid_mapping_lost_by_xarray(store):
    store.group()
    store.scalar("spatial_ref", {"crs_wkt": wkt(ZONE), "GeoTransform": GEOTRANSFORM})
    return store.utm()


@builder(of="rioxarray")
def geotransform_as_a_list(store):
    store.group()
    store.scalar("crs", {"crs_wkt": wkt(ZONE), "GeoTransform": [
        float(number) for number in GEOTRANSFORM.split()]})
    return store.utm({"grid_mapping": "crs"}, with_axes=False)


@builder(of="xarray")
def names_as_lists(store):
    store.group()
    store.scalar("crs", {"crs_wkt": wkt(ZONE)})
    return store.utm({"grid_mapping": ["crs"], "coordinates": ["time", "height"]})


@builder(of="CF")
def extended_grid_mapping(store):
    store.group()
    for name, standard in (("lat", LATITUDE), ("lon", LONGITUDE)):
        store.array(name, np.zeros((ROWS, COLUMNS)), ["y", "x"], standard)
    store.scalar("sphere", {"grid_mapping_name": "latitude_longitude", "earth_radius": 6371229.0})
    store.scalar("zone", {"crs_wkt": wkt(ZONE)})
    return store.utm({"grid_mapping": "sphere: lat lon zone: x y"})


@builder(of="rioxarray")
def grid_mapping_of_the_group(store):
    store.group(grid_mapping="crs")
    store.scalar("crs", {"crs_wkt": wkt(ZONE)})
    return store.utm()


@builder(of="CF")
def grid_mapping_at_the_root(store):
    store.group()
    store.group("a")
    store.scalar("crs", {"crs_wkt": wkt(ZONE)})
    return store.utm({"grid_mapping": "/crs"}, group="a/")


@builder(of="CF")
def grid_mapping_in_a_group_above(store):
    for name in ("", "a", "a/b"):
        store.group(name)
    store.scalar("a/crs", {"crs_wkt": wkt(ZONE)})
    return store.utm({"grid_mapping": "../crs"}, group="a/b/")


@builder(of="xarray")
def data_tree(store):
    """Coordinates and grid mapping that a group inherits from its parent."""
    store.group()
    store.group("child")
    store.scalar("spatial_ref", {"crs_wkt": wkt(ZONE)})
    store.axes(EASTINGS, NORTHINGS, X, Y)
    return store.utm({"grid_mapping": "spatial_ref"}, group="child/", with_axes=False)


# Texts of CRSs


def builds_text(name, of, attributes):
    @builder(of, name)
    def build(store):
        store.group()
        store.scalar("crs", attributes())
        return store.utm({"grid_mapping": "crs"})


builds_text("code_as_spatial_epsg", "ITS_LIVE", lambda: {"spatial_epsg": 32632})
builds_text("code_as_srid", "NSIDC", lambda: {"srid": "urn:ogc:def:crs:EPSG::32632"})
builds_text("code_as_text_in_spatial_ref", "rioxarray", lambda: {"spatial_ref": "32632"})
builds_text("proj4_string", "OSI SAF", lambda: {
    "proj4_string": "+proj=utm +zone=32 +datum=WGS84 +units=m"})
builds_text("wkt_by_another_name", "rioxarray", lambda: {"wkt": wkt(ZONE)})

UTM_PARAMETERS = {
    "grid_mapping_name": "transverse_mercator", "semi_major_axis": "6378137.0",
    "inverse_flattening": "298.257223563", "latitude_of_projection_origin": "0.0",
    "longitude_of_central_meridian": "9.0", "scale_factor_at_central_meridian": "0.9996",
    "false_easting": "500000", "false_northing": "0.0"}
builds_text("numbers_as_text", "PALM", lambda: UTM_PARAMETERS)
builds_text("code_as_spatial_ref", "rioxarray", lambda: {"spatial_ref": ZONE})
builds_text("code_as_crs_wkt", "rioxarray", lambda: {"crs_wkt": ZONE})
builds_text("projjson_as_crs_wkt", "rioxarray",
            lambda: {"crs_wkt": crs_named(ZONE).ExportToPROJJSON()})
builds_text("proj_string", "rioxarray",
            lambda: {"spatial_ref": "+proj=utm +zone=32 +datum=WGS84 +units=m"})
builds_text("epsg_code", "PALM", lambda: {"epsg_code": ZONE})
builds_text("number_as_epsg_code", "ADAGUC", lambda: {"epsg_code": 32632})
builds_text("proj4", "TOPAZ",
            lambda: {"proj4": "+proj=utm +zone=32 +datum=WGS84 +units=m +no_defs"})
builds_text("esri_pe_string", "ArcGIS", lambda: {
    "esri_pe_string": crs_named(ZONE).ExportToWkt(["FORMAT=WKT1_ESRI"])})


# Attributes


@builder(of="open_rasterio")
def open_rasterio(store):
    store.group()
    return store.utm({"crs": "+init=epsg:32632", "transform": TRANSFORM})


@builder(of="stackstac")
def stackstac(store):
    store.group()
    return store.utm({"crs": "epsg:32632"})


@builder(of="odc-geo")
def crs_of_the_dataset(store):
    store.group(crs=ZONE)
    return store.utm()


@builder(of="odc-geo")
def data_cube(store):
    """The CRS as an attribute of everything, and as a variable."""
    store.group(crs=ZONE, grid_mapping="spatial_ref")
    store.scalar("spatial_ref", {"spatial_ref": wkt(ZONE), "GeoTransform": GEOTRANSFORM,
                                 "grid_mapping_name": "transverse_mercator"})
    store.axes(EASTINGS, NORTHINGS, *(
        {"units": "metre", "resolution": step, "crs": ZONE} for step in (1000.0, -1000.0)))
    return store.utm({"crs": ZONE, "grid_mapping": "spatial_ref"}, with_axes=False)


@builder(of="GDAL")
def crs_with_transform_of_an_old_example(store):
    store.group()
    return store.utm({"_CRS": wkt(ZONE), "_TRANSFORM": TRANSFORM}, with_axes=False)


@builder(of="STAC")
def stac_transform(store):
    store.group(**{"proj:code": ZONE, "proj:transform": TRANSFORM, "proj:shape": [ROWS, COLUMNS]})
    return store.utm(with_axes=False)


@builder(of="GeoZarr drafts")
def geo_proj_draft(store):
    store.group()
    return store.utm({"geo": {"proj": {"code": ZONE, "transform": TRANSFORM}}}, with_axes=False)
