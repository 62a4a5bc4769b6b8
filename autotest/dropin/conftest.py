"""Tests that our driver and GDAL's built-in driver both pass: programs see no difference.

They run twice: on the plugin, and with ZARR_PLUGIN_DIR=disable on the built-in driver. Where a test
cannot run on both, a marker says why:

    gdal_since("3.8")          this GDAL and its API have what is tested since 3.8: none runs before
    builtin_since("3.13")      the built-in driver does the same since 3.13
    ours_only("reason")        the built-in driver never does: the reason says how it differs
"""
import pytest
from tested_driver import BUILTIN, older_than


def pytest_configure(config):
    for marker in ("gdal_since(version)", "builtin_since(version)", "ours_only(reason)"):
        config.addinivalue_line("markers", marker)


def reason_to_skip(item):
    for marker in item.iter_markers("gdal_since"):
        if older_than(marker.args[0]):
            return f"GDAL {marker.args[0]} is the first to have it"
    for marker in item.iter_markers("builtin_since"):
        if BUILTIN and older_than(marker.args[0]):
            return f"the built-in driver of GDAL {marker.args[0]} is the first to do so"
    for marker in item.iter_markers("ours_only"):
        if BUILTIN:
            return f"the built-in driver differs: {marker.args[0]}"
    return None


def pytest_collection_modifyitems(items):
    for item in items:
        reason = reason_to_skip(item)
        if reason:
            item.add_marker(pytest.mark.skip(reason=reason))
