#!/usr/bin/env python3
"""Makes the sample stores of this folder from the EGM96 geoid of Debian's proj-data.

usage: make_data.py [DIR]      DIR: where to put the stores, by default this script's folder

zarr-python 2 writes the v2 stores and zarr-python 3 the v3 ones: each format by its own library.
Needs osgeo, numpy and zarr (Debian: python3-gdal python3-numpy python3-zarr proj-data).
"""
import base64
import struct
import sys
from pathlib import Path

import numpy as np
import zarr
from osgeo import gdal, osr

GEOID_GRID = "/usr/share/proj/egm96_15.gtx"
MEAN_EARTH_RADIUS = 6371008.8  # metres

gdal.UseExceptions()
osr.UseExceptions()


class Grid:
    """Longitudes and latitudes of a global grid, north up, and every `step`-th node of it."""

    def __init__(self, dataset, step=1):
        x0, dx, _, y0, _, dy = dataset.GetGeoTransform()
        # A geotransform starts at the corner of a pixel; coordinates are those of its centre.
        self.lon = (x0 + dx * (np.arange(dataset.RasterXSize) + 0.5))[::step]
        self.lat = (y0 + dy * (np.arange(dataset.RasterYSize) + 0.5))[::step]


def deflection(height, grid):
    """Deflection of the vertical in arc seconds on the whole `grid`: eastward, northward, total.

    Where the geoid rises to the north its normal leans to the south, hence the minus signs. At the
    poles there is no east or north: NaN.
    """
    east_step, north_step = np.radians([grid.lon[1] - grid.lon[0], grid.lat[1] - grid.lat[0]])
    around = (np.roll(height, -1, axis=1) - np.roll(height, 1, axis=1)) / (2 * east_step)
    with np.errstate(divide="ignore", invalid="ignore"):
        east = -around / (MEAN_EARTH_RADIUS * np.cos(np.radians(grid.lat)))[:, None]
    north = -np.gradient(height, north_step, axis=0) / MEAN_EARTH_RADIUS
    east[[0, -1]] = north[[0, -1]] = np.nan
    return np.degrees([east, north, np.hypot(east, north)]) * 3600


def grid_mapping_attributes():
    srs = osr.SpatialReference()
    srs.ImportFromEPSG(4326)
    return {
        "grid_mapping_name": "latitude_longitude",
        "semi_major_axis": srs.GetSemiMajor(),
        "inverse_flattening": srs.GetInvFlattening(),
        "longitude_of_prime_meridian": 0.0,
        "crs_wkt": srs.ExportToWkt(["FORMAT=WKT2_2019"]),
    }


LATITUDE = {"standard_name": "latitude", "units": "degrees_north", "axis": "Y"}
LONGITUDE = {"standard_name": "longitude", "units": "degrees_east", "axis": "X"}
GEOID = {
    "standard_name": "geoid_height_above_reference_ellipsoid",
    "long_name": "EGM96 geoid height above the WGS 84 ellipsoid",
    "units": "m",
    "grid_mapping": "crs",
}
DEFLECTION = {
    "long_name": "deflection of the vertical, from the slope of the EGM96 geoid",
    "units": "arcsec",
    "grid_mapping": "crs",
}
COMPONENT = {
    "long_name": "component of the deflection",
    "flag_values": [1, 2, 3],
    "flag_meanings": "eastward northward total",
}


def group_attributes(title):
    return {
        "Conventions": "CF-1.10",
        "title": title,
        "source": "EGM96 geoid grid of 15' (NASA and NIMA, 1996), public domain",
    }


def write_v2(folder, height, full, half, whole_degrees):
    from numcodecs import Blosc, Zlib

    def create(store, title):
        group = zarr.open_group(str(folder / store), mode="w")
        group.attrs.put(group_attributes(title))
        return group

    def put(group, name, data, dimensions, attributes, **options):
        # Coordinates have no fill value: with a fill value of zero, the equator would be missing.
        options = {"fill_value": None, "chunks": False, **options}
        array = group.create_dataset(name, data=data, **options)
        array.attrs.put({"_ARRAY_DIMENSIONS": dimensions, **attributes})

    def put_grid(group, grid):
        put(group, "lat", grid.lat, ["lat"], LATITUDE)
        put(group, "lon", grid.lon, ["lon"], LONGITUDE)
        put(group, "crs", np.int32(0), [], grid_mapping_attributes())

    group = create("geoid_v2.zarr", "EGM96 geoid, every 30'")
    put_grid(group, half)
    put(group, "geoid", height[::2, ::2], ["lat", "lon"], GEOID, chunks=(256, 256),
        fill_value=np.nan, compressor=Blosc("zstd", clevel=9, shuffle=Blosc.SHUFFLE))
    zarr.consolidate_metadata(group.store)

    group = create("deflection_v2.zarr", "Deflection of the vertical, every degree")
    put_grid(group, whole_degrees)
    put(group, "component", np.array(COMPONENT["flag_values"], "i2"), ["component"], COMPONENT)
    data = deflection(height.astype("f8"), full)[:, ::4, ::4].round(2).astype("f4")
    put(group, "deflection", data, ["component", "lat", "lon"], DEFLECTION, chunks=(1, 64, 128),
        fill_value=np.nan, compressor=Zlib(9), dimension_separator="/")
    zarr.consolidate_metadata(group.store)


def write_v3(folder, height, half):
    from zarr.codecs import ZstdCodec

    def create(store, title):
        return zarr.create_group(folder / store, attributes=group_attributes(title), overwrite=True)

    def put(group, name, data, dimensions, attributes, **options):
        options = {"chunks": data.shape, "compressors": ZstdCodec(level=19), **options}
        array = group.create_array(name, shape=data.shape, dtype=data.dtype,
                                   dimension_names=dimensions, attributes=attributes, **options)
        array[...] = data

    def put_grid(group, grid):
        put(group, "lat", grid.lat, ["lat"], LATITUDE, fill_value=np.nan)
        put(group, "lon", grid.lon, ["lon"], LONGITUDE, fill_value=np.nan)
        put(group, "crs", np.array(0, "i4"), [], grid_mapping_attributes())

    group = create("geoid_v3.zarr", "EGM96 geoid, every 30', packed")
    put_grid(group, half)
    missing, scale = -32768, 0.005
    packing = {"scale_factor": scale, "add_offset": 0.0, "_FillValue": missing}
    packed = np.rint(height[::2, ::2].astype("f8") / scale).astype("i2")
    put(group, "geoid", packed, ["lat", "lon"], {**GEOID, **packing}, chunks=(256, 256),
        fill_value=missing)
    zarr.consolidate_metadata(group.store)

    group = create("geoid_v3_sharded.zarr", "EGM96 geoid, every 30', sharded")
    put_grid(group, half)
    # xarray spells the _FillValue of a v3 float array as base64 of a little-endian float64.
    nan = base64.b64encode(struct.pack("<d", np.nan)).decode()
    put(group, "geoid", height[::2, ::2], ["lat", "lon"], {**GEOID, "_FillValue": nan},
        shards=(256, 256), chunks=(64, 64), fill_value=np.nan)
    zarr.consolidate_metadata(group.store)


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    source = gdal.Open(GEOID_GRID)
    height = source.ReadAsArray()
    if zarr.__version__.startswith("2."):
        write_v2(folder, height, Grid(source), Grid(source, 2), Grid(source, 4))
    else:
        write_v3(folder, height, Grid(source, 2))


if __name__ == "__main__":
    main()
