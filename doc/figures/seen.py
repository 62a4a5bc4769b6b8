"""What readers see while a program writes, flushes, or is killed."""
from svg import BLUE, GREEN, GREY, INK, PALE, PALE_BLUE, PALE_GREEN, RED, Drawing

LEFT, WIDTH, TOP, ROW = 220, 630, 96, 58
# Where each event is drawn, from 0 to 1.
EVENTS = [("write A", 0.0, INK), ("FlushCache() returns", 0.27, GREEN), ("write B", 0.56, INK),
          ("kill", 0.86, RED)]
FLUSHED, SECOND, KILLED = (at for _, at, _ in EVENTS[1:])
KNOWN, EITHER, OLD = PALE_GREEN, PALE_BLUE, PALE
ROWS = [
    ("the same dataset", "",
     [(0, SECOND, "A", KNOWN), (SECOND, KILLED, "B", KNOWN)]),
    ("another dataset", "of the same program",
     [(0, FLUSHED, "before, or A", EITHER), (FLUSHED, SECOND, "A", KNOWN),
      (SECOND, KILLED, "A, or B", EITHER)]),
    ("another program", "in a local folder",
     [(0, FLUSHED, "before, or A", EITHER), (FLUSHED, SECOND, "A", KNOWN),
      (SECOND, 1, "A, or B: each chunk by itself", EITHER)]),
    ("another program", "over the network",
     [(0, 1, "what its open dataset has in memory, until its own FlushCache()", OLD)]),
]


def draw():
    drawing = Drawing(880, 396, "What other datasets and programs see while one writes")
    drawing.text(24, 32, "What a reader sees of one chunk", 16, bold=True)
    for name, at, color in EVENTS:
        x = LEFT + WIDTH * at
        drawing.text(x, 70, name, 12, color, bold=True)
        drawing.line(x, 76, x, TOP + ROW * len(ROWS), color, 1, dashed=True)
    for index, (title, note, spans) in enumerate(ROWS):
        y = TOP + ROW * index
        drawing.text(24, y + (20 if note else 29), title, 13, bold=True)
        drawing.text(24, y + 38, note, 12, GREY)
        for start, end, words, fill in spans:
            drawing.box(LEFT + WIDTH * start + 2, y + 6, WIDTH * (end - start) - 4, 38, fill,
                        radius=3)
            drawing.text(LEFT + WIDTH * (start + end) / 2, y + 29, words, 12,
                         BLUE if fill == EITHER else INK, anchor="middle")
    y = TOP + ROW * len(ROWS) + 30
    drawing.text(24, y, "Each chunk or shard is always a whole one: the old or the new, never a "
                 "mixture.")
    drawing.text(24, y + 22, "After the kill, everything that was flushed is stored. Some chunks "
                 "of B may be stored, each of them whole.", 13, GREY)
    return drawing
