"""The times of bands with QGIS's temporal controller, by the script of examples/."""
import runpy
from pathlib import Path

import numpy as np
import picture
import pytest
import xarray
from qgis.core import Qgis, QgsDateTimeRange, QgsMapRendererParallelJob, QgsMapSettings
from qgis.PyQt.QtCore import QDateTime, QSize, Qt
from qgis.PyQt.QtGui import QColor

SCRIPT = Path(__file__).resolve().parents[2] / "examples/qgis/time_layers.py"
show_times = runpy.run_path(str(SCRIPT))["show_times"]
SHADES = [40, 120, 200]


@pytest.fixture
def store(tmp_path):
    frames = np.stack([np.full((6, 8), shade, "u1") for shade in SHADES])
    xarray.Dataset(
        {"a": (("time", "y", "x"), frames)},
        coords={"time": ("time", [0, 6, 12], {"units": "hours since 2024-01-01"}),
                "y": 6 - np.arange(6.0), "x": np.arange(8.0)},
    ).to_zarr(tmp_path / "a.zarr", encoding={"a": {"_FillValue": None}})
    return tmp_path / "a.zarr"


def time(text):
    return QDateTime.fromString(text, Qt.ISODate)


def drawn_shade(layers, start, end):
    """Of the layers that QGIS draws for this part of time; None where there is none."""
    settings = QgsMapSettings()
    settings.setLayers(layers)
    settings.setExtent(layers[0].extent())
    settings.setOutputSize(QSize(8, 6))
    settings.setBackgroundColor(QColor(*picture.BACKGROUND))
    settings.setIsTemporal(True)
    settings.setTemporalRange(QgsDateTimeRange(time(start), time(end), True, False))
    job = QgsMapRendererParallelJob(settings)
    job.start()
    job.waitForFinished()
    color = job.renderedImage().pixelColor(3, 3).getRgb()[:3]
    return None if color == picture.BACKGROUND else color[0]


def test_times_of_bands(store):
    layer = picture.open_layer(store)
    assert layer.renderer().usesBands() == [1, 2, 3]
    layers = show_times(layer)
    assert len(layers) == (1 if Qgis.QGIS_VERSION_INT >= 33800 else len(SHADES))
    assert all(len(shown.renderer().usesBands()) == 1 for shown in layers)
    for shown in layers:
        for band in range(1, 1 + shown.bandCount()):
            if len(layers) == 1 or shown.renderer().grayBand() == band:
                picture.show_gray(shown, band, 0, 255)
    for index, shade in enumerate(SHADES):
        start, end = (f"2024-01-01T{6 * index + hour:02}:30:00Z" for hour in (0, 4))
        assert drawn_shade(layers, start, end) == shade
    assert drawn_shade(layers, "2024-01-01T18:00:00Z", "2024-01-02T00:00:00Z") is None


def test_bands_without_time(data_dir):
    layer = picture.open_layer(data_dir / "deflection_v2.zarr")
    with pytest.raises(ValueError, match="band 1 of .*deflection_v2.zarr has no time"):
        show_times(layer)


def test_descriptions_are_the_times(store):
    layer = picture.open_layer(store)
    assert [layer.bandName(band) for band in (1, 3)] == [
        "Band 1: time=2024-01-01T00:00", "Band 3: time=2024-01-01T12:00"]
