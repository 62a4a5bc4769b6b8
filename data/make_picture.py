#!/usr/bin/env python3
"""Lets QGIS draw the geoid of this folder as a world map: geoid.jpg, the README's picture.

usage: make_picture.py [FILE]     FILE: where to put the picture, by default beside this script

Needs QGIS (Debian: python3-qgis) and GDAL_DRIVER_PATH set to the plugin's folder.
"""
import os
import sys
from pathlib import Path

os.environ["QT_QPA_PLATFORM"] = "offscreen"
os.environ["GDAL_PAM_ENABLED"] = "NO"  # leave no statistics beside the store

from qgis.core import (  # noqa: E402
    QgsApplication, QgsBilinearRasterResampler, QgsColorRampShader, QgsHillshadeRenderer,
    QgsMapRendererParallelJob, QgsMapSettings, QgsProject, QgsRasterLayer, QgsRasterShader,
    QgsRectangle, QgsSingleBandPseudoColorRenderer,
)
from qgis.PyQt.QtCore import QSize  # noqa: E402
from qgis.PyQt.QtGui import QColor, QPainter  # noqa: E402

FOLDER = Path(__file__).resolve().parent
WORLD = QgsRectangle(-180, -89.75, 179, 89.75)
SIZE = QSize(800, 400)


def read_colors(path):
    """The rows of a colour table for gdaldem, without that for no data."""
    rows = (line.split() for line in path.read_text().splitlines() if line[0] != "#")
    return [
        QgsColorRampShader.ColorRampItem(float(value), QColor(*map(int, rgb[:3])))
        for value, *rgb in rows if value != "nv"
    ]


def open_geoid():
    layer = QgsRasterLayer(str(FOLDER / "geoid_v3_sharded.zarr"), "geoid", "gdal")
    assert layer.isValid(), layer.error().message()
    QgsProject.instance().addMapLayer(layer)
    layer.resampleFilter().setZoomedInResampler(QgsBilinearRasterResampler())
    layer.resampleFilter().setZoomedOutResampler(QgsBilinearRasterResampler())
    return layer


def colored(layer):
    colors = read_colors(FOLDER / "geoid_colors.txt")
    ramp = QgsColorRampShader(colors[0].value, colors[-1].value)
    ramp.setColorRampItemList(colors)
    shader = QgsRasterShader()
    shader.setRasterShaderFunction(ramp)
    layer.setRenderer(QgsSingleBandPseudoColorRenderer(layer.dataProvider(), 1, shader))
    return layer


def shaded(layer):
    """Multiplied onto what is below. A degree is some 100 km, of which the geoid rises metres."""
    renderer = QgsHillshadeRenderer(layer.dataProvider(), 1, 315, 45)
    renderer.setZFactor(0.06)
    layer.setRenderer(renderer)
    layer.setBlendMode(QPainter.CompositionMode_Multiply)
    layer.setOpacity(0.6)
    return layer


def main():
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER / "geoid.jpg"
    application = QgsApplication([], False)
    application.initQgis()

    settings = QgsMapSettings()
    settings.setLayers([shaded(open_geoid()), colored(open_geoid())])
    settings.setDestinationCrs(settings.layers()[0].crs())
    settings.setExtent(WORLD)
    settings.setOutputSize(SIZE)
    settings.setBackgroundColor(QColor("white"))
    job = QgsMapRendererParallelJob(settings)
    job.start()
    job.waitForFinished()
    assert not job.errors(), [error.message for error in job.errors()]
    assert job.renderedImage().save(str(target), quality=90)

    QgsProject.instance().clear()
    application.exitQgis()


if __name__ == "__main__":
    main()
