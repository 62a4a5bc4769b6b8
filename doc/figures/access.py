"""Three ways to cut a cube of time, Y and X into chunks, and what a map and a series cost."""
from svg import BLUE, GREY, INK, PALE, PALE_BLUE, RED, Drawing

# Title, chunks along (time, y, x), chunks of a map, chunks of a series at a point
WAYS = [("ACCESS=SLICES", (12, 2, 2)), ("ACCESS=SERIES", (1, 6, 6)), ("ACCESS=VOLUME", (4, 3, 3))]
FACE, DEPTH = 132, 84  # of the cube as drawn
SLANT = 0.55


def project(left, top, x, y, time):
    """Of a point of the unit cube. Time goes to the back."""
    return left + FACE * x + DEPTH * time, top + FACE * y - DEPTH * SLANT * time


def cube(drawing, left, top, counts):
    times, rows, columns = counts

    def face(corners, fill):
        drawing.polygon([project(left, top, *corner) for corner in corners], fill)

    for row in range(rows):  # the first slice: a map
        for column in range(columns):
            x0, x1, y0, y1 = (column / columns, (column + 1) / columns, row / rows,
                              (row + 1) / rows)
            face([(x0, y0, 0), (x1, y0, 0), (x1, y1, 0), (x0, y1, 0)], PALE_BLUE)
    for time in range(times):
        t0, t1 = time / times, (time + 1) / times
        for column in range(columns):
            x0, x1 = column / columns, (column + 1) / columns
            face([(x0, 0, t0), (x1, 0, t0), (x1, 0, t1), (x0, 0, t1)],
                 PALE_BLUE if time == 0 else PALE)
        for row in range(rows):
            y0, y1 = row / rows, (row + 1) / rows
            face([(1, y0, t0), (1, y1, t0), (1, y1, t1), (1, y0, t1)],
                 PALE_BLUE if time == 0 else PALE)
    # A series at a point on the right face, so that it can be seen.
    start, end = project(left, top, 1, 0.62, 0), project(left, top, 1, 0.62, 1)
    drawing.line(*start, *end, RED, 2.5)


def draw():
    drawing = Drawing(880, 360, "Chunks for maps, for series, and for both")
    for index, (title, (times, rows, columns)) in enumerate(WAYS):
        left = 30 + 290 * index
        drawing.text(left, 34, title, 15, bold=True, mono=True)
        cube(drawing, left, 112, (times, rows, columns))
        drawing.text(left, 282, f"a map: {rows * columns} of {rows * columns * times} chunks", 13,
                     BLUE)
        drawing.text(left, 302, f"a series: {times} of {rows * columns * times} chunks", 13, RED)
    drawing.text(30, 340, "Blue: what is read for one map. Red: a series at one point. "
                 "X and Y are in front, time goes to the back.", 13, GREY)
    drawing.line(30, 322, 850, 322, INK, 0.3)
    return drawing
