"""The results of programs.py as a table and as a chart."""
import math

from drivers import THREADS

KINDS = {"program": "Programs", "api": "Loops over the API", "chunks": "Small chunks"}


def builtin(result):
    """The best run of GDAL's own driver, with its threads."""
    runs = [(run, name[-1]) for name, run in result["runs"].items() if name.startswith("built-in")]
    return min(runs, key=lambda entry: entry[0]["seconds"], default=(None, ""))


def floor(result):
    """The program alone, or the codecs alone on all processors, or the work of both on all
    processors, whichever takes longest."""
    parts = [result["runs"].get(name) for name in ("alone", "decoding", "encoding")]
    alone, *codecs = [part or {"seconds": 0, "cpu": 0} for part in parts]
    both = sum(part["cpu"] for part in (alone, *codecs)) / THREADS
    return max(alone["seconds"], sum(part["seconds"] for part in codecs), both) or None


def ratio(result):
    ours, (theirs, _) = result["runs"].get("ours"), builtin(result)
    return theirs["seconds"] / ours["seconds"] if ours and theirs else None


HEADER = (f"{'row':18}{'ours':>7} {'(CPU)':>7}{'built-in':>10} {'(CPU)':>7}{'threads':>8}"
          f"{'ratio':>7}{'floor s':>9}{'floor':>7}{'MB':>6}{'theirs':>7}")


def line(result):
    def seconds(run):
        return f"{run['seconds']:.3f} {'(' + format(run['cpu'], '.2f') + ')':>7}" if run else (
            f"- {'':>7}")

    def number(value, format_of="{:.2f}"):
        return "-" if value is None else format_of.format(value)

    ours = result["runs"].get("ours")
    theirs, threads = builtin(result)
    least = floor(result)
    cells = [f"{result['name']:18}{seconds(ours):>15}{seconds(theirs):>18}{threads:>8}",
             f"{number(ratio(result)):>7}{number(least, '{:.3f}'):>9}",
             f"{number(ours and least and ours['seconds'] / least):>7}",
             f"{number(ours and ours.get('peak_mb'), '{}'):>6}",
             f"{number(theirs and theirs.get('peak_mb'), '{}'):>7}"]
    if other := result["runs"].get("other"):
        cells.append(f"  other {seconds(other)}")
        if ours:
            cells.append(f", other / ours {other['seconds'] / ours['seconds']:.2f}, "
                         f"CPU {other['cpu'] / max(ours['cpu'], 1e-6):.2f}")
    if not result["builtin_can"]:
        cells.append("  GDAL's own driver of this version cannot")
    if result["differs"]:
        cells.append("  DIFFERENT RESULTS")
    if result["failed"]:
        cells.append(f"  FAILED: {', '.join(result['failed'])}")
    return "".join(cells)


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def means(results):
    """For each kind that has ratios: its title, the geometric mean, and the row of the least."""
    for kind, title in KINDS.items():
        found = [(ratio(r), r["name"]) for r in results if r["kind"] == kind and ratio(r)]
        if found:
            yield title, geometric_mean([value for value, _ in found]), min(found), len(found)


def print_summary(results):
    print()
    for title, mean, (least, name), count in means(results):
        print(f"{title}: geometric mean of {count} rows {mean:.2f}, least {least:.2f} ({name})")


# --- The chart ------------------------------------------------------------------------------

FONTS = "/usr/share/fonts/truetype/dejavu"
FINER = 2  # The drawing is this many times larger than the picture, for smooth edges.
WIDTH, ROW, LEFT, RIGHT, TOP, BOTTOM = 1100, 26, 450, 70, 112, 46
INK, GREY, PALE = (38, 42, 51), (110, 116, 128), (226, 229, 235)
OURS, SLOWER = (38, 110, 160), (196, 88, 60)


def draw_chart(path, results, release):
    """Bars of the ratios, a line at 1, and ticks where the floor is."""
    from PIL import Image, ImageDraw, ImageFont

    shown = [(kind, [r for r in results if r["kind"] == kind and ratio(r)]) for kind in KINDS]
    shown = [(kind, rows) for kind, rows in shown if rows]
    height = TOP + BOTTOM + sum(ROW * (len(rows) + 1.6) for _, rows in shown)
    image = Image.new("RGB", (WIDTH * FINER, round(height) * FINER), "white")
    draw = ImageDraw.Draw(image)

    def text(x, y, words, size, color=INK, bold=False, anchor="lm"):
        font = ImageFont.truetype(f"{FONTS}/DejaVuSans{'-Bold' if bold else ''}.ttf", size * FINER)
        draw.text((x * FINER, y * FINER), words, fill=color, font=font, anchor=anchor)

    def box(x0, y0, x1, y1, color):
        draw.rectangle([round(v * FINER) for v in (x0, y0, x1, y1)], fill=color)

    most = max(ratio(r) for _, rows in shown for r in rows)
    low, high = math.log2(0.5), math.log2(max(8, most)) + 0.1

    def x_of(value):
        share = (math.log2(value) - low) / (high - low)
        return LEFT + min(max(share, 0), 1) * (WIDTH - RIGHT - LEFT)

    text(24, 28, "Times faster than GDAL's own driver", 20, bold=True)
    text(24, 56, f"GDAL {release}, two threads; GDAL's own driver with one or two, whichever is "
         "faster", 12, GREY)
    box(24, 74, 34, 84, PALE)
    text(40, 79, "as far as the program and the codec alone allow", 12, GREY)
    power = 0
    marks = [0.5]
    while 2 ** power <= 2 ** high:
        marks.append(2 ** power)
        power += 1
    for mark in marks:
        x = x_of(mark)
        box(x - 0.5, TOP, x + 0.5, height - BOTTOM, INK if mark == 1 else PALE)
        text(x, height - BOTTOM + 14, f"{mark:g} ×", 12, GREY, anchor="mm")
    y = TOP
    for kind, rows in shown:
        mean = geometric_mean([ratio(r) for r in rows])
        text(24, y + ROW / 2, f"{KINDS[kind]}: {mean:.2f} × in geometric mean", 14, bold=True)
        y += ROW
        for result in rows:
            value, least = ratio(result), floor(result)
            text(LEFT - 10, y + ROW / 2, result["title"], 12, anchor="rm")
            if least:
                limit = builtin(result)[0]["seconds"] / least
                box(x_of(1), y + 4, x_of(max(1, limit)), y + ROW - 4, PALE)
            left, right = sorted([x_of(1), x_of(value)])
            box(left, y + 7, right, y + ROW - 7, OURS if value >= 1 else SLOWER)
            text(right + 6, y + ROW / 2, f"{value:.2f}", 12)
            y += ROW
        y += 0.6 * ROW
    image.resize((WIDTH, round(height)), Image.LANCZOS).save(path, optimize=True)
