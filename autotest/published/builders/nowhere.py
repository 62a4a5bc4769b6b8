"""Axes that are on no map."""
import numpy as np

from .matrix import builder
from .store import COLUMNS, LATITUDE, LONGITUDE, ROWS, TIME, VALUES, Nowhere, X


def builds_nowhere(name, of, y, x, group=None, **attributes):
    @builder(of, name)
    def build(store):
        store.group(**(group or {}))
        dims = []
        for (dim, axis_attributes), size in ((y, ROWS), (x, COLUMNS)):
            store.array(dim, np.arange(1.0, size + 1), [dim], axis_attributes)
            dims.append(dim)
        store.array("v", VALUES, dims, attributes)
        return Nowhere("/v")


builds_nowhere("sentinel_1_grd", "Sentinel-1", ("azimuth_time", TIME),
               ("ground_range", {"units": "m"}),
               {"stac_discovery": {"properties": {"proj:epsg": 4326}}}, _eopf_attrs={})
builds_nowhere("hovmoeller", "CF", ("time", TIME), ("lon", LONGITUDE))
builds_nowhere("section", "CF", ("depth", {"units": "m", "positive": "down", "axis": "Z"}),
               ("lat", LATITUDE))
builds_nowhere("healpix", "nextGEMS", ("time", TIME), ("cell", {"units": "1"}))
builds_nowhere("spectra", "CF", ("wavelength", {"units": "nm"}), ("x", X))


@builder(of="CF")
def trajectories(store):
    """Two dimensions of longitudes and latitudes, which belong to lines of points."""
    store.group(featureType="trajectory")
    store.positions(["trajectory", "obs"], ("lon", "lat"))
    store.array("v", VALUES, ["trajectory", "obs"], {"coordinates": "lon lat"})
    return Nowhere("/v")


# Cells of a sphere


def builds_cells(name, of, dim, cells, **array_attributes):
    @builder(of, name)
    def build(store):
        store.group()
        store.axis("time", 3600.0 * np.arange(ROWS), TIME)
        store.array("cell_ids", np.arange(COLUMNS, dtype="u8"), [dim], cells)
        store.array("v", VALUES, ["time", dim], {"coordinates": "cell_ids"} | array_attributes)
        return Nowhere("/v")


builds_cells("xdggs_healpix", "xdggs", "cells",
             {"grid_name": "healpix", "level": 4, "indexing_scheme": "nested"})
builds_cells("xdggs_h3", "xdggs", "cells", {"grid_name": "h3", "level": 5})
builds_cells("dggs_h3", "dggs", "cell", {}, zarr_conventions=[
    {"name": "dggs", "uuid": "7b255807-140c-42ca-97f6-7a1cfecdbc38"}], dggs={
        "name": "h3", "refinement_level": 5, "spatial_dimension": "cell", "coordinate": "cell_ids",
        "compression": "none", "ellipsoid": {"name": "sphere", "radius": 6370997.0}})


@builder(of="nextGEMS")
def healpix_by_grid_mapping(store):
    store.group()
    store.scalar("crs", {"grid_mapping_name": "healpix", "healpix_nside": 16,
                         "healpix_order": "nest"})
    store.axis("time", 3600.0 * np.arange(ROWS), TIME)
    store.array("v", VALUES, ["time", "cell"], {"grid_mapping": "crs"})
    return Nowhere("/v")


# Meshes: their cells have longitudes and latitudes, but no rows and columns


def write_cells(store, dim, names, unit):
    for name, values, standard in zip(
            names, (10 + 0.5 * np.arange(COLUMNS), 50 - 0.1 * np.arange(COLUMNS)),
            ("longitude", "latitude"), strict=True):
        store.array(name, np.radians(values) if unit == "radian" else values, [dim],
                    {"standard_name": standard, "units": unit, "bounds": f"{name}_vertices"})


@builder(of="ICON")
def icon_mesh(store):
    store.group()
    write_cells(store, "ncells", ("clon", "clat"), "radian")
    store.axis("time", 3600.0 * np.arange(ROWS), TIME)
    store.array("v", VALUES, ["time", "ncells"],
                {"coordinates": "clat clon", "CDI_grid_type": "unstructured"})
    return Nowhere("/v")


@builder(of="UGRID")
def ugrid_mesh(store):
    store.group(Conventions="CF-1.8 UGRID-1.0")
    store.scalar("mesh2d", {
        "cf_role": "mesh_topology", "topology_dimension": 2, "face_dimension": "nFaces",
        "node_coordinates": "node_x node_y", "face_coordinates": "face_x face_y",
        "face_node_connectivity": "face_nodes"})
    for names, dim in ((("node_x", "node_y"), "nNodes"), (("face_x", "face_y"), "nFaces")):
        write_cells(store, dim, names, "degrees")
    store.array("face_nodes", np.zeros((COLUMNS, 3), "i4"), ["nFaces", "three"],
                {"cf_role": "face_node_connectivity", "start_index": 0})
    store.array("v", VALUES, ["time", "nFaces"], {
        "mesh": "mesh2d", "location": "face", "coordinates": "face_x face_y"})
    return Nowhere("/v")


@builder(of="ARCO-ERA5")
def arco_era5_raw(store):
    """Points of a reduced Gaussian grid, one row after the other."""
    store.group()
    for name, attributes, values in (
            ("longitude", LONGITUDE, 0.28 * np.arange(COLUMNS)),
            ("latitude", LATITUDE, np.full(COLUMNS, 89.78))):
        store.array(name, values, ["values"], attributes)
    store.axis("time", 3600.0 * np.arange(ROWS), TIME)
    store.array("v", VALUES, ["time", "values"], {
        "coordinates": "depthBelowLandLayer latitude longitude number step valid_time",
        "GRIB_gridType": "reduced_gg"})
    return Nowhere("/v")


# Images of microscopes


def image(size):
    axes = [{"name": name, "type": "space", "unit": "micrometer"} for name in "yx"]
    return {"axes": axes, "name": "image", "datasets": [
        {"path": str(i), "coordinateTransformations": [
            {"type": "scale", "scale": [size * factor, size * factor]}]}
        for i, factor in enumerate((1, 2))]}


def write_image(store):
    for i, factor in enumerate((1, 2)):
        store.array(str(i), VALUES[::factor, ::factor].copy(), ["y", "x"])
    return Nowhere("/0")


@builder(of="OME-Zarr 0.4")
def ome_zarr_4(store):
    store.group(multiscales=[image(0.36) | {"version": "0.4"}])
    return write_image(store)


@builder(of="OME-Zarr 0.5")
def ome_zarr_5(store):
    store.group(ome={"version": "0.5", "multiscales": [image(0.36)]})
    return write_image(store)
