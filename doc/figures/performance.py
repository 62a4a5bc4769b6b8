"""Bars of the seconds that programs take with this driver and with GDAL's own, and ticks where they
would be with an uncompressed GeoTIFF, or if they only ran the codec.

The numbers are in performance.json: make.py --results takes them from what script/bench measured.
"""
import json
import math
import sys
from pathlib import Path

from svg import BLUE, GREY, INK, PALE, RED, Drawing

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "autotest/benchmark"))

from program_table import builtin, floor, geometric_mean, ratio  # noqa: E402

FILE = HERE / "performance.json"
LEFT, WIDTH, ROW, TOP = 400, 400, 21, 108
KINDS = {"program": "Whole programs", "api": "Loops over the API", "chunks": "Small chunks"}


def take_results(source):
    """Keeps the best run of each driver, of all rows that both can do."""
    rows = []
    for result in json.loads(source.read_text()).values():
        if ratio(result):
            least = floor(result)
            rows.append({"kind": result["kind"], "title": result["title"],
                         "ours": round(result["runs"]["ours"]["seconds"], 3),
                         "builtin": round(builtin(result)[0]["seconds"], 3),
                         "floor": least and round(least, 3)})
    known = json.loads(FILE.read_text()) if FILE.exists() else {}
    known |= {"gdal": source.stem.removeprefix("results-"), "rows": rows}
    FILE.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n")


def draw():
    results = json.loads(FILE.read_text())
    rows = results["rows"]
    groups = [(title, [row for row in rows if row["kind"] == kind])
              for kind, title in KINDS.items()]
    groups = [(title, group) for title, group in groups if group]
    height = TOP + sum(ROW * (len(group) + 1.7) for _, group in groups) + 44
    drawing = Drawing(880, round(height), "How many times faster than GDAL's own driver")
    drawing.text(24, 32, "Times faster than GDAL's own driver", 17, bold=True)
    drawing.text(24, 56, f"GDAL {results['gdal']}, {results['machine']}. GDAL's own driver with "
                 "one or two threads, whichever is faster.", 12, GREY)
    drawing.text(24, 75, "All rows that both can do. Red: GDAL's own driver is faster. Tick: the "
                 "program with an uncompressed GeoTIFF, or the codec alone.", 12, GREY)

    most = max(row["builtin"] / row["ours"] for row in rows)
    doublings = max(2, math.ceil(math.log2(most)))

    def x_of(ratio):
        return LEFT + WIDTH * (math.log2(ratio) + 1) / (doublings + 1)

    bottom = height - 36
    for mark in (0.5, *(2 ** power for power in range(doublings + 1))):
        drawing.line(x_of(mark), TOP - 8, x_of(mark), bottom, INK if mark == 1 else PALE)
        drawing.text(x_of(mark), bottom + 18, f"{mark:g} ×", 12, GREY, anchor="middle")
    y = TOP
    for title, group in groups:
        mean = geometric_mean([row["builtin"] / row["ours"] for row in group])
        drawing.text(24, y + 14, f"{title}: {mean:.2f} × in geometric mean", 13, bold=True)
        y += ROW * 1.2
        for row in group:
            times = row["builtin"] / row["ours"]
            drawing.text(LEFT - 100, y + 14, row["title"][:58], 10.5, anchor="end")
            drawing.text(LEFT - 12, y + 14, f"{row['ours']:.2f} s", 10.5, GREY, anchor="end")
            left, right = sorted([x_of(1), x_of(times)])
            drawing.box(left, y + 3, right - left, ROW - 7, BLUE if times >= 1 else RED, "none")
            beside = right
            if row.get("floor"):
                tick = x_of(min(max(row["builtin"] / row["floor"], 0.5), 2 ** doublings))
                drawing.line(tick, y + 1, tick, y + ROW - 2, INK, 2)
                beside = tick if right < tick < right + 40 else right
            drawing.text(max(beside, x_of(1)) + 6, y + 14, f"{times:.2f}", 11)
            y += ROW
        y += ROW * 0.5
    return drawing
