"""Shows the times of a raster with QGIS's temporal controller.

In QGIS, select a raster layer whose bands are times, and run this file in the Python console (Show
Editor, Open Script, Run). QGIS 3.38 and newer show the band of each time; older versions have one
range of time for a layer, so a group with a layer for each band is added.
"""
from osgeo import gdal
from qgis.core import QgsDateTimeRange, QgsProject, QgsRasterLayer, QgsSingleBandGrayRenderer
from qgis.PyQt.QtCore import QDateTime, Qt

try:
    from qgis.core import Qgis
    PER_BAND = Qgis.RasterTemporalMode.FixedRangePerBand
except AttributeError:
    PER_BAND = None


def band_times(source):
    """The time of each band, from the driver's metadata DIM_…_DATETIME."""
    raster = gdal.Open(source)
    times = []
    for index in range(1, raster.RasterCount + 1):
        items = raster.GetRasterBand(index).GetMetadata()
        found = [value for name, value in items.items()
                 if name.startswith("DIM_") and name.endswith("_DATETIME")]
        if not found:
            raise ValueError(f"band {index} of {source} has no time")
        times.append(QDateTime.fromString(found[0], Qt.ISODate))
    return times


def band_ranges(times):
    """Each time lasts until the next, and the last as long as the one before."""
    if len(times) < 2:
        return [QgsDateTimeRange(time, time) for time in times]
    ends = [*times[1:], times[-1].addSecs(times[-2].secsTo(times[-1]))]
    return [QgsDateTimeRange(start, end, True, False) for start, end in zip(times, ends)]


def layer_of_band(source, name, band, span):
    layer = QgsRasterLayer(source, name, "gdal")
    renderer = QgsSingleBandGrayRenderer(layer.dataProvider(), band)
    layer.setRenderer(renderer)
    layer.setDefaultContrastEnhancement()
    properties = layer.temporalProperties()
    properties.setMode(properties.ModeFixedTemporalRange)
    properties.setFixedTemporalRange(span)
    properties.setIsActive(True)
    return layer


def show_times(layer):
    """Returns the layers that are shown: this one, or the new ones."""
    ranges = band_ranges(band_times(layer.source()))
    if PER_BAND is not None:
        if len(layer.renderer().usesBands()) != 1:
            # QGIS changes the band of renderers that show one.
            layer.setRenderer(QgsSingleBandGrayRenderer(layer.dataProvider(), 1))
            layer.setDefaultContrastEnhancement()
        properties = layer.temporalProperties()
        properties.setMode(PER_BAND)
        properties.setFixedRangePerBand(dict(enumerate(ranges, 1)))
        properties.setIsActive(True)
        return [layer]
    project = QgsProject.instance()
    group = project.layerTreeRoot().insertGroup(0, layer.name())
    layers = []
    for band, span in enumerate(ranges, 1):
        name = span.begin().toString(Qt.ISODate)
        layers.append(layer_of_band(layer.source(), name, band, span))
        project.addMapLayer(layers[-1], False)
        group.addLayer(layers[-1])
    return layers


if "iface" in globals():  # QGIS's Python console has it
    show_times(iface.activeLayer())  # noqa: F821
