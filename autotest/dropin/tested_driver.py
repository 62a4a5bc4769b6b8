"""The driver that is tested: the plugin or the built-in one, and of which GDAL."""
import os

from osgeo import gdal

BUILTIN = os.environ["GDAL_DRIVER_PATH"] == "disable"


def older_than(version):
    major, minor = map(int, version.split("."))
    return int(gdal.VersionInfo()) < 1_000_000 * major + 10_000 * minor
