"""Where the CRS and the position of a raster are looked for, in order."""
from svg import BLUE, GREEN, GREY, PALE_BLUE, PALE_GREEN, Drawing

CRS = [
    ("proj:code, proj:wkt2, proj:projjson", "of the array, then of the groups above it"),
    ("_CRS", "of the array: what GDAL writes by default"),
    ("grid_mapping", "a variable with crs_wkt, spatial_ref or CF's parameters"),
    ("coordinates", "a scalar among them with the same attributes"),
    ("crs", "of the array, or of its group"),
    ("spatial_ref or crs", "a variable beside the array that nothing names"),
    ("EPSG code, WKT or tile", "of a Sentinel product (EOPF), at the root"),
]
POSITION = [
    ("spatial:transform", "of the array, its level in a pyramid, or its group"),
    ("gdal:geotransform", "of the array: rotated or without coordinates"),
    ("proj:transform", "of the array, its level, or its group, as in STAC"),
    ("GeoTransform", "of the grid mapping, if coordinates do not contradict it"),
    ("coordinates of X and Y", "if they are evenly spaced; they are pixel centres"),
    ("spatial:bbox", "with a shape that shows what the box means"),
    ("the finest level", "of the pyramid to which the array belongs"),
]
WIDTH, ROW = 400, 54


def column(drawing, left, title, steps, color, pale):
    drawing.text(left, 34, title, 16, bold=True)
    for index, (name, where) in enumerate(steps):
        y = 54 + ROW * index
        if index:
            drawing.line(left + 24, y - 10, left + 24, y - 1, color, 1.3, arrow=True)
        drawing.box(left, y, WIDTH, 43, pale, color, radius=4, line=0.7)
        drawing.text(left + 16, y + 27, str(index + 1), 15, color, bold=True)
        is_code = " " not in name or "proj" in name
        drawing.text(left + 40, y + 18, name, 12.5, bold=True, mono=is_code)
        drawing.text(left + 40, y + 35, where, 11.5, GREY)


def draw():
    drawing = Drawing(880, 500, "The order in which CRS and position are looked for")
    column(drawing, 24, "CRS: the first of these", CRS, BLUE, PALE_BLUE)
    column(drawing, 456, "Position: the first of these", POSITION, GREEN, PALE_GREEN)
    drawing.lines(24, 450,
                  "Without any of them, no CRS is claimed, also if coordinates are in degrees.\n"
                  "A statement for another shape, or in units that do not fit, is skipped with "
                  "a warning.", color=GREY)
    return drawing
