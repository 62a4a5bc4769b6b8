"""QGIS without windows, one for all tests of this folder."""
import os

import pytest

os.environ["QT_QPA_PLATFORM"] = "offscreen"
# QGIS computes the statistics of the layers it loads; none may be left beside the stores.
os.environ["GDAL_PAM_ENABLED"] = "NO"


@pytest.fixture(scope="session", autouse=True)
def qgis(tmp_path_factory):
    home = tmp_path_factory.mktemp("qgis")
    os.environ["QGIS_CUSTOM_CONFIG_PATH"] = str(home)  # instead of the user's profile
    os.environ.setdefault("XDG_RUNTIME_DIR", str(home))

    from qgis.core import QgsApplication

    application = QgsApplication([], False)
    application.initQgis()
    yield application
    application.exitQgis()


@pytest.fixture(autouse=True)
def project(qgis):
    """Owns all layers of a test and deletes them: layers of a failed test would outlive QGIS."""
    from qgis.core import QgsProject

    yield QgsProject.instance()
    QgsProject.instance().clear()
