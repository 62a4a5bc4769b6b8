"""A window of an array, and the chunks that are read for it."""
from svg import BLUE, GREY, PALE, PALE_BLUE, RED, Drawing

SIZE, COLUMNS, ROWS = 64, 6, 4
LEFT, TOP = 24, 58
FIRST, LAST = (1, 1), (3, 2)  # column and row of the chunks that the window touches


def draw():
    drawing = Drawing(880, 352, "The window touches six chunks; only their files are read")
    drawing.text(LEFT, 32, "An array of 24 chunks, and a window", 16, bold=True)
    for row in range(ROWS):
        for column in range(COLUMNS):
            x, y = LEFT + SIZE * column, TOP + SIZE * row
            read = FIRST[0] <= column <= LAST[0] and FIRST[1] <= row <= LAST[1]
            drawing.box(x, y, SIZE, SIZE, PALE_BLUE if read else PALE)
            drawing.text(x + 6, y + 16, f"{row}.{column}", 11, BLUE if read else GREY, mono=True)
    drawing.box(LEFT + 1.45 * SIZE, TOP + 1.5 * SIZE, 2.1 * SIZE, 0.95 * SIZE, "none", RED, line=2)
    drawing.text(LEFT + 2.5 * SIZE, TOP + 2.05 * SIZE, "window", 13, RED, bold=True,
                 anchor="middle")

    x, y = 470, TOP
    drawing.text(x, 32, "The store: a file for each chunk", 16, bold=True)
    files = [(".zarray", False), ("0.0", False), ("…", False)]
    for row in range(FIRST[1], LAST[1] + 1):
        files += [(f"{row}.{column}", True) for column in range(FIRST[0], LAST[0] + 1)]
    for name, read in [*files, ("…", False), ("3.5", False)]:
        drawing.box(x, y, 86, 20, PALE_BLUE if read else PALE)
        drawing.text(x + 8, y + 14, name, 11, BLUE if read else GREY, mono=True)
        y += 23
    drawing.lines(x + 108, TOP + 96,
                  "read and decoded in parallel,\nby one plan for the whole window", color=BLUE)
    drawing.lines(x + 108, TOP + 16, "metadata: shape, chunks,\ndata type, codecs", color=GREY)
    drawing.lines(x + 108, TOP + 222,
                  "the other files are not touched;\na missing file is the fill value", color=GREY)
    drawing.text(LEFT, 340, "In general, a chunk is read and decoded as a whole, however little of "
                 "it is in the window.", 13, GREY)
    return drawing
