"""Longitudes and latitudes of one dimension each."""
import numpy as np

from .matrix import builder
from .store import COLUMNS, LATITUDE, LONGITUDE, ROWS, TIME, VALUES, on_degrees


@builder(of="CMIP6")
def gaussian_latitudes(store):
    x, y = 10 + 2.5 * np.arange(COLUMNS), np.array([60, 57, 53, 48, 42, 35.0])
    store.group()
    store.axes(x, y, LONGITUDE, LATITUDE, names=("lon", "lat"))
    store.array("v", VALUES, ["lat", "lon"])
    return on_degrees("/v", x, y, has_geotransform=False)


@builder(of="CMIP6")
def cmip6_atmosphere(store):
    """Regular, with bounds; cells count from Greenwich to the east, and from south to north."""
    x, y = 0.625 + 1.25 * np.arange(COLUMNS), -2.5 + np.arange(ROWS)
    store.group(Conventions="CF-1.7 CMIP-6.2", grid="atmos data regridded", activity_id="CMIP")
    for name, values, attributes, axis in (("lon", x, LONGITUDE, "X"), ("lat", y, LATITUDE, "Y")):
        half = (values[1] - values[0]) / 2
        store.axis(name, values, attributes | {"axis": axis, "bounds": f"{name}_bnds"})
        store.array(f"{name}_bnds", np.stack([values - half, values + half], 1), [name, "bnds"])
    store.scalar("height", {"axis": "Z", "positive": "up", "standard_name": "height", "units": "m"})
    store.axis("time", [15.5], {"standard_name": "time", "units": "days since 1850-01-01",
                                "axis": "T", "calendar": "noleap"})
    store.array("tas", VALUES[None], ["time", "lat", "lon"], {
        "coordinates": "height", "cell_measures": "area: areacella", "units": "K",
        "cell_methods": "area: time: mean", "missing_value": 1e20})
    return on_degrees("/tas", x, y)


@builder(of="WeatherBench 2")
def weatherbench_2(store):
    """Longitudes before latitudes, south first, and names alone to know them by."""
    x, y = 5.625 * np.arange(COLUMNS), 2.8125 + 5.625 * np.arange(ROWS)
    store.group()
    store.axes(x, y, names=("longitude", "latitude"))
    store.axis("time", [0], {"units": "hours since 1959-01-01", "calendar": "proleptic_gregorian"},
               "i8")
    store.array("v", VALUES.T[None].copy(), ["time", "longitude", "latitude"],
                {"long_name": "2 metre temperature", "units": "K"})
    return on_degrees("/v", x, y)


@builder(of="ARCO-ERA5")
def arco_era5(store):
    """From the north pole, with cells around 0 degrees."""
    x, y = 0.25 * np.arange(COLUMNS), 90 - 0.25 * np.arange(ROWS)
    store.group()
    store.axes(x, y, {"long_name": "longitude", "units": "degrees_east"},
               {"long_name": "latitude", "units": "degrees_north"}, ("longitude", "latitude"),
               dtype="f4")
    store.axis("level", [500, 1000], dtype="i8")
    store.array("v", np.stack([VALUES, VALUES])[None], ["time", "level", "latitude", "longitude"])
    return on_degrees("/v", x, y)


@builder(of="MUR")
def mur(store):
    """Coordinates rounded to 32 bits, of steps that these cannot count."""
    x, y = -179.99 + 0.01 * np.arange(COLUMNS), 10.01 + 0.01 * np.arange(ROWS)
    store.group()
    store.axes(x, y, LONGITUDE | {"axis": "X", "valid_min": -180.0, "valid_max": 180.0},
               LATITUDE | {"axis": "Y", "valid_min": -90.0, "valid_max": 90.0}, ("lon", "lat"),
               dtype="f4")
    store.array("analysed_sst", VALUES[None].astype("i2"), ["time", "lat", "lon"], {
        "scale_factor": 0.001, "add_offset": 298.15, "_FillValue": -32768, "units": "kelvin",
        "standard_name": "sea_surface_foundation_temperature"})
    return on_degrees("/analysed_sst", x, y)


@builder(of="CHIRPS")
def chirps(store):
    x, y = 20.025 + 0.05 * np.arange(COLUMNS), -10.025 + 0.05 * np.arange(ROWS)
    store.group(Conventions="CF-1.6")
    store.axes(x, y, LONGITUDE | {"long_name": "longitude", "axis": "X"},
               LATITUDE | {"long_name": "latitude", "axis": "Y"}, ("longitude", "latitude"),
               dtype="f4")
    store.array("precip", VALUES[None], ["time", "latitude", "longitude"], {
        "units": "mm/day", "standard_name": "convective precipitation rate",
        "geostatial_lat_min": -50.0, "missing_value": -9999.0})
    return on_degrees("/precip", x, y)


@builder(of="gridMET")
def gridmet(store):
    x, y = -124.76666663333334 + np.arange(COLUMNS) / 24, 49.400000000000006 - np.arange(ROWS) / 24
    store.group(geospatial_bounds_crs="EPSG:4326")
    store.scalar("crs", {
        "grid_mapping_name": "latitude_longitude", "longitude_of_prime_meridian": 0.0,
        "semi_major_axis": 6378137.0, "inverse_flattening": 298.257223563})
    store.axes(x, y, LONGITUDE, LATITUDE, ("lon", "lat"))
    store.array("v", VALUES[None], ["time", "lat", "lon"], {
        "grid_mapping": "crs", "dimensions": "lon lat time",
        "coordinate_system": "WGS84,EPSG:4326"})
    place = on_degrees("/v", x, y)
    place.has_crs = True
    return place


@builder(of="CMEMS")
def copernicus_marine(store):
    """Elevations for depths, and coordinates with the step and the ends."""
    x, y = -10 + np.arange(COLUMNS) / 12, 40 + np.arange(ROWS) / 12
    store.group()
    for name, values, attributes, axis in (("longitude", x, LONGITUDE, "X"),
                                           ("latitude", y, LATITUDE, "Y")):
        store.axis(name, values, attributes | {
            "axis": axis, "step": 1 / 12, "valid_min": values[0], "valid_max": values[-1],
            "unit_long": "Degrees"}, "f4")
    store.axis("elevation", [-1.5, -0.5], {"standard_name": "elevation", "units": "m",
                                           "positive": "up", "axis": "Z"}, "f4")
    store.array("thetao", np.stack([VALUES, VALUES])[None],
                ["time", "elevation", "latitude", "longitude"],
                {"standard_name": "sea_water_potential_temperature", "units": "degrees_C"})
    return on_degrees("/thetao", x, y)


@builder(of="CF")
def coordinates_with_other_names(store):
    x, y = 10 + 0.5 * np.arange(COLUMNS), 50 - 0.5 * np.arange(ROWS)
    store.group()
    store.array("lon", x, ["x"], LONGITUDE)
    store.array("lat", y, ["y"], LATITUDE)
    store.array("v", VALUES, ["y", "x"], {"coordinates": "lat lon"})
    return on_degrees("/v", x, y)


@builder(of="CF")
def across_the_date_line(store):
    x, y = 178.5 + 0.5 * np.arange(COLUMNS), 50 - 0.5 * np.arange(ROWS)
    store.group()
    store.axes(np.where(x >= 180, x - 360, x), y, LONGITUDE, LATITUDE, names=("lon", "lat"))
    store.array("v", VALUES, ["lat", "lon"])
    return on_degrees("/v", x, y)


@builder(of="GPM")
def grouped_hdf5_by_kerchunk(store):
    x, y = -175 + 10.0 * np.arange(COLUMNS), -85 + 10.0 * np.arange(ROWS)
    store.group()
    store.group("Grid")
    store.array("Grid/lon", x, ["Grid/lon"], LONGITUDE)
    store.array("Grid/lat", y, ["Grid/lat"], LATITUDE)
    store.array("Grid/time", np.array([1600000000.0]), ["Grid/time"], TIME)
    store.array("Grid/v", VALUES.T[None].copy(), ["Grid/time", "Grid/lon", "Grid/lat"],
                {"coordinates": "time lon lat"})
    return on_degrees("/Grid/v", x, y)
