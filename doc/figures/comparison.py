"""How many stores of other implementations are read: by this driver, and by GDAL's own."""
import json
from pathlib import Path

from svg import BLUE, GREY, INK, PALE, RED, Drawing

FILE = Path(__file__).resolve().parent / "comparison.json"
LEFT, WIDTH, TOP, ROW = 200, 560, 78, 42


def draw():
    results = json.loads(FILE.read_text())
    total = sum(next(iter(results.values())).values())
    rows = [(f"GDAL {version}", numbers) for version, numbers in results.items()]
    rows.append(("this driver", {"read": total, "wrong": 0}))
    title = "Stores of other implementations that are read"
    drawing = Drawing(880, TOP + ROW * len(rows) + 44, title)
    drawing.text(24, 32, f"{title}, of {total}", 16, bold=True)
    drawing.text(24, 54, "GDAL's own driver by version, and this one with any of them", 12, GREY)
    for index, (name, numbers) in enumerate(rows):
        y = TOP + ROW * index
        read, wrong = WIDTH * numbers["read"] / total, WIDTH * numbers["wrong"] / total
        drawing.text(LEFT - 14, y + 20, name, 13, bold=name == "this driver", anchor="end")
        drawing.box(LEFT, y, WIDTH, 30, PALE, "none")
        drawing.box(LEFT, y, read, 30, BLUE, "none")
        if wrong:
            drawing.box(LEFT + read, y, wrong, 30, RED, "none")
        words = f"{numbers['read']}"
        drawing.text(LEFT + read - 10, y + 20, words, 13, "white", bold=True, anchor="end")
        if wrong:
            drawing.text(LEFT + read + wrong + 8, y + 20,
                         f"{numbers['wrong']} with wrong values", 12, RED)
    drawing.text(24, TOP + ROW * len(rows) + 26, "The stores of autotest/fixtures, which "
                 "zarr-python, xarray, rioxarray, GDAL and others have written.", 12, INK)
    return drawing
