#!/usr/bin/env python3
"""Draws a store of the geoid as a map of the world.

usage: draw_map.py STORE PICTURE

Needs osgeo, numpy, Pillow and a font
(Debian: python3-gdal python3-numpy python3-pil fonts-dejavu-core).
"""
import sys
from pathlib import Path

import numpy as np
from osgeo import gdal, ogr, osr
from PIL import Image, ImageDraw, ImageFont

FOLDER = Path(__file__).resolve().parent
FONTS = Path("/usr/share/fonts/truetype/dejavu")
TITLE = "The geoid: the shape that the sea would have at rest"
SUBTITLE = "Height of EGM96 above the ellipsoid WGS 84, in metres"
INK, GREY = (38, 42, 51), (110, 116, 128)

FINER = 2  # The drawing is this many times larger than the picture, for smooth lines.
WIDTH, HEIGHT = 1600, 990
MAP_LEFT, MAP_TOP, MAP_WIDTH = 50, 112, 1500
# Half the width and half the height of the world in the Robinson projection, in metres.
EAST, NORTH = 17005833.33, 8625154.67
MAP_HEIGHT = round(MAP_WIDTH * NORTH / EAST)

gdal.UseExceptions()
ogr.UseExceptions()
osr.UseExceptions()


def crs(definition):
    result = osr.SpatialReference()
    result.SetFromUserInput(definition)
    result.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
    return result


LONLAT, ROBINSON = crs("EPSG:4326"), crs("+proj=robin +datum=WGS84")
PROJECT = osr.CoordinateTransformation(LONLAT, ROBINSON)


def to_pixels(points):
    """The position of longitudes and latitudes in the drawing."""
    scale = FINER * MAP_WIDTH / (2 * EAST)
    return [(FINER * MAP_LEFT + (x + EAST) * scale, FINER * MAP_TOP + (NORTH - y) * scale)
            for x, y, _ in PROJECT.TransformPoints(points)]


def read(store):
    """Heights in metres, north up, and the geotransform."""
    dataset = gdal.Open(store)
    band = dataset.GetRasterBand(1)
    heights = band.ReadAsArray() * np.float32(band.GetScale() or 1)
    return heights, dataset.GetGeoTransform()


def project(store):
    """Heights and light of the map. At the edge of the world and outside it, heights are NaN."""
    heights, (x0, dx, _, y0, _, dy) = read(store)
    # One more column at either side, because the map extends to 180 degrees, beyond the centre of
    # the last pixel. Without the rows at the poles: half of their pixels is beyond 90 degrees.
    heights = np.pad(heights[1:-1], ((0, 0), (1, 1)), "wrap")
    lonlat = gdal.GetDriverByName("MEM").Create("", *heights.shape[::-1], 1, gdal.GDT_Float32)
    lonlat.SetGeoTransform((x0 - dx, dx, 0, y0 + dy, 0, dy))
    lonlat.SetSpatialRef(LONLAT)
    lonlat.GetRasterBand(1).WriteArray(heights)
    world = gdal.Warp(
        "", lonlat, format="MEM", dstSRS=ROBINSON.ExportToWkt(), resampleAlg="cubic",
        outputBounds=(-EAST, -NORTH, EAST, NORTH), width=FINER * MAP_WIDTH,
        height=FINER * MAP_HEIGHT, dstNodata=np.nan)
    # A metre of the geoid is much less than a pixel, hence the exaggeration.
    light = gdal.DEMProcessing("", world, "hillshade", format="MEM", zFactor=9000, altitude=50,
                               computeEdges=True)
    return world.ReadAsArray(), light.ReadAsArray() / 255


def read_colors():
    rows = [line.split() for line in (FOLDER / "geoid_colors.txt").read_text().splitlines()]
    rows = np.array([row[:4] for row in rows if row[0] not in ("#", "nv")], float)
    return rows[:, 0], rows[:, 1:]


def colored(heights):
    values, colors = read_colors()
    return np.stack([np.interp(heights, values, band) for band in colors.T], -1)


def outline():
    """The edge of the world, outside which the map is white."""
    latitudes = np.linspace(-90, 90, 361)
    return to_pixels([(-180, v) for v in latitudes] + [(180, v) for v in latitudes[::-1]])


def draw_graticule(draw):
    for longitude in range(-150, 180, 30):
        draw.line(to_pixels([(longitude, v) for v in range(-90, 91)]), (0, 0, 0, 34), FINER)
    for latitude in range(-60, 90, 30):
        draw.line(to_pixels([(-180, latitude), (180, latitude)]), (0, 0, 0, 34), FINER)


def draw_coastline(draw):
    dataset = ogr.Open(str(FOLDER / "coastline.geojson"))
    feature = dataset.GetLayer(0).GetNextFeature()
    for line in feature.geometry():
        points = line.GetPoints()
        # Along the edge of the map there is no coast, only the cut through land.
        part = [points[0]]
        for point in points[1:]:
            if all(abs(abs(p[0]) - 180) < 0.05 or p[1] < -89.5 for p in (part[-1], point)):
                part = [point] if len(part) < 2 else draw_part(draw, part) or [point]
            else:
                part.append(point)
        draw_part(draw, part)


def draw_part(draw, points):
    if len(points) > 1:
        draw.line(to_pixels([p[:2] for p in points]), (24, 28, 36, 225), round(1.5 * FINER),
                  joint="curve")


def font(size, bold=False):
    return ImageFont.truetype(str(FONTS / f"DejaVuSans{'-Bold' * bold}.ttf"), size * FINER)


def text(draw, x, y, words, size, color=INK, anchor="ls", bold=False, **options):
    draw.text((x * FINER, y * FINER), words, color, font(size, bold), anchor=anchor, **options)


def draw_legend(draw, image):
    left, top, width, height = 400, 905, 800, 22
    values, _ = read_colors()
    low, high = values[0], values[-1]
    bar = colored(np.linspace(low, high, width * FINER))
    bar = np.broadcast_to(bar, (height * FINER, *bar.shape)).round().astype("u1")
    image.paste(Image.fromarray(bar), (left * FINER, top * FINER))
    draw.rectangle([left * FINER, top * FINER, (left + width) * FINER, (top + height) * FINER],
                   outline=INK, width=FINER)
    for value in range(-100, 81, 20):
        x = left + width * (value - low) / (high - low)
        draw.line([(x * FINER, (top + height) * FINER), (x * FINER, (top + height + 7) * FINER)],
                  INK, FINER)
        words = f"{value:+d}".replace("-", "\N{MINUS SIGN}") if value else "0"
        text(draw, x, top + height + 12, words, 15, anchor="mt")
    text(draw, left - 16, top + height / 2, "below the ellipsoid", 15, GREY, "rm")
    text(draw, left + width + 16, top + height / 2, "above, in metres", 15, GREY, "lm")


def draw_extremes(draw, store):
    """The lowest and the highest place."""
    heights, (x0, dx, _, y0, _, dy) = read(store)
    for index in (heights.argmin(), heights.argmax()):
        row, column = np.unravel_index(index, heights.shape)
        x, y = to_pixels([(x0 + dx * (column + 0.5), y0 + dy * (row + 0.5))])[0]
        radius = 5 * FINER
        draw.ellipse([x - radius, y - radius, x + radius, y + radius], "white", INK, 2 * FINER)
        words = f"{heights[row, column]:+.0f} m".replace("-", "\N{MINUS SIGN}")
        text(draw, x / FINER + 12, y / FINER, words, 19, INK, "lm", True, stroke_width=3 * FINER,
             stroke_fill="white")


def main():
    store, picture = sys.argv[1:]
    heights, light = project(store)
    rgb = colored(heights) * np.clip(0.35 + 0.85 * light, 0, 1.12)[..., None]
    world = Image.fromarray(np.nan_to_num(rgb, nan=255).clip(0, 255).round().astype("u1"))

    image = Image.new("RGB", (FINER * WIDTH, FINER * HEIGHT), "white")
    mask = Image.new("L", image.size)
    ImageDraw.Draw(mask).polygon(outline(), 255)
    drawn = image.copy()
    drawn.paste(world, (FINER * MAP_LEFT, FINER * MAP_TOP))
    lines = ImageDraw.Draw(drawn, "RGBA")
    draw_graticule(lines)
    draw_coastline(lines)
    image.paste(drawn, mask=mask)

    draw = ImageDraw.Draw(image)
    draw.line(outline() + outline()[:1], INK, 2 * FINER, joint="curve")
    text(draw, MAP_LEFT, 52, TITLE, 32, bold=True)
    text(draw, MAP_LEFT, 84, SUBTITLE, 19, GREY)
    draw_legend(draw, image)
    draw_extremes(draw, store)
    driver = gdal.Open(store).GetDriver().GetMetadataItem(gdal.DMD_LONGNAME)
    text(draw, WIDTH - MAP_LEFT, 978, f"{Path(store).name}, {driver}, GDAL "
         f"{gdal.VersionInfo('RELEASE_NAME')}; coastline: Natural Earth", 12, GREY, "rs")
    image.resize((WIDTH, HEIGHT), Image.LANCZOS).save(picture)


if __name__ == "__main__":
    main()
