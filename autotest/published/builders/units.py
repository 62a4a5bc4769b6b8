"""Coordinates in other units than the CRS."""
import numpy as np

from .matrix import builder
from .store import EASTINGS, NORTHINGS, VALUES, ZONE, Placed, X, Y, lonlat, on_grid, wkt


def builds_kilometres(name, of, attributes, variable):
    @builder(of, name)
    def build(store):
        store.group()
        if variable:
            store.scalar("crs", variable())
        store.axes(EASTINGS / 1000, NORTHINGS / 1000, X | {"units": "km"}, Y | {"units": "km"})
        return store.utm(attributes(), with_axes=False)


builds_kilometres("kilometres_beside_wkt", "CF", lambda: {"grid_mapping": "crs"},
                  lambda: {"crs_wkt": wkt(ZONE)})
builds_kilometres("kilometres_beside_gdals_attribute", "GDAL", lambda: {"_CRS": {"wkt": wkt(ZONE)}},
                  None)
builds_kilometres("kilometres_beside_a_code", "spatial and proj", lambda: {"proj:code": ZONE}, None)


@builder(of="CF")
def centimetres(store):
    store.group()
    store.scalar("crs", {"crs_wkt": wkt(ZONE)})
    store.axes(100 * EASTINGS, 100 * NORTHINGS, X | {"units": "cm"}, Y | {"units": "cm"})
    return store.utm({"grid_mapping": "crs"}, with_axes=False)


def polar_stereographic(store, of, x, y, unit, metres, mapping, crs, names=("x", "y")):
    """A raster over the Arctic, with longitudes and latitudes beside its own coordinates."""
    store.group()
    store.scalar(of, mapping)
    store.axes(x, y, X | {"units": unit}, Y | {"units": unit}, names)
    place = on_grid("/v", crs, x * metres, y * metres)
    store.positions(names[::-1], ("lon", "lat"), place.longitudes, place.latitudes)
    store.array("v", VALUES[None], ["time", *names[::-1]],
                {"grid_mapping": of, "coordinates": "time lat lon"})
    return place


@builder(of="OSI SAF")
def osi_saf(store):
    x, y = -400 + 10.0 * np.arange(8), -2500 - 10.0 * np.arange(6)
    proj = "+proj=stere +a=6378273 +b=6356889.44891 +lat_0=90 +lat_ts=70 +lon_0=-45"
    return polar_stereographic(store, "Polar_Stereographic_Grid", x, y, "km", 1000, {
        "grid_mapping_name": "polar_stereographic", "false_easting": 0.0, "false_northing": 0.0,
        "semi_major_axis": 6378273.0, "semi_minor_axis": 6356889.44891,
        "straight_vertical_longitude_from_pole": -45.0, "latitude_of_projection_origin": 90.0,
        "standard_parallel": 70.0, "proj4_string": proj}, proj, ("xc", "yc"))


@builder(of="TOPAZ")
def topaz(store):
    """Its coordinates are in units of 100 km, and its PROJ string in metres."""
    x, y = -4 + 0.125 * np.arange(8), -25 + 0.125 * np.arange(6)
    proj = "+units=m +proj=stere +a=6378273.0 +b=6378273.0 +lon_0=-45.0 +lat_0=90.0 +lat_ts=90.0"
    return polar_stereographic(store, "stereographic", x, y, "100 km", 1e5, {
        "grid_mapping_name": "polar_stereographic", "latitude_of_projection_origin": 90.0,
        "scale_factor_at_projection_origin": 1.0, "straight_vertical_longitude_from_pole": -45.0,
        "longitude_of_projection_origin": -45.0, "false_easting": 0.0, "false_northing": 0.0,
        "semi_major_axis": 6378273.0, "semi_minor_axis": 6378273.0, "proj4": proj}, proj)


# Angles of a satellite's view. PROJ's lengths are these angles times the satellite's height.

HEIGHT = 35786023.0
GEOSTATIONARY = {
    "grid_mapping_name": "geostationary", "perspective_point_height": HEIGHT,
    "semi_major_axis": 6378137.0, "semi_minor_axis": 6356752.31414,
    "longitude_of_projection_origin": -75.0, "latitude_of_projection_origin": 0.0,
    "sweep_angle_axis": "x"}
SATELLITE = "+proj=geos +sweep=x +lon_0=-75 +h=35786023 +ellps=GRS80 +units=m"
ANGLES = -0.02 + 0.003 * np.arange(8), 0.08 - 0.003 * np.arange(6)


def in_view(array, crs, height, x, y):
    return Placed(array, *lonlat(crs, *np.meshgrid(x * height, y * height)))


def builds_angles(name, of, mapping, unit="rad", size=1.0, with_axes=True):
    @builder(of, name)
    def build(store):
        store.group()
        store.scalar("goes", mapping())
        x, y = (angles / size for angles in ANGLES)
        units = {"units": unit} if unit else {}
        if with_axes:
            store.axes(x, y, X | units, Y | units)
        store.array("v", VALUES, ["y", "x"], {"grid_mapping": "goes"})
        return in_view("/v", SATELLITE, HEIGHT, *ANGLES)


builds_angles("goes_by_parameters", "GOES", lambda: GEOSTATIONARY)
builds_angles("goes_beside_wkt", "GOES", lambda: GEOSTATIONARY | {"crs_wkt": wkt(SATELLITE)})
builds_angles("goes_in_microradians", "ISatSS", lambda: GEOSTATIONARY, "microradian", 1e-6)
builds_angles("goes_in_metres", "satpy", lambda: GEOSTATIONARY, "m", 1 / HEIGHT)
builds_angles("goes_with_a_geotransform", "rioxarray", lambda: GEOSTATIONARY | {
    "GeoTransform": "-0.0215 0.003 0 0.0815 0 -0.003"}, with_axes=False)


def packed(store, name, values, attributes, step):
    """16-bit integers that count steps from the first value."""
    first = float(values[0])
    store.axis(name, np.round((values - first) / step), attributes | {
        "scale_factor": step, "add_offset": first}, "i2")


@builder(of="GOES")
def goes_packed(store):
    store.group()
    store.scalar("goes_imager_projection", GEOSTATIONARY | {"inverse_flattening": 298.2572221})
    for name, values, attributes, step in zip("xy", ANGLES, (X, Y), (0.003, -0.003), strict=True):
        packed(store, name, values, attributes | {"units": "rad"}, step)
    store.array("v", VALUES, ["y", "x"],
                {"grid_mapping": "goes_imager_projection", "coordinates": "t y x"})
    return in_view("/v", SATELLITE, HEIGHT, *ANGLES)


@builder(of="Himawari")
def himawari(store):
    """Of another sweep axis, in packed microradians."""
    store.group()
    store.scalar("fixedgrid_projection", {
        "grid_mapping_name": "geostationary", "perspective_point_height": 35785863.0,
        "semi_major": 6378137.0, "semi_major_axis": 6378137.0, "semi_minor_axis": 6356752.3,
        "longitude_of_projection_origin": 140.7, "latitude_of_projection_origin": 0.0,
        "sweep_angle_axis": "y"})
    for name, values, attributes, step in zip("xy", ANGLES, (X, Y), (3000.0, -3000.0), strict=True):
        packed(store, name, values * 1e6, attributes | {"units": "microradian"}, step)
    store.array("v", VALUES, ["y", "x"], {"grid_mapping": "fixedgrid_projection"})
    crs = "+proj=geos +sweep=y +lon_0=140.7 +h=35785863 +a=6378137 +b=6356752.3 +units=m"
    return in_view("/v", crs, 35785863.0, *ANGLES)


MTG = {
    "grid_mapping_name": "geostationary", "perspective_point_height": 35786400.0,
    "semi_major_axis": 6378137.0, "inverse_flattening": 298.257223563,
    "longitude_of_projection_origin": 0.0, "latitude_of_projection_origin": 0.0,
    "sweep_angle_axis": "y"}
MTG_CRS = "+proj=geos +sweep=y +lon_0=0 +h=35786400 +ellps=WGS84 +units=m"


@builder(of="MTG")
def mtg_fci(store):
    """x is an azimuth, which counts to the west, in packed radians."""
    group = ""
    store.group()
    for name in ("data", "ir_105", "measured"):
        group += name + "/"
        store.group(group)
    store.scalar("data/mtg_geos_projection", MTG)
    east, north = ANGLES
    packed(store, f"{group}x", -east, X | {
        "units": "rad", "axis": "X", "long_name": "azimuth angle encoded as column"}, -0.003)
    packed(store, f"{group}y", north[::-1], Y | {
        "units": "rad", "axis": "Y", "long_name": "zenith angle encoded as row"}, 0.003)
    store.array(f"{group}effective_radiance", VALUES, ["y", "x"],
                {"grid_mapping": "mtg_geos_projection"})
    return on_grid(f"/{group}effective_radiance", MTG_CRS, 35786400.0 * east,
                   35786400.0 * north[::-1])


@builder(of="satpy")
def mtg_by_satpy(store):
    """North at the bottom, in metres, with the grid mapping of a group above."""
    x, y = (35786400.0 * angles for angles in ANGLES)
    for name in ("", "data", "data/ir_105", "data/ir_105/measured"):
        store.group(name)
    store.scalar("data/mtg_geos_projection", MTG)
    store.axes(x, y[::-1], X, Y, group="data/ir_105/measured/")
    store.array("data/ir_105/measured/effective_radiance", VALUES, ["y", "x"],
                {"grid_mapping": "mtg_geos_projection"})
    return on_grid("/data/ir_105/measured/effective_radiance", MTG_CRS, x, y[::-1])
