"""Drawings as SVG, which are the same bytes whenever and wherever they are made."""
from html import escape

INK, GREY, PALE, LINE = "#262a33", "#6e7480", "#eef0f4", "#b9bfca"
BLUE, PALE_BLUE, RED, GREEN, PALE_GREEN = "#266ea0", "#cfe3f2", "#c4583c", "#3b8554", "#d5ecdc"
FONT = "DejaVu Sans, Verdana, Helvetica, sans-serif"


def number(value):
    return f"{value:.1f}".removesuffix(".0")


class Drawing:
    def __init__(self, width, height, title):
        self.width, self.height, self.title = width, height, title
        self.parts = []

    def box(self, x, y, width, height, fill="white", stroke=LINE, radius=0, dashed=False, line=1):
        dashes = ' stroke-dasharray="4 3"' if dashed else ""
        self.parts.append(
            f'<rect x="{number(x)}" y="{number(y)}" width="{number(width)}" '
            f'height="{number(height)}" rx="{radius}" fill="{fill}" stroke="{stroke}" '
            f'stroke-width="{line}"{dashes}/>')

    def line(self, x0, y0, x1, y1, color=LINE, width=1, arrow=False, dashed=False):
        end = f' marker-end="url(#{color.strip("#")})"' if arrow else ""
        dashes = ' stroke-dasharray="4 3"' if dashed else ""
        self.parts.append(
            f'<line x1="{number(x0)}" y1="{number(y0)}" x2="{number(x1)}" y2="{number(y1)}" '
            f'stroke="{color}" stroke-width="{width}"{end}{dashes}/>')

    def polygon(self, points, fill, stroke=LINE):
        text = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        self.parts.append(
            f'<polygon points="{text}" fill="{fill}" stroke="{stroke}" stroke-width="0.7"/>')

    def text(self, x, y, words, size=13, color=INK, bold=False, anchor="start", mono=False):
        family = ' font-family="DejaVu Sans Mono, monospace"' if mono else ""
        weight = ' font-weight="bold"' if bold else ""
        self.parts.append(
            f'<text x="{number(x)}" y="{number(y)}" font-size="{size}" fill="{color}" '
            f'text-anchor="{anchor}"{weight}{family}>{escape(words)}</text>')

    def lines(self, x, y, words, size=13, step=18, **style):
        for index, line in enumerate(words.split("\n")):
            self.text(x, y + step * index, line, size, **style)

    def __str__(self):
        markers = "".join(
            f'<marker id="{color.strip("#")}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
            f'markerHeight="8" markerUnits="userSpaceOnUse" orient="auto">'
            f'<path d="M0 0 L8 4 L0 8 z" fill="{color}"/></marker>'
            for color in (INK, GREY, BLUE, RED, GREEN))
        start = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" '
            f'viewBox="0 0 {self.width} {self.height}" font-family="{FONT}">')
        return "\n".join([
            start, f"<title>{escape(self.title)}</title>", f"<defs>{markers}</defs>",
            f'<rect width="{self.width}" height="{self.height}" fill="white"/>',
            *self.parts, "</svg>", ""])
