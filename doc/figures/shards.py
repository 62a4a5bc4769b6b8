"""The same array as files of chunks, and as shards with inner chunks."""
from svg import BLUE, GREEN, GREY, PALE, PALE_BLUE, PALE_GREEN, RED, Drawing

INNER = 29
SHARD = 4 * INNER


def grid(drawing, left, top):
    """Two by two shards of four by four inner chunks. One is marked."""
    for row in range(8):
        for column in range(8):
            drawing.box(left + INNER * column, top + INNER * row, INNER, INNER,
                        PALE_BLUE if (row, column) == (2, 5) else PALE)
    for row in range(2):
        for column in range(2):
            drawing.box(left + SHARD * column, top + SHARD * row, SHARD, SHARD, "none", GREEN,
                        line=2)


def draw():
    drawing = Drawing(880, 386, "A shard is one file with many inner chunks and an index of them")
    left, top = 24, 58
    drawing.text(left, 32, "4 shards of 16 inner chunks", 16, bold=True)
    grid(drawing, left, top)
    drawing.lines(left, top + 2 * SHARD + 24, "Green: a shard, one file,\nthe unit of writing.\n"
                  "Blue: an inner chunk,\nthe unit of reading.", color=GREY)

    x, width = 330, 31
    drawing.text(x, 32, "One shard is one file: c/0/1", 16, bold=True)
    for part in range(16):
        drawing.box(x + width * part, 84, width, 40, PALE_BLUE if part == 9 else PALE)
    drawing.text(x + width * 9.5, 108, "9", 12, BLUE, bold=True, anchor="middle")
    drawing.box(x + width * 16, 84, 38, 40, PALE_GREEN, GREEN)
    drawing.text(x + width * 16 + 19, 108, "index", 11, GREEN, anchor="middle")
    drawing.text(x, 76, "inner chunks, each compressed by itself", 12, GREY)

    y = 176
    drawing.text(x, y, "To read the blue inner chunk", 14, bold=True)
    drawing.text(x, y + 24, "1. the index: 16 bytes for each inner chunk, then kept in memory", 13,
                 GREEN)
    drawing.text(x, y + 46, "2. the bytes of inner chunk 9; neighbours are read together", 13, BLUE)
    drawing.line(x + width * 16 + 19, 156, x + width * 16 + 19, 128, GREEN, 1.5, arrow=True)
    drawing.line(x + width * 9.5, 156, x + width * 9.5, 128, BLUE, 1.5, arrow=True)

    y = 262
    drawing.text(x, y, "To change it", 14, bold=True)
    drawing.text(x, y + 24, "the whole file is written anew, and replaces the old one at once;", 13,
                 RED)
    drawing.text(x, y + 46, "the other 15 inner chunks are copied without decoding", 13, RED)
    drawing.text(x, y + 68, "so write whole shards where you can: each is then written once", 13,
                 GREY)
    return drawing
