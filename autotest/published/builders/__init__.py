"""Small stores with the metadata of published archives and of the conventions that they follow. The
shapes of attributes are those of the archives; their values are our own.

A builder writes a store and returns where the cells of its array lie: `Placed`, or `Nowhere`. The
truth comes from the coordinates and from PROJ, never from the driver. `sources.py` lists where the
metadata are from.
"""
from . import crs, degrees, nowhere, projected, pyramids, swaths, units
from .matrix import BUILDERS
from .sources import SOURCES
from .store import (
    CELLS,
    COLUMNS,
    GEOTRANSFORM,
    LATITUDE,
    LATITUDES,
    LONGITUDE,
    LONGITUDES,
    ROWS,
    TRANSFORM,
    VALUES,
    ZONE,
    Nowhere,
    Placed,
    Store,
    X,
    Y,
    distance,
    wkt,
)
from .units import SATELLITE

__all__ = [
    "BUILDERS", "CELLS", "COLUMNS", "GEOTRANSFORM", "LATITUDE", "LATITUDES", "LONGITUDE",
    "LONGITUDES", "ROWS", "SATELLITE", "SOURCES", "TRANSFORM", "VALUES", "ZONE", "Nowhere",
    "Placed", "Store", "X", "Y", "crs", "degrees", "distance", "nowhere", "projected", "pyramids",
    "swaths", "units", "wkt",
]
