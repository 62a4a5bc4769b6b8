"""Layers of QGIS, and the pictures that it draws of them."""
import numpy as np
from osgeo import gdal_array
from qgis.core import (
    QgsColorRampShader,
    QgsContrastEnhancement,
    QgsCoordinateReferenceSystem,
    QgsMapRendererParallelJob,
    QgsMapSettings,
    QgsProject,
    QgsRasterLayer,
    QgsRasterShader,
    QgsRectangle,
    QgsSingleBandGrayRenderer,
    QgsSingleBandPseudoColorRenderer,
)
from qgis.PyQt.QtCore import QSize
from qgis.PyQt.QtGui import QColor, QImage

BACKGROUND = (0, 0, 255)  # shows missing data, because no gray is blue


def open_layer(name):
    layer = QgsRasterLayer(str(name), "layer", "gdal")
    assert layer.isValid(), layer.error().message()
    return QgsProject.instance().addMapLayer(layer)


def show_gray(layer, band, low, high):
    """From black, at `low` and below, to white, at `high` and above."""
    provider = layer.dataProvider()
    renderer = QgsSingleBandGrayRenderer(provider, band)
    stretch = QgsContrastEnhancement(provider.dataType(band))
    stretch.setMinimumValue(low)
    stretch.setMaximumValue(high)
    stretch.setContrastEnhancementAlgorithm(QgsContrastEnhancement.StretchToMinimumMaximum)
    renderer.setContrastEnhancement(stretch)
    layer.setRenderer(renderer)


def show_colors(layer, band, colors):
    """Colours by value, (value, (r, g, b)) in ascending order, interpolated in between."""
    ramp = QgsColorRampShader(colors[0][0], colors[-1][0])
    ramp.setColorRampType(QgsColorRampShader.Interpolated)
    ramp.setColorRampItemList(
        [QgsColorRampShader.ColorRampItem(value, QColor(*color)) for value, color in colors]
    )
    shader = QgsRasterShader()
    shader.setRasterShaderFunction(ramp)
    layer.setRenderer(QgsSingleBandPseudoColorRenderer(layer.dataProvider(), band, shader))


def draw(layer, png, size=None, crs=None, extent=None):
    """Writes a picture of the layer, by default one pixel for each of its own.

    Returns it as (3, rows, columns); `size` is (columns, rows).
    """
    settings = QgsMapSettings()
    settings.setLayers([layer])
    settings.setDestinationCrs(QgsCoordinateReferenceSystem(crs) if crs else layer.crs())
    settings.setExtent(QgsRectangle(*extent) if extent else layer.extent())
    settings.setOutputSize(QSize(*(size or (layer.width(), layer.height()))))
    settings.setBackgroundColor(QColor(*BACKGROUND))
    job = QgsMapRendererParallelJob(settings)
    job.start()
    job.waitForFinished()
    assert not job.errors(), [error.message for error in job.errors()]
    assert job.renderedImage().convertToFormat(QImage.Format_RGB888).save(str(png))
    return gdal_array.LoadFile(str(png))


def gray(data, low, high):
    """The expected result of `show_gray` and `draw` for data, masked where it is missing."""
    level = np.clip((np.ma.filled(data, low) - low) / (high - low) * 255, 0, 255)
    mask = np.ma.getmaskarray(data)
    return np.stack([np.where(mask, channel, level) for channel in BACKGROUND])


def assert_same_picture(got, want, tolerance=1.01):
    assert got.shape == want.shape
    difference = np.abs(got.astype("f8") - want).max(axis=0)
    assert difference.max() <= tolerance, (
        f"{(difference > tolerance).sum()} of {difference.size} pixels differ, by up to"
        f" {difference.max():.0f}; first at {np.argwhere(difference > tolerance)[0]}"
    )
