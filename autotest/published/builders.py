"""Small stores with the metadata of published archives and of the conventions that they follow. The
shapes of attributes are those of the archives; their values are our own.

A builder writes a store and returns where the cells of its array lie: `Placed`, or `Nowhere`. The
truth comes from the coordinates and from PROJ, never from the driver.
"""
from dataclasses import dataclass, field

import numpy as np
from osgeo import osr
from stores import write_array, write_group

ROWS, COLUMNS = 6, 8
ROW, COLUMN = np.mgrid[0:ROWS, 0:COLUMNS]
VALUES = np.arange(ROWS * COLUMNS, dtype="f4").reshape(ROWS, COLUMNS)
# Of a tilted swath.
LONGITUDES, LATITUDES = 10 + 2.0 * COLUMN + 0.3 * ROW, 40 + 1.5 * ROW - 0.1 * COLUMN
LONGITUDE = {"standard_name": "longitude", "units": "degrees_east"}
LATITUDE = {"standard_name": "latitude", "units": "degrees_north"}
X = {"standard_name": "projection_x_coordinate", "units": "m"}
Y = {"standard_name": "projection_y_coordinate", "units": "m"}
TIME = {"standard_name": "time", "units": "seconds since 1970-01-01"}
ZONE = "EPSG:32632"
EASTINGS, NORTHINGS = 5e5 + 1000.0 * np.arange(COLUMNS), 5e6 - 1000.0 * np.arange(ROWS)
TRANSFORM = [1000.0, 0.0, 499500.0, 0.0, -1000.0, 5000500.0]  # of these, as an affine matrix
GEOTRANSFORM = "499500 1000 0 5000500 0 -1000"  # in GDAL's order


def crs_named(text):
    crs = osr.SpatialReference()
    crs.SetFromUserInput(text)
    crs.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
    return crs


def wkt(text):
    return crs_named(text).ExportToWkt()


def lonlat(text, x, y):
    """Longitudes and latitudes of positions in the CRS."""
    transformation = osr.CoordinateTransformation(crs_named(text), crs_named("OGC:CRS84"))
    points = transformation.TransformPoints(np.stack([np.ravel(x), np.ravel(y)], 1).tolist())
    shape = np.shape(x)
    return [np.array([p[i] for p in points]).reshape(shape) for i in (0, 1)]


@dataclass
class Placed:
    array: str
    longitudes: np.ndarray  # of the centre of each cell
    latitudes: np.ndarray
    has_crs: bool = True
    has_geotransform: bool = True
    warnings: list = field(default_factory=list)  # regular expressions


@dataclass
class Nowhere:
    array: str
    has_crs: bool = False
    warnings: list = field(default_factory=list)


@dataclass
class Store:
    path: object

    def group(self, name="", **attributes):
        write_group(self.path / name, attributes)

    def array(self, name, data, dims, attributes=None, **options):
        write_array(self.path / name, np.asarray(data), names=dims, attributes=attributes or {},
                    **options)

    def scalar(self, name, attributes):
        self.array(name, np.int32(0), (), attributes)

    def axes(self, x, y, x_attributes=None, y_attributes=None, names=("x", "y"), group=""):
        for name, values, attributes in ((names[0], x, x_attributes), (names[1], y, y_attributes)):
            self.array(group + name, np.asarray(values, "f8"), [name], attributes)

    def utm(self, attributes=None, name="v", group="", with_axes=True):
        """A raster in UTM zone 32, and where its cells are."""
        if with_axes:
            self.axes(EASTINGS, NORTHINGS, X, Y, group=group)
        self.array(group + name, VALUES, ["y", "x"], attributes)
        return Placed(f"/{group}{name}", *lonlat(ZONE, *np.meshgrid(EASTINGS, NORTHINGS)))


BUILDERS = {}


def builder(function):
    BUILDERS[function.__name__] = function
    return function


# A CRS that little names


@builder
def dynamical_org(store):
    store.group()
    store.scalar("spatial_ref", {"crs_wkt": wkt(ZONE), "spatial_ref": wkt(ZONE),
                                 "grid_mapping_name": "transverse_mercator"})
    return store.utm({"coordinates": "spatial_ref", "units": "degree_Celsius"})


@builder
def grid_mapping_lost_by_xarray(store):
    store.group()
    store.scalar("spatial_ref", {"crs_wkt": wkt(ZONE), "GeoTransform": GEOTRANSFORM})
    return store.utm()


@builder
def extended_grid_mapping(store):
    store.group()
    for name, standard in (("lat", LATITUDE), ("lon", LONGITUDE)):
        store.array(name, np.zeros((ROWS, COLUMNS)), ["y", "x"], standard)
    store.scalar("sphere", {"grid_mapping_name": "latitude_longitude", "earth_radius": 6371229.0})
    store.scalar("zone", {"crs_wkt": wkt(ZONE)})
    return store.utm({"grid_mapping": "sphere: lat lon zone: x y"})


@builder
def grid_mapping_of_the_group(store):
    store.group(grid_mapping="crs")
    store.scalar("crs", {"crs_wkt": wkt(ZONE)})
    return store.utm()


@builder
def grid_mapping_at_the_root(store):
    store.group()
    store.group("a")
    store.scalar("crs", {"crs_wkt": wkt(ZONE)})
    return store.utm({"grid_mapping": "/crs"}, group="a/")


@builder
def grid_mapping_in_a_group_above(store):
    for name in ("", "a", "a/b"):
        store.group(name)
    store.scalar("a/crs", {"crs_wkt": wkt(ZONE)})
    return store.utm({"grid_mapping": "../crs"}, group="a/b/")


# Texts of CRSs


def builds_text(name, attributes):
    def build(store):
        store.group()
        store.scalar("crs", attributes())
        return store.utm({"grid_mapping": "crs"})
    build.__name__ = name
    builder(build)


UTM_PARAMETERS = {
    "grid_mapping_name": "transverse_mercator", "semi_major_axis": "6378137.0",
    "inverse_flattening": "298.257223563", "latitude_of_projection_origin": "0.0",
    "longitude_of_central_meridian": "9.0", "scale_factor_at_central_meridian": "0.9996",
    "false_easting": "500000", "false_northing": "0.0"}
builds_text("numbers_as_text", lambda: UTM_PARAMETERS)
builds_text("code_as_spatial_ref", lambda: {"spatial_ref": ZONE})
builds_text("code_as_crs_wkt", lambda: {"crs_wkt": ZONE})
builds_text("projjson_as_crs_wkt", lambda: {"crs_wkt": crs_named(ZONE).ExportToPROJJSON()})
builds_text("proj_string", lambda: {"spatial_ref": "+proj=utm +zone=32 +datum=WGS84 +units=m"})
builds_text("epsg_code", lambda: {"epsg_code": ZONE})
builds_text("number_as_epsg_code", lambda: {"epsg_code": 32632})
builds_text("proj4", lambda: {"proj4": "+proj=utm +zone=32 +datum=WGS84 +units=m +no_defs"})
builds_text("esri_pe_string", lambda: {
    "esri_pe_string": crs_named(ZONE).ExportToWkt(["FORMAT=WKT1_ESRI"])})


@builder
def open_rasterio(store):
    store.group()
    return store.utm({"crs": "+init=epsg:32632", "transform": TRANSFORM})


@builder
def stackstac(store):
    store.group()
    return store.utm({"crs": "epsg:32632"})


@builder
def crs_of_the_dataset(store):
    store.group(crs=ZONE)
    return store.utm()


@builder
def crs_with_transform_of_an_old_example(store):
    store.group()
    return store.utm({"_CRS": wkt(ZONE), "_TRANSFORM": TRANSFORM}, with_axes=False)


@builder
def stac_transform(store):
    store.group(**{"proj:code": ZONE, "proj:transform": TRANSFORM, "proj:shape": [ROWS, COLUMNS]})
    return store.utm(with_axes=False)


@builder
def geo_proj_draft(store):
    store.group()
    return store.utm({"geo": {"proj": {"code": ZONE, "transform": TRANSFORM}}}, with_axes=False)


@builder
def ndpyramid(store):
    store.group(multiscales=[{"datasets": [{"path": "0", "crs": ZONE, "level": 0}]}])
    store.group("0")
    return store.utm(group="0/")


# Units of coordinates beside a CRS in metres


def builds_kilometres(name, attributes, variable):
    def build(store):
        store.group()
        if variable:
            store.scalar("crs", variable())
        store.axes(EASTINGS / 1000, NORTHINGS / 1000, X | {"units": "km"}, Y | {"units": "km"})
        return store.utm(attributes(), with_axes=False)
    build.__name__ = name
    builder(build)


builds_kilometres("kilometres_beside_wkt", lambda: {"grid_mapping": "crs"},
                  lambda: {"crs_wkt": wkt(ZONE)})
builds_kilometres("kilometres_beside_gdals_attribute", lambda: {"_CRS": {"wkt": wkt(ZONE)}}, None)
builds_kilometres("kilometres_beside_a_code", lambda: {"proj:code": ZONE}, None)

GEOSTATIONARY = {
    "grid_mapping_name": "geostationary", "perspective_point_height": 35786023.0,
    "semi_major_axis": 6378137.0, "semi_minor_axis": 6356752.31414,
    "longitude_of_projection_origin": -75.0, "latitude_of_projection_origin": 0.0,
    "sweep_angle_axis": "x"}
SATELLITE = "+proj=geos +sweep=x +lon_0=-75 +h=35786023 +ellps=GRS80 +units=m"
ANGLES = -0.02 + 0.003 * np.arange(COLUMNS), 0.08 - 0.003 * np.arange(ROWS)


def builds_angles(name, mapping, unit="rad", size=1.0, with_axes=True):
    def build(store):
        store.group()
        store.scalar("goes", mapping())
        x, y = (angles / size for angles in ANGLES)
        units = {"units": unit} if unit else {}
        if with_axes:
            store.axes(x, y, X | units, Y | units)
        store.array("v", VALUES, ["y", "x"], {"grid_mapping": "goes"})
        metres = [35786023.0 * angles for angles in ANGLES]
        return Placed("/v", *lonlat(SATELLITE, *np.meshgrid(*metres)))
    build.__name__ = name
    builder(build)


builds_angles("goes_by_parameters", lambda: GEOSTATIONARY)
builds_angles("goes_beside_wkt", lambda: GEOSTATIONARY | {"crs_wkt": wkt(SATELLITE)})
builds_angles("goes_in_microradians", lambda: GEOSTATIONARY, "microradian", 1e-6)
builds_angles("himawari_in_metres", lambda: GEOSTATIONARY, "m", 1 / 35786023.0)
builds_angles("goes_with_a_geotransform", lambda: GEOSTATIONARY | {
    "GeoTransform": "-0.0215 0.003 0 0.0815 0 -0.003"}, with_axes=False)

ROTATED = {
    "grid_mapping_name": "rotated_latitude_longitude", "grid_north_pole_latitude": 39.25,
    "grid_north_pole_longitude": -162.0, "north_pole_grid_longitude": 0.0,
    "semi_major_axis": 6378137.0, "inverse_flattening": 298.257223563}


def builds_rotated(name, more):
    def build(store):
        x, y = -5 + 0.5 * np.arange(COLUMNS), 5 - 0.5 * np.arange(ROWS)
        store.group()
        store.scalar("pole", ROTATED | more())
        store.axes(x, y, {"standard_name": "grid_longitude", "units": "degrees"},
                   {"standard_name": "grid_latitude", "units": "degrees"}, names=("rlon", "rlat"))
        store.array("v", VALUES, ["rlat", "rlon"], {"grid_mapping": "pole"})
        pole = "+proj=ob_tran +o_proj=longlat +o_lat_p=39.25 +o_lon_p=0 +lon_0=18 +datum=WGS84"
        return Placed("/v", *lonlat(pole, *np.meshgrid(x, y)))
    build.__name__ = name
    builder(build)


builds_rotated("cordex", dict)
builds_rotated("cordex_beside_wkt_of_another_kind", lambda: {"crs_wkt": wkt(ZONE)})


# Positions in two dimensions


def swath(store, dims, names=("longitude", "latitude"), group="", **options):
    for name, values, attributes in ((names[0], LONGITUDES, LONGITUDE),
                                     (names[1], LATITUDES, LATITUDE)):
        store.array(group + name, values, dims, attributes, **options)


def in_swath(array="/v", **options):
    return Placed(array, LONGITUDES, LATITUDES, has_crs=False, has_geotransform=False, **options)


@builder
def sentinel_3_olci(store):
    store.group()
    for name, values, attributes in (("longitude", LONGITUDES, LONGITUDE),
                                     ("latitude", LATITUDES, LATITUDE)):
        store.array(name, np.round(values * 1e6).astype("i4"), ["rows", "columns"],
                    attributes | {"scale_factor": 1e-6, "add_offset": 0.0,
                                  "_FillValue": -2147483648})
    store.array("v", VALUES, ["rows", "columns"],
                {"coordinates": "time_stamp latitude longitude"})
    return in_swath()


@builder
def sentinel_3_slstr(store):
    store.group()
    swath(store, ["rows", "columns"])
    for name, values, attributes in (("x", COLUMN, X), ("y", ROW, Y)):
        store.array(name, 1000.0 * values, ["rows", "columns"], attributes)
    store.array("v", VALUES, ["rows", "columns"], {"coordinates": "latitude longitude x y"})
    return in_swath()


def builds_counted(name, dims, attributes):
    def build(store):
        store.group()
        for dim, size in zip(dims, (ROWS, COLUMNS), strict=True):
            store.array(dim, np.arange(size, dtype="i4"), [dim], attributes)
        swath(store, dims)
        store.array("v", VALUES, dims, {"coordinates": "latitude longitude"})
        return in_swath()
    build.__name__ = name
    builder(build)


builds_counted("cmip6_ocean", ("j", "i"), {"units": "1", "long_name": "cell index"})
builds_counted("xmip", ("y", "x"), {})
builds_counted("rows_and_cells", ("row", "cell"), {"long_name": "number"})


@builder
def wrf(store):
    dims = ["Time", "south_north", "west_east"]
    store.group()
    for name, values, unit in (("XLONG", LONGITUDES, "degree_east"),
                               ("XLAT", LATITUDES, "degree_north")):
        store.array(name, np.stack([values, values]).astype("f4"), dims, {"units": unit})
    store.array("v", np.stack([VALUES, VALUES]), dims, {"coordinates": "XLONG XLAT XTIME"})
    return in_swath()


@builder
def moving_swath(store):
    dims = ["time", "scanline", "ground_pixel"]
    store.group()
    for name, values, attributes in (("longitude", LONGITUDES, LONGITUDE),
                                     ("latitude", LATITUDES, LATITUDE)):
        store.array(name, np.stack([values, values + 1]), dims, attributes)
    store.array("v", np.stack([VALUES, VALUES]), dims, {"coordinates": "longitude latitude"})
    return Nowhere("/v", warnings=["differ from one band to the next"])


@builder
def slice_of_a_moving_swath(store):
    place = moving_swath(store)
    return in_swath(place.array + ":0")


@builder
def coordinates_of_another_group(store):
    for name in ("", "data", "navigation_data"):
        store.group(name)
    names = ["number_of_lines", "pixels_per_line"]
    swath(store, names, group="navigation_data/")
    store.array("data/v", VALUES, names, {
        "coordinates": "/navigation_data/longitude /navigation_data/latitude"})
    return in_swath("/data/v")


@builder
def coordinates_of_the_parent_group(store):
    for name in ("", "data"):
        store.group(name)
    swath(store, ["row", "column"])
    store.array("data/v", VALUES, ["row", "column"], {"coordinates": "longitude latitude"})
    return in_swath("/data/v")


# Positions in one dimension


def longitude_latitude(x, y, **options):
    return Placed("/v", *np.meshgrid(x, y), has_crs=False, **options)


@builder
def gaussian_latitudes(store):
    x, y = 10 + 2.5 * np.arange(COLUMNS), np.array([60, 57, 53, 48, 42, 35.0])
    store.group()
    store.axes(x, y, LONGITUDE, LATITUDE, names=("lon", "lat"))
    store.array("v", VALUES, ["lat", "lon"])
    return longitude_latitude(x, y, has_geotransform=False)


@builder
def coordinates_with_other_names(store):
    x, y = 10 + 0.5 * np.arange(COLUMNS), 50 - 0.5 * np.arange(ROWS)
    store.group()
    store.array("lon", x, ["x"], LONGITUDE)
    store.array("lat", y, ["y"], LATITUDE)
    store.array("v", VALUES, ["y", "x"], {"coordinates": "lat lon"})
    return longitude_latitude(x, y)


@builder
def across_the_date_line(store):
    x, y = 178.5 + 0.5 * np.arange(COLUMNS), 50 - 0.5 * np.arange(ROWS)
    store.group()
    store.axes(np.where(x >= 180, x - 360, x), y, LONGITUDE, LATITUDE, names=("lon", "lat"))
    store.array("v", VALUES, ["lat", "lon"])
    return longitude_latitude(x, y)


@builder
def grouped_hdf5_by_kerchunk(store):
    x, y = -175 + 10.0 * np.arange(COLUMNS), -85 + 10.0 * np.arange(ROWS)
    store.group()
    store.group("Grid")
    store.array("Grid/lon", x, ["Grid/lon"], LONGITUDE)
    store.array("Grid/lat", y, ["Grid/lat"], LATITUDE)
    store.array("Grid/time", np.array([1600000000.0]), ["Grid/time"], TIME)
    store.array("Grid/v", VALUES.T[None].copy(), ["Grid/time", "Grid/lon", "Grid/lat"],
                {"coordinates": "time lon lat"})
    return Placed("/Grid/v", *np.meshgrid(x, y), has_crs=False)


# Shapes


@builder
def geozarr_of_another_shape(store):
    store.group()
    store.array("v", VALUES, ["y", "x"], {
        "proj:code": ZONE, "spatial:shape": [ROWS * 2, COLUMNS * 2],
        "spatial:transform": TRANSFORM, "spatial:dimensions": ["y", "x"]})
    return Nowhere("/v", has_crs=True, warnings=[r"spatial:shape.*\[6,8\]"])


@builder
def geozarr_with_bands_last(store):
    store.group(**{"proj:code": ZONE, "spatial:dimensions": ["y", "x"],
                   "spatial:shape": [ROWS, COLUMNS], "spatial:transform": TRANSFORM})
    store.array("v", np.repeat(VALUES[:, :, None], 3, 2), None)
    return Placed("/v", *lonlat(ZONE, *np.meshgrid(EASTINGS, NORTHINGS)))


@builder
def levels_in_their_order_with_negative_scales(store):
    """OME-Zarr whose Y runs backwards: the finest level is still the finest."""
    def level(path, size):
        return {"path": path, "coordinateTransformations": [
            {"type": "scale", "scale": [-1000.0 * size, 1000.0 * size]}]}
    store.group(multiscales=[{"axes": ["y", "x"], "datasets": [level("0", 1), level("1", 2)]}])
    store.array("1", VALUES[::2, ::2].copy(), ["y", "x"])
    return store.utm({"crs": ZONE}, name="0")


# Axes that are on no map


def builds_nowhere(name, y, x, group=None, **attributes):
    def build(store):
        store.group(**(group or {}))
        dims = []
        for (dim, axis_attributes), size in ((y, ROWS), (x, COLUMNS)):
            store.array(dim, np.arange(1.0, size + 1), [dim], axis_attributes)
            dims.append(dim)
        store.array("v", VALUES, dims, attributes)
        return Nowhere("/v")
    build.__name__ = name
    builder(build)


builds_nowhere("sentinel_1_grd", ("azimuth_time", TIME), ("ground_range", {"units": "m"}),
               {"stac_discovery": {"properties": {"proj:epsg": 4326}}}, _eopf_attrs={})
builds_nowhere("hovmoeller", ("time", TIME), ("lon", LONGITUDE))
builds_nowhere("section", ("depth", {"units": "m", "positive": "down", "axis": "Z"}),
               ("lat", LATITUDE))
builds_nowhere("healpix", ("time", TIME), ("cell", {"units": "1"}))
builds_nowhere("spectra", ("wavelength", {"units": "nm"}), ("x", X))
