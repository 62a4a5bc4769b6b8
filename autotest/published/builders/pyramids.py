"""Transforms, their shapes, and the levels of pyramids."""
import json

import numpy as np

from .matrix import builder
from .store import (
    COLUMNS,
    EASTINGS,
    NORTHINGS,
    ROWS,
    TRANSFORM,
    VALUES,
    ZONE,
    Nowhere,
    Store,
    X,
    Y,
    on_degrees,
    on_grid,
    wkt,
)

UUIDS = {"spatial:": "689b58e2-cf7b-45e0-9fff-9cfc0883d6b4",
         "proj:": "f17cb550-5864-4468-aeb7-f3180cfb622f",
         "multiscales": "d35379db-88df-4056-af3a-620245f8e347"}


def conventions(*names):
    return {"zarr_conventions": [{"name": name, "uuid": UUIDS[name]} for name in names]}


SPATIAL = {"spatial:dimensions": ["y", "x"], "spatial:shape": [ROWS, COLUMNS],
           "spatial:transform": TRANSFORM, "spatial:bbox": [499500.0, 4994500.0, 507500.0,
                                                            5000500.0]}


@builder(of="spatial and proj")
def geozarr_of_the_array(store):
    store.group()
    return store.utm(conventions("proj:", "spatial:") | SPATIAL | {
        "proj:code": ZONE, "spatial:registration": "pixel"}, with_axes=False)


@builder(of="spatial and proj")
def geozarr_of_the_group(store):
    store.group(**conventions("proj:", "spatial:"), **SPATIAL, **{"proj:wkt2": wkt(ZONE)})
    return store.utm(with_axes=False)


@builder(of="spatial and proj")
def geozarr_of_points(store):
    """Node registration: the transform is for the centres."""
    store.group()
    centres = [1000.0, 0.0, 500000.0, 0.0, -1000.0, 5000000.0]
    return store.utm(conventions("proj:", "spatial:") | {
        "proj:code": ZONE, "spatial:dimensions": ["y", "x"], "spatial:transform": centres,
        "spatial:registration": "node"}, with_axes=False)


def level_attributes(size):
    a, b, c, d, e, f = TRANSFORM
    return {"spatial:shape": [ROWS // size, COLUMNS // size],
            "spatial:transform": [a * size, b, c, d, e * size, f]}


def pyramid():
    """The sizes of cells of three levels, and the attribute that lists them."""
    sizes = {"r10m": 1, "r20m": 2, "r40m": 4}
    layout = [{"asset": name, "transform": {"scale": [float(size)] * 2, "translation": [0.0, 0.0]},
               **level_attributes(size)} for name, size in sizes.items()]
    for entry in layout[1:]:
        entry["derived_from"] = "r10m"
    return sizes, {"multiscales": {"layout": layout}}


@builder(of="spatial and proj")
def geozarr_pyramid(store):
    sizes, multiscales = pyramid()
    store.group(**conventions("multiscales", "proj:", "spatial:"), **multiscales,
                **{"proj:code": ZONE, "spatial:dimensions": ["y", "x"]})
    for name, size in sizes.items():
        store.group(name)
        store.array(f"{name}/v", VALUES[:ROWS // size, :COLUMNS // size].copy(), ["y", "x"])
    return on_grid("/r10m/v", ZONE, EASTINGS, NORTHINGS)


@builder(of="spatial and proj")
def geozarr_of_another_shape(store):
    store.group()
    store.array("v", VALUES, ["y", "x"], {
        "proj:code": ZONE, "spatial:shape": [ROWS * 2, COLUMNS * 2],
        "spatial:transform": TRANSFORM, "spatial:dimensions": ["y", "x"]})
    return Nowhere("/v", has_crs=True, warnings=[r"spatial:shape.*\[6,8\]"])


@builder(of="spatial and proj")
def geozarr_with_bands_last(store):
    store.group(**{"proj:code": ZONE, "spatial:dimensions": ["y", "x"],
                   "spatial:shape": [ROWS, COLUMNS], "spatial:transform": TRANSFORM})
    store.array("v", np.repeat(VALUES[:, :, None], 3, 2), None)
    return on_grid("/v", ZONE, EASTINGS, NORTHINGS)


@builder(of="Sentinel-2")
def sentinel_2(store):
    """STAC's attributes of the array, and coordinates as whole numbers."""
    group = ""
    store.group(stac_discovery={"properties": {"proj:epsg": 32632}},
                other_metadata={"horizontal_CRS_code": ZONE})
    for part in ("measurements/", "reflectance/", "r10m/"):
        group += part
        store.group(group)
    store.axes(EASTINGS, NORTHINGS, group=group, dtype="i8")
    return store.utm({
        "proj:epsg": 32632, "proj:wkt2": wkt(ZONE), "proj:shape": [ROWS, COLUMNS],
        "proj:transform": [*TRANSFORM, 0, 0, 1],
        "proj:bbox": [499500.0, 4994500.0, 507500.0, 5000500.0],
        "scale_factor": 0.0001, "add_offset": -0.1, "units": "digital_counts",
        "_eopf_attrs": {"coordinates": ["x", "y"], "dimensions": ["y", "x"]},
    }, name="b02", group=group, with_axes=False)


@builder(of="EOPF Explorer")
def sentinel_2_in_geozarr(store):
    """Each level is a group with conventions, coordinates and a grid mapping of its own."""
    sizes, multiscales = pyramid()
    common = {"proj:code": ZONE, "spatial:dimensions": ["y", "x"]}
    group = "measurements/reflectance"
    for name in ("", "measurements"):
        store.group(name)
    store.group(group, **conventions("multiscales", "proj:", "spatial:"), **multiscales, **common)
    for name, size in sizes.items():
        shift, rows, columns = 500 * (size - 1), ROWS // size, COLUMNS // size
        store.group(f"{group}/{name}", **conventions("proj:", "spatial:"), **common,
                    **level_attributes(size))
        store.scalar(f"{group}/{name}/spatial_ref", {"crs_wkt": wkt(ZONE)})
        store.axes(EASTINGS[0] + shift + 1000.0 * size * np.arange(columns),
                   NORTHINGS[0] - shift - 1000.0 * size * np.arange(rows), X, Y,
                   group=f"{group}/{name}/")
        store.array(f"{group}/{name}/b02", VALUES[:rows, :columns].copy(), ["y", "x"],
                    {"grid_mapping": "spatial_ref"})
    return on_grid(f"/{group}/r10m/b02", ZONE, EASTINGS, NORTHINGS)


@builder(of="ndpyramid")
def ndpyramid(store):
    store.group(multiscales=[{"datasets": [{"path": "0", "crs": ZONE, "level": 0}]}])
    store.group("0")
    return store.utm(group="0/")


@builder(of="ndpyramid")
def carbonplan(store):
    """Level 0 is the coarsest, as in maps of tiles."""
    size = 2 * 20037508.342789244 / 64
    north = size * ROWS / 2
    store.group(multiscales=[{
        "datasets": [{"path": str(i), "pixels_per_tile": 8, "crs": "EPSG:3857", "level": i}
                     for i in (0, 1)],
        "type": "reduce", "metadata": {"method": "pyramid_reproject", "version": "0.3"}}])
    for level, factor in ((1, 1), (0, 2)):
        step = size * factor
        x, y = (step * (np.arange(n // factor) + 0.5) for n in (COLUMNS, ROWS))
        store.group(f"{level}")
        store.axes(x, north - y, group=f"{level}/")
        store.scalar(f"{level}/spatial_ref", {"crs_wkt": wkt("EPSG:3857")})
        store.array(f"{level}/climate", VALUES[None, ::factor, ::factor].copy(),
                    ["month", "y", "x"], {"grid_mapping": "spatial_ref"})
    x, y = size * (np.arange(COLUMNS) + 0.5), north - size * (np.arange(ROWS) + 0.5)
    return on_grid("/1/climate", "EPSG:3857", x, y)


@builder(of="xcube")
def xcube_levels(store):
    """Each level is a store of its own, beside `.zlevels`."""
    store.path.mkdir()
    (store.path / ".zlevels").write_text(json.dumps(
        {"version": "1.0", "num_levels": 2, "use_saved_levels": False,
         "agg_methods": {"v": "first"}}), encoding="utf-8")
    x, y = 5.05 + 0.1 * np.arange(COLUMNS), 50.05 - 0.1 * np.arange(ROWS)
    for level, factor in ((0, 1), (1, 2)):
        one = Store(store.path / f"{level}.zarr", store.zarr_format)
        one.group(Conventions="CF-1.7")
        one.scalar("crs", {"grid_mapping_name": "latitude_longitude",
                           "semi_major_axis": 6378137.0, "inverse_flattening": 298.257223563})
        shift = 0.05 * (factor - 1)
        one.axes(x[::factor] + shift, y[::factor] - shift,
                 {"standard_name": "longitude", "units": "degrees_east", "bounds": "lon_bnds"},
                 {"standard_name": "latitude", "units": "degrees_north", "bounds": "lat_bnds"},
                 ("lon", "lat"))
        one.array("v", VALUES[::factor, ::factor].copy(), ["lat", "lon"], {"grid_mapping": "crs"})
    place = on_degrees("/0.zarr/v", x, y)
    place.has_crs = True
    return place


@builder(of="OME-Zarr 0.4")
def levels_in_their_order_with_negative_scales(store):
    """OME-Zarr whose Y runs backwards: the finest level is still the finest."""
    def dataset(path, size):
        return {"path": path, "coordinateTransformations": [
            {"type": "scale", "scale": [-1000.0 * size, 1000.0 * size]}]}
    store.group(multiscales=[{"axes": ["y", "x"], "datasets": [dataset("0", 1), dataset("1", 2)]}])
    store.array("1", VALUES[::2, ::2].copy(), ["y", "x"])
    return store.utm({"crs": ZONE}, name="0")
