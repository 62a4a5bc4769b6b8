"""The store that a builder fills, and where the cells of its array lie."""
from dataclasses import dataclass, field

import numpy as np
from osgeo import osr
from stores import write_array, write_group, write_json

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

# The cells that tests look at.
CELLS = [(0, 0), (0, COLUMNS - 1), (2, 3), (4, 5), (ROWS - 1, 0), (ROWS - 1, COLUMNS - 1)]


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


def distance(longitude, latitude, place, cell):
    """From where a cell belongs, in parts of the distance to the next cell."""
    row, column = cell
    other = (row, column + 1 if column + 1 < COLUMNS else column - 1)
    step = np.hypot(place.longitudes[other] - place.longitudes[cell],
                    place.latitudes[other] - place.latitudes[cell])
    turn = (longitude - place.longitudes[cell] + 180) % 360 - 180
    return np.hypot(turn, latitude - place.latitudes[cell]) / step


def on_grid(array, crs, x, y, **options):
    """Where the cells of a grid with these coordinates in a CRS are."""
    return Placed(array, *lonlat(crs, *np.meshgrid(x, y)), **options)


def on_degrees(array, x, y, **options):
    """Likewise of longitudes and latitudes without a CRS."""
    return Placed(array, *np.meshgrid(x, y), has_crs=False, **options)


def in_swath(array="/v", **options):
    return Placed(array, LONGITUDES, LATITUDES, has_crs=False, has_geotransform=False, **options)


def write_group_v2(path, attributes):
    write_json(path / ".zgroup", {"zarr_format": 2})
    write_json(path / ".zattrs", attributes)


def write_array_v2(path, data, dims, attributes):
    """One chunk, with the names of dimensions that xarray writes."""
    write_json(path / ".zarray", {
        "zarr_format": 2, "shape": data.shape, "chunks": data.shape, "dtype": data.dtype.str,
        "order": "C", "compressor": None, "filters": None, "fill_value": None})
    names = {} if dims is None else {"_ARRAY_DIMENSIONS": list(dims)}
    write_json(path / ".zattrs", names | attributes)
    (path / (".".join("0" * data.ndim) or "0")).write_bytes(data.tobytes())


@dataclass
class Store:
    path: object
    zarr_format: int = 3

    def group(self, name="", **attributes):
        write = write_group if self.zarr_format == 3 else write_group_v2
        write(self.path / name, attributes)

    def array(self, name, data, dims, attributes=None, **options):
        """`options` are those of stores.write_array, for v3 alone."""
        path, data, attributes = self.path / name, np.asarray(data), attributes or {}
        if self.zarr_format == 3:
            write_array(path, data, names=dims, attributes=attributes, **options)
        else:
            write_array_v2(path, data, dims, attributes)

    def scalar(self, name, attributes):
        self.array(name, np.int32(0), (), attributes)

    def axis(self, name, values, attributes=None, dtype="f8"):
        """Coordinates of the dimension of the same name."""
        self.array(name, np.asarray(values, dtype), [name.rpartition("/")[2]], attributes)

    def axes(self, x, y, x_attributes=None, y_attributes=None, names=("x", "y"), group="",
             dtype="f8"):
        for name, values, attributes in ((names[0], x, x_attributes), (names[1], y, y_attributes)):
            self.axis(group + name, values, attributes, dtype)

    def utm(self, attributes=None, name="v", group="", with_axes=True):
        """A raster in UTM zone 32, and where its cells are."""
        if with_axes:
            self.axes(EASTINGS, NORTHINGS, X, Y, group=group)
        self.array(group + name, VALUES, ["y", "x"], attributes)
        return on_grid(f"/{group}{name}", ZONE, EASTINGS, NORTHINGS)

    def positions(self, dims, names=("longitude", "latitude"), longitudes=LONGITUDES,
                  latitudes=LATITUDES, group=""):
        """Longitudes and latitudes of two dimensions, by default of the swath."""
        for name, values, attributes in ((names[0], longitudes, LONGITUDE),
                                         (names[1], latitudes, LATITUDE)):
            self.array(group + name, values, dims, attributes)
