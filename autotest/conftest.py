"""Makes sure that the driver under test is the plugin of this tree, or GDAL's built-in driver.

The plugin is looked for in ZARR_PLUGIN_DIR, else where `cmake --build --preset release` puts it.
With ZARR_PLUGIN_DIR=disable the tests of autotest/dropin run on the built-in driver.
"""
import os
from pathlib import Path

import night
import pytest

ROOT = Path(__file__).resolve().parents[1]
BUILTIN = os.environ.get("ZARR_PLUGIN_DIR") == "disable"
PLUGIN_DIR = Path(os.environ.get("ZARR_PLUGIN_DIR") or ROOT / "build/release/driver").resolve()

if not BUILTIN and not list(PLUGIN_DIR.glob("gdal_Zarr.*")):
    pytest.exit(f"no gdal_Zarr plugin in {PLUGIN_DIR}: build it, or set ZARR_PLUGIN_DIR", 2)

# For processes that import a test: what is here.
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(ROOT / "autotest"), *filter(None, [os.environ.get("PYTHONPATH")])])
# GDAL reads it once, when osgeo registers the drivers.
os.environ["GDAL_DRIVER_PATH"] = "disable" if BUILTIN else str(PLUGIN_DIR)

from osgeo import gdal, osr  # noqa: E402

gdal.UseExceptions()
osr.UseExceptions()


def pytest_configure(config):
    night.configure(config)


def pytest_collection_modifyitems(config, items):
    night.select(config, items)


def pytest_sessionstart(session):
    driver = gdal.GetDriverByName("Zarr")
    if driver is None or (driver.GetMetadataItem("GDAL_ZARR_VERSION") is None) != BUILTIN:
        pytest.exit(f"GDAL did not take its Zarr driver from {os.environ['GDAL_DRIVER_PATH']}", 2)


def pytest_report_header(config):
    if BUILTIN:
        return f"GDAL {gdal.VersionInfo('RELEASE_NAME')} with its built-in driver"
    version = gdal.GetDriverByName("Zarr").GetMetadataItem("GDAL_ZARR_VERSION")
    return f"GDAL {gdal.VersionInfo('RELEASE_NAME')}, gdal-zarr {version} from {PLUGIN_DIR}"


@pytest.fixture(scope="session")
def data_dir():
    return ROOT / "data"
