"""Grids of projections that CF's parameters, WKT or both define."""
import numpy as np

from .matrix import builder
from .store import VALUES, ZONE, Placed, X, Y, lonlat, on_grid, wkt

ROTATED = {
    "grid_mapping_name": "rotated_latitude_longitude", "grid_north_pole_latitude": 39.25,
    "grid_north_pole_longitude": -162.0, "north_pole_grid_longitude": 0.0,
    "semi_major_axis": 6378137.0, "inverse_flattening": 298.257223563}


def builds_rotated(name, more):
    @builder("CORDEX", name)
    def build(store):
        x, y = -5 + 0.5 * np.arange(8), 5 - 0.5 * np.arange(6)
        store.group()
        store.scalar("pole", ROTATED | more())
        store.axes(x, y, {"standard_name": "grid_longitude", "units": "degrees"},
                   {"standard_name": "grid_latitude", "units": "degrees"}, names=("rlon", "rlat"))
        store.array("v", VALUES, ["rlat", "rlon"], {"grid_mapping": "pole"})
        pole = "+proj=ob_tran +o_proj=longlat +o_lat_p=39.25 +o_lon_p=0 +lon_0=18 +datum=WGS84"
        return Placed("/v", *lonlat(pole, *np.meshgrid(x, y)))


builds_rotated("cordex", dict)
builds_rotated("cordex_beside_wkt_of_another_kind", lambda: {"crs_wkt": wkt(ZONE)})


def on_lambert(latitudes, longitude, parallels, ellipsoid):
    """A PROJ string."""
    lat_1, lat_2 = parallels
    return (f"+proj=lcc +lat_0={latitudes} +lon_0={longitude} +lat_1={lat_1} +lat_2={lat_2}"
            f" {ellipsoid} +units=m")


@builder(of="Daymet")
def daymet(store):
    x, y = -560250 + 1000.0 * np.arange(8), 984000 - 1000.0 * np.arange(6)
    store.group()
    store.scalar("lambert_conformal_conic", {
        "grid_mapping_name": "lambert_conformal_conic", "false_easting": 0.0,
        "false_northing": 0.0, "semi_major_axis": 6378137.0, "inverse_flattening": 298.257223563,
        "standard_parallel": [25.0, 60.0], "latitude_of_projection_origin": 42.5,
        "longitude_of_central_meridian": -100.0})
    store.axes(x, y, X, Y, dtype="f4")
    place = on_grid("/prcp", on_lambert(42.5, -100, (25, 60), "+datum=WGS84"), x, y)
    store.positions(["y", "x"], ("lon", "lat"), place.longitudes.astype("f4"),
                    place.latitudes.astype("f4"))
    store.array("prcp", VALUES[None], ["time", "y", "x"], {
        "grid_mapping": "lambert_conformal_conic", "coordinates": "lat lon", "units": "mm/day",
        "cell_methods": "area: mean time: sum"})
    return place


@builder(of="NWM")
def national_water_model(store):
    """Rows from south to north, beside a GeoTransform from north to south."""
    x, y = -303500 + 1000.0 * np.arange(8), 414500 + 1000.0 * np.arange(6)
    crs = on_lambert(40, -97, (30, 60), "+R=6370000")
    esri = ('PROJCS["Sphere_Lambert_Conformal_Conic",GEOGCS["GCS_Sphere",DATUM["D_Sphere",'
            'SPHEROID["Sphere",6370000.0,0.0]],PRIMEM["Greenwich",0.0],'
            'UNIT["Degree",0.0174532925199433]],PROJECTION["Lambert_Conformal_Conic"],'
            'PARAMETER["false_easting",0.0],PARAMETER["false_northing",0.0],'
            'PARAMETER["central_meridian",-97.0],PARAMETER["standard_parallel_1",30.0],'
            'PARAMETER["standard_parallel_2",60.0],PARAMETER["latitude_of_origin",40.0],'
            'UNIT["Meter",1.0]]')
    store.group()
    store.scalar("crs", {
        "_CoordinateTransformType": "Projection", "transform_name": "lambert_conformal_conic",
        "grid_mapping_name": "lambert_conformal_conic", "_CoordinateAxes": "y x",
        "esri_pe_string": esri, "spatial_ref": esri, "long_name": "CRS definition",
        "longitude_of_prime_meridian": 0.0, "standard_parallel": [30.0, 60.0],
        "longitude_of_central_meridian": -97.0, "latitude_of_projection_origin": 40.0,
        "false_easting": 0.0, "false_northing": 0.0, "earth_radius": 6370000.0,
        "GeoTransform": "-304000.0 1000.0 0 420000.0 0 -1000.0 "})
    store.axes(x, y, *({**axis, "resolution": 1000.0, "_CoordinateAxisType": kind}
                       for axis, kind in ((X, "GeoX"), (Y, "GeoY"))))
    store.array("v", VALUES[None], ["time", "y", "x"],
                {"grid_mapping": "crs", "esri_pe_string": esri})
    return on_grid("/v", crs, x, y, warnings=["GeoTransform"])


@builder(of="dynamical.org")
def dynamical_org_hrrr(store):
    """On a sphere, with longitudes and latitudes beside x and y."""
    x, y = -300000 + 3000.0 * np.arange(8), 200000 - 3000.0 * np.arange(6)
    crs = on_lambert(38.5, -97.5, (38.5, 38.5), "+R=6371229")
    store.group()
    store.scalar("spatial_ref", {
        "crs_wkt": wkt(crs), "spatial_ref": wkt(crs), "semi_major_axis": 6371229.0,
        "semi_minor_axis": 6371229.0, "inverse_flattening": 0.0,
        "grid_mapping_name": "lambert_conformal_conic", "standard_parallel": [38.5, 38.5],
        "latitude_of_projection_origin": 38.5, "longitude_of_central_meridian": -97.5,
        "false_easting": 0.0, "false_northing": 0.0,
        "GeoTransform": "-301500.0 3000.0 0.0 201500.0 0.0 -3000.0"})
    store.axes(x, y, X, Y)
    place = on_grid("/v", crs, x, y)
    store.positions(["y", "x"], longitudes=place.longitudes, latitudes=place.latitudes)
    store.array("v", VALUES[None, None], ["init_time", "lead_time", "y", "x"],
                {"coordinates": "expected_forecast_length latitude longitude spatial_ref"})
    return place


@builder(of="HRRR")
def hrrr_of_the_university_of_utah(store):
    """Parameters by CF, and coordinates in the group above the array's."""
    x, y = -300000 + 3000.0 * np.arange(8), 200000 + 3000.0 * np.arange(6)
    for name in ("", "surface", "surface/TMP", "surface/TMP/surface"):
        store.group(name)
    store.axes(x, y, X, Y, ("projection_x_coordinate", "projection_y_coordinate"), "surface/TMP/")
    store.scalar("surface/TMP/lambert", {
        "grid_mapping_name": "lambert_conformal_conic", "standard_parallel": 38.5,
        "latitude_of_projection_origin": 38.5, "longitude_of_central_meridian": 262.5,
        "earth_radius": 6371229.0})
    array = "surface/TMP/surface/TMP"
    store.array(array, VALUES, ["projection_y_coordinate", "projection_x_coordinate"],
                {"grid_mapping": "lambert"})
    return on_grid("/" + array, on_lambert(38.5, -97.5, (38.5, 38.5), "+R=6371229"), x, y)


SINUSOIDAL = "+proj=sinu +lon_0=0 +R=6371007.181 +units=m"


def builds_sinusoidal(name, mapping):
    @builder("MODIS", name)
    def build(store):
        size = 926.625433055
        x, y = 1111950.5 + size * np.arange(8), 5559752.6 - size * np.arange(6)
        store.group()
        store.scalar("crs", mapping())
        store.axes(x, y, X, Y, ("xdim", "ydim"))
        store.array("v", VALUES[None], ["time", "ydim", "xdim"], {"grid_mapping": "crs"})
        return on_grid("/v", SINUSOIDAL, x, y)


builds_sinusoidal("modis_by_parameters", lambda: {
    "grid_mapping_name": "sinusoidal", "longitude_of_projection_origin": 0.0,
    "false_easting": 0.0, "false_northing": 0.0, "earth_radius": 6371007.181})
builds_sinusoidal("modis_by_wkt", lambda: {
    "grid_mapping_name": "sinusoidal", "_CoordinateAxisTypes": "GeoX GeoY",
    "spatial_ref": wkt(SINUSOIDAL)})


def builds_its_live(name, code, mapping, x, y):
    @builder("ITS_LIVE", name)
    def build(store):
        store.group()
        store.scalar("mapping", {
            "grid_mapping_name": mapping, "crs_wkt": wkt(code), "spatial_ref": wkt(code),
            "spatial_epsg": int(code.partition(":")[2]), "CoordinateTransformType": "Projection",
            "CoordinateAxisTypes": "GeoX GeoY",
            "GeoTransform": f"{x[0] - 60} 120.0 0 {y[0] + 60} 0 -120.0"})
        store.axes(x, y, X, Y)
        store.array("v", VALUES[None].astype("i2"), ["mid_date", "y", "x"], {
            "grid_mapping": "mapping", "standard_name": "land_ice_surface_velocity",
            "_FillValue": -32767})
        return on_grid("/v", code, x, y)


EAST, SOUTH = 120.0 * np.arange(8), -120.0 * np.arange(6)
builds_its_live("its_live_in_greenland", "EPSG:3413", "polar_stereographic",
                -200000 + EAST, -2200000 + SOUTH)
builds_its_live("its_live_in_patagonia", "EPSG:32718", "universal_transverse_mercator",
                600000 + EAST, 4600000 + SOUTH)


@builder(of="LCMAP")
def lcmap(store):
    x, y = -1500000 + 30.0 * np.arange(8), 2300000 - 30.0 * np.arange(6)
    store.group(crs="EPSG:5070", grid_mapping="spatial_ref")
    store.scalar("spatial_ref", {
        "spatial_ref": wkt("EPSG:5070"), "grid_mapping_name": "albers_conical_equal_area"})
    for name, values, step in (("x", x, 30.0), ("y", y, -30.0)):
        store.axis(name, values, {"units": "metre", "resolution": step, "crs": "EPSG:5070"})
    store.array("v", VALUES[None], ["time", "y", "x"],
                {"crs": "EPSG:5070", "grid_mapping": "spatial_ref", "units": "1"})
    return on_grid("/v", "EPSG:5070", x, y)
