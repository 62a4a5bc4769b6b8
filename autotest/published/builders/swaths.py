"""Longitudes and latitudes of two dimensions."""
import numpy as np

from .matrix import builder
from .store import (
    COLUMN,
    COLUMNS,
    LATITUDE,
    LATITUDES,
    LONGITUDE,
    LONGITUDES,
    ROW,
    ROWS,
    VALUES,
    Nowhere,
    Placed,
    X,
    Y,
    in_swath,
    on_grid,
)


@builder(of="Sentinel-3")
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


@builder(of="Sentinel-3")
def sentinel_3_slstr(store):
    store.group()
    store.positions(["rows", "columns"])
    for name, values, attributes in (("x", COLUMN, X), ("y", ROW, Y)):
        store.array(name, 1000.0 * values, ["rows", "columns"], attributes)
    store.array("v", VALUES, ["rows", "columns"], {"coordinates": "latitude longitude x y"})
    return in_swath()


def builds_counted(name, of, dims, attributes):
    @builder(of, name)
    def build(store):
        store.group()
        for dim, size in zip(dims, (ROWS, COLUMNS), strict=True):
            store.axis(dim, np.arange(size), attributes, "i4")
        store.positions(dims)
        store.array("v", VALUES, dims, {"coordinates": "latitude longitude"})
        return in_swath()


builds_counted("cmip6_ocean", "CMIP6", ("j", "i"), {"units": "1", "long_name": "cell index"})
builds_counted("xmip", "xmip", ("y", "x"), {})
builds_counted("rows_and_cells", "xarray", ("row", "cell"), {"long_name": "number"})


@builder(of="NEMO")
def nemo(store):
    """Dimensions x and y without coordinates, and 32-bit positions."""
    store.group()
    store.positions(["y", "x"], ("nav_lon", "nav_lat"), LONGITUDES.astype("f4"),
                    LATITUDES.astype("f4"))
    store.array("v", VALUES[None, None], ["time_counter", "deptht", "y", "x"], {
        "coordinates": "time_centered nav_lat nav_lon", "online_operation": "average"})
    return in_swath()


@builder(of="ROMS")
def roms(store):
    """Four staggered grids: rho points and u points have positions of their own."""
    store.group()
    for point, shift in (("rho", 0.0), ("u", 1.0)):
        store.positions([f"eta_{point}", f"xi_{point}"], (f"lon_{point}", f"lat_{point}"),
                        LONGITUDES + shift)
        store.array(f"v_{point}", VALUES[None, None],
                    ["ocean_time", "s_rho", f"eta_{point}", f"xi_{point}"], {
                        "coordinates": f"lon_{point} lat_{point} s_rho ocean_time",
                        "grid": "grid", "location": "face", "time": "ocean_time"})
    return in_swath("/v_rho")


@builder(of="HRRR")
def longitudes_beyond_180(store):
    """As cfgrib writes them: from 0 to 360."""
    x, y = -300000 + 3000.0 * np.arange(COLUMNS), 200000 + 3000.0 * np.arange(ROWS)
    lambert = "+proj=lcc +lat_0=38.5 +lon_0=-97.5 +lat_1=38.5 +lat_2=38.5 +R=6371229 +units=m"
    place = on_grid("/t2m", lambert, x, y, has_crs=False, has_geotransform=False)
    store.group()
    store.positions(["y", "x"], longitudes=place.longitudes % 360, latitudes=place.latitudes)
    store.array("t2m", VALUES, ["y", "x"], {
        "coordinates": "time step heightAboveGround latitude longitude valid_time",
        "GRIB_gridType": "lambert"})
    return place


def write_nominal_axes(store):
    """Longitudes and latitudes for plots, of which those of two dimensions say where cells are."""
    store.group()
    for name, first, size, unit in (("xh", 10.0, COLUMNS, "degrees_east"),
                                    ("yh", 50.0, ROWS, "degrees_north")):
        kind = "longitude" if name == "xh" else "latitude"
        store.axis(name, first + np.arange(size), {
            "units": unit, "axis": name[0].upper(), "long_name": f"h point nominal {kind}"})


@builder(of="MOM6")
def mom6(store):
    write_nominal_axes(store)
    store.positions(["yh", "xh"], ("geolon", "geolat"))
    store.array("v", VALUES, ["yh", "xh"], {"coordinates": "geolon geolat"})
    return in_swath()


@builder(of="MOM6")
def mom6_where_the_grid_follows_the_meridians(store):
    """Missing on land, and the same as the nominal ones elsewhere, but for full turns."""
    write_nominal_axes(store)
    longitudes, latitudes = np.meshgrid(10.0 + np.arange(COLUMNS), 50.0 + np.arange(ROWS))
    place = Placed("/v", longitudes, latitudes, has_crs=False)
    is_land = (ROW == 0) & (COLUMN == 0)
    store.positions(["yh", "xh"], ("geolon", "geolat"), np.where(is_land, 1e20, longitudes - 360),
                    np.where(is_land, 1e20, latitudes))
    store.array("v", VALUES, ["yh", "xh"], {"coordinates": "geolon geolat"})
    return place


@builder(of="WRF")
def wrf(store):
    dims = ["Time", "south_north", "west_east"]
    store.group()
    for name, values, unit in (("XLONG", LONGITUDES, "degree_east"),
                               ("XLAT", LATITUDES, "degree_north")):
        store.array(name, np.stack([values, values]).astype("f4"), dims, {"units": unit})
    store.array("v", np.stack([VALUES, VALUES]), dims, {"coordinates": "XLONG XLAT XTIME"})
    return in_swath()


def write_moving_swath(store):
    dims = ["time", "scanline", "ground_pixel"]
    store.group()
    store.positions(dims, longitudes=np.stack([LONGITUDES, LONGITUDES + 1]),
                    latitudes=np.stack([LATITUDES, LATITUDES + 1]))
    store.array("v", np.stack([VALUES, VALUES]), dims, {"coordinates": "longitude latitude"})


@builder(of="Sentinel-5P")
def moving_swath(store):
    write_moving_swath(store)
    return Nowhere("/v", warnings=["differ from one band to the next"])


@builder(of="Sentinel-5P")
def slice_of_a_moving_swath(store):
    write_moving_swath(store)
    return in_swath("/v:0")


@builder(of="OB.DAAC")
def coordinates_of_another_group(store):
    for name in ("", "data", "navigation_data"):
        store.group(name)
    names = ["number_of_lines", "pixels_per_line"]
    store.positions(names, group="navigation_data/")
    store.array("data/v", VALUES, names, {
        "coordinates": "/navigation_data/longitude /navigation_data/latitude"})
    return in_swath("/data/v")


@builder(of="xarray")
def coordinates_of_the_parent_group(store):
    for name in ("", "data"):
        store.group(name)
    store.positions(["row", "column"])
    store.array("data/v", VALUES, ["row", "column"], {"coordinates": "longitude latitude"})
    return in_swath("/data/v")


@builder(of="Sentinel-1")
def sentinel_1_with_ground_control_points(store):
    """Line 0 and pixel 0 are the upper left corner of the first cell, as in GDAL's SAFE driver."""
    product = "S01SIWGRD_VV"
    for name in ("", product, f"{product}/conditions", f"{product}/conditions/gcp",
                 f"{product}/measurements"):
        store.group(name)
    lines, pixels = np.array([0.0, 3.0, 6.0]), np.array([0.0, 4.0, 8.0])
    pixel, line = np.meshgrid(pixels, lines)
    gcp = f"{product}/conditions/gcp/"
    dims = ["azimuth_time", "ground_range"]
    store.array(gcp + "line", lines, dims[:1])
    store.array(gcp + "pixel", pixels, dims[1:])
    for name, values in (("longitude", 10 + 0.2 * pixel + 0.03 * line),
                         ("latitude", 40 - 0.15 * line + 0.01 * pixel),
                         ("height", 0 * line)):
        store.array(gcp + name, values, dims)
    store.array(f"{product}/measurements/grd", VALUES, dims)
    return Placed(f"/{product}/measurements/grd", 10 + 0.2 * (COLUMN + 0.5) + 0.03 * (ROW + 0.5),
                  40 - 0.15 * (ROW + 0.5) + 0.01 * (COLUMN + 0.5),
                  has_crs=False, has_geotransform=False)
