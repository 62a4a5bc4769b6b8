"""Styles and statistics that QGIS keeps for a layer are found when it is opened again."""
import picture
import pytest
from osgeo import gdal
from qgis.core import QgsRasterBandStats, QgsRasterLayer
from test_qgis import write_projected


@pytest.fixture
def store(tmp_path):
    return write_projected(tmp_path / "a.zarr", 32633, -100.0)


@pytest.mark.parametrize("name", ["{}", 'ZARR:"{}":/letter'])
def test_default_style(store, name):
    """Beside the store, as for a file; of a name with an array, in the user's profile."""
    name = name.format(store)
    layer = picture.open_layer(name)
    picture.show_gray(layer, 1, 17, 4711)
    layer.renderer().setOpacity(0.37)
    message, is_saved = layer.saveDefaultStyle()
    assert is_saved, message
    assert (store.parent / "a.qml").exists() == (name == str(store))
    renderer = QgsRasterLayer(name, "again", "gdal").renderer()
    assert renderer.opacity() == 0.37
    assert renderer.contrastEnhancement().maximumValue() == 4711


def test_the_style_survives_changes_of_the_store(store):
    layer = picture.open_layer(store)
    layer.renderer().setOpacity(0.37)
    layer.saveDefaultStyle()
    raster = gdal.Open(str(store), gdal.GA_Update)
    raster.SetMetadataItem("title", "new")
    raster.GetRasterBand(1).Fill(7)
    del raster
    assert QgsRasterLayer(str(store), "again", "gdal").renderer().opacity() == 0.37


def test_statistics_are_kept_beside_the_store(store, project, monkeypatch):
    monkeypatch.setenv("GDAL_PAM_ENABLED", "YES")
    layer = picture.open_layer(store)
    statistics = layer.dataProvider().bandStatistics(1, QgsRasterBandStats.All)
    project.clear()  # closes the layer
    assert [path.name for path in store.parent.iterdir()] == ["a.zarr"]
    assert list(store.rglob("gdal.aux.xml"))
    raster = gdal.Open(str(store))
    band = raster.GetRasterBand(1)
    low, high, mean, _ = band.GetStatistics(False, False)
    assert (low, high) == (statistics.minimumValue, statistics.maximumValue)
    assert mean == pytest.approx(statistics.mean)
