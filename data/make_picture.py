#!/usr/bin/env python3
"""Makes geoid.jpg, the README's picture: QGIS showing the geoid of this folder, and a terminal with
gdalinfo on the same store, without and with the plugin.

usage: make_picture.py [FILE]     FILE: the picture, by default geoid.jpg beside this script

Needs QGIS, Pillow and a font (Debian: qgis xvfb xauth python3-pil fonts-dejavu-core), GDAL's
programs, and GDAL_DRIVER_PATH set to the plugin's folder. GDAL alone must fail to read the store,
as GDAL 3.6 does.
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(os.environ.get("GEOID_FOLDER") or Path(__file__).parent).resolve()
STORE = "data/geoid_v3_sharded.zarr"
# A store that is dragged from a file manager opens by this path.
STORE_PATH = str(FOLDER.parent / STORE)
FONTS = Path("/usr/share/fonts/truetype/dejavu")
SIZE = 1280, 690
COMMANDS = [{"GDAL_DRIVER_PATH": "disable"}, {}]


# --- In QGIS -------------------------------------------------------------------------------------

def read_colors():
    """The rows of a colour table for gdaldem, without the row for missing data."""
    from qgis.core import QgsColorRampShader
    from qgis.PyQt.QtGui import QColor

    rows = [line.split() for line in (FOLDER / "geoid_colors.txt").read_text().splitlines()]
    return [QgsColorRampShader.ColorRampItem(float(row[0]), QColor(*map(int, row[1:4])))
            for row in rows if row[0] not in ("#", "nv")]


def open_geoid(name):
    from qgis.core import QgsBilinearRasterResampler, QgsRasterLayer

    layer = QgsRasterLayer(STORE_PATH, name, "gdal")
    assert layer.isValid(), layer.error().message()
    layer.resampleFilter().setZoomedInResampler(QgsBilinearRasterResampler())
    layer.resampleFilter().setZoomedOutResampler(QgsBilinearRasterResampler())
    return layer


def colored(layer):
    from qgis.core import (
        QgsColorRampLegendNodeSettings,
        QgsColorRampShader,
        QgsRasterShader,
        QgsSingleBandPseudoColorRenderer,
    )

    colors = read_colors()
    ramp = QgsColorRampShader(colors[0].value, colors[-1].value)
    ramp.setColorRampItemList(colors)
    legend = QgsColorRampLegendNodeSettings()
    legend.setSuffix(" m")
    ramp.setLegendSettings(legend)
    shader = QgsRasterShader()
    shader.setRasterShaderFunction(ramp)
    layer.setRenderer(QgsSingleBandPseudoColorRenderer(layer.dataProvider(), 1, shader))
    return layer


def shaded(layer):
    """Multiplied with the colours below. A degree is about 100 km, in which the geoid rises by
    metres."""
    from qgis.core import QgsHillshadeRenderer
    from qgis.PyQt.QtGui import QPainter

    renderer = QgsHillshadeRenderer(layer.dataProvider(), 1, 315, 45)
    renderer.setZFactor(0.06)
    layer.setRenderer(renderer)
    layer.setBlendMode(QPainter.CompositionMode_Multiply)
    layer.setOpacity(0.6)
    return layer


def coastlines():
    from qgis.core import QgsApplication, QgsFillSymbol, QgsSingleSymbolRenderer, QgsVectorLayer

    path = f"{QgsApplication.pkgDataPath()}/resources/data/world_map.gpkg|layername=countries"
    layer = QgsVectorLayer(path, "world_map.gpkg: countries", "ogr")
    assert layer.isValid(), layer.error().message()
    layer.setRenderer(QgsSingleSymbolRenderer(QgsFillSymbol.createSimple({
        "style": "no", "outline_color": "40,44,52", "outline_width": "0.2"})))
    return layer


def show_and_grab(iface, target):
    """Arranges QGIS's window, and saves a picture of it when the map is drawn."""
    from qgis.core import QgsProject, QgsRectangle
    from qgis.PyQt.QtCore import Qt, QTimer
    from qgis.PyQt.QtWidgets import QApplication, QDockWidget, QToolBar

    window, canvas = iface.mainWindow(), iface.mapCanvas()
    window.showNormal()
    window.resize(*SIZE)
    for bar in window.findChildren(QToolBar):
        bar.setVisible(bar.objectName() in ("mFileToolBar", "mMapNavToolBar", "mAttributesToolBar"))
    for dock in window.findChildren(QDockWidget):
        dock.setVisible(dock.objectName() == "Layers")

    project = QgsProject.instance()
    project.setTitle("geoid")
    layers = [coastlines(), shaded(open_geoid("Hillshade")),
              colored(open_geoid("geoid_v3_sharded.zarr"))]
    for layer in reversed(layers):
        project.addMapLayer(layer)
    project.layerTreeRoot().findLayer(layers[1].id()).setExpanded(False)
    project.setCrs(layers[2].crs())
    iface.setActiveLayer(layers[2])
    docks = [dock for dock in window.findChildren(QDockWidget) if dock.objectName() == "Layers"]

    def grab():
        project.setDirty(False)
        assert window.grab().save(target)
        QApplication.instance().exit(0)
        os._exit(0)  # QGIS asks no more questions, and does not report how it ended

    def draw():
        window.resizeDocks(docks, [270], Qt.Horizontal)
        QTimer.singleShot(1000, zoom)

    def zoom():
        canvas.setExtent(QgsRectangle(-180, -89.75, 179, 89.75))
        canvas.mapCanvasRefreshed.connect(lambda: QTimer.singleShot(2000, grab))
        canvas.refresh()

    QTimer.singleShot(2000, draw)


# --- Around it -----------------------------------------------------------------------------------

def qgis_window(folder):
    from PIL import Image

    target = folder / "window.png"
    environment = os.environ | {
        "GEOID_PICTURE": str(target), "GEOID_FOLDER": str(FOLDER),
        "GDAL_PAM_ENABLED": "NO",  # leave no statistics beside the store
    }
    screen = f"-screen 0 {SIZE[0]}x{SIZE[1]}x24"
    subprocess.run(["xvfb-run", "-a", "-s", screen, "qgis", "--nologo", "--noversioncheck",
                    "--profiles-path", folder / "profile",
                    "--code", Path(__file__).resolve()], check=True, timeout=300, env=environment)
    return Image.open(target).convert("RGB")


def terminal_lines():
    """The input in white, and GDAL's output."""
    for variables in COMMANDS:
        words = [f"{name}={value}" for name, value in variables.items()]
        yield "$ " + " ".join([*words, "gdalinfo", STORE]), "white"
        result = subprocess.run(
            ["gdalinfo", "-nomd", STORE], capture_output=True, text=True, cwd=FOLDER.parent,
            env=os.environ | variables)
        assert (result.returncode == 0) == (not variables), result
        for line in (result.stderr + result.stdout).splitlines():
            if line.startswith(("ERROR", "gdalinfo failed")):
                yield line, "#ff8f80"
            elif line.startswith(("Driver", "Size", "Origin", "Pixel", "Band")):
                yield line, "#a5e075" if line.startswith("Driver") else "#c8ccd4"


def terminal():
    from PIL import Image, ImageDraw, ImageFont

    font = ImageFont.truetype(str(FONTS / "DejaVuSansMono.ttf"), 17)
    lines = list(terminal_lines())
    image = Image.new("RGB", (SIZE[0], 26 * len(lines) + 36), "#1f2329")
    draw = ImageDraw.Draw(image)
    for index, (line, color) in enumerate(lines):
        draw.text((22, 18 + 26 * index), line, color, font)
    return image


def main():
    from PIL import Image

    target = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER / "geoid.jpg"
    with tempfile.TemporaryDirectory() as folder:
        parts = [qgis_window(Path(folder)), terminal()]
    picture = Image.new("RGB", (SIZE[0], sum(part.height for part in parts)))
    top = 0
    for part in parts:
        picture.paste(part, (0, top))
        top += part.height
    picture.save(target, quality=88)


if "GEOID_PICTURE" in os.environ:
    from qgis.utils import iface as qgis_iface

    show_and_grab(qgis_iface, os.environ["GEOID_PICTURE"])
elif __name__ == "__main__":
    main()
