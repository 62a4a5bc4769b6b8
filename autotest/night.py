"""What runs by day, in minutes, and what only `script/test --night` runs, in hours.

A test marked `night` runs by night alone. A test marked `each_value("first", "second")` runs by day
with some of its parameters' combinations, in which each value of the named parameters occurs at
least once (of all parameters, if none is named), and by night with all combinations.
"""
import os

import pytest

IS_NIGHT = os.environ.get("ZARR_NIGHT") == "1"


def rounds(day, night):
    """How often a test repeats something."""
    return night if IS_NIGHT else day


def configure(config):
    config.addinivalue_line("markers", "night: runs with script/test --night alone")
    config.addinivalue_line("markers", "each_value(*names): by day with each value of the named "
                                       "parameters, by night with all combinations")


def by_day(items):
    """The items that run by day, and those that do not."""
    seen = {}
    runs, waits = [], []
    for item in items:
        marker = item.get_closest_marker("each_value")
        if item.get_closest_marker("night"):
            waits.append(item)
        elif marker is None or not hasattr(item, "callspec"):
            runs.append(item)
        else:
            values = item.callspec.params
            wanted = {(name, repr(values[name])) for name in marker.args or values}
            met = seen.setdefault(item.location[:1] + (item.originalname,), set())
            (runs if wanted - met else waits).append(item)
            met |= wanted
    return runs, waits


def select(config, items):
    if IS_NIGHT:
        return
    # A test that is selected by its name runs at any time.
    named = [argument for argument in config.args if "::" in argument]
    runs, waits = by_day(items)
    if named and not runs:
        return
    if waits:
        config.hook.pytest_deselected(items=waits)
        items[:] = runs


each_value = pytest.mark.each_value
night = pytest.mark.night
