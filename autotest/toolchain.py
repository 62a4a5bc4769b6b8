"""The generator and the compiler of the build under test: a machine may have no others."""
import os
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def _cache():
    """The entries of the build tree's CMake cache; none if the plugin was built elsewhere."""
    plugin = os.environ.get("ZARR_PLUGIN_DIR") or "disable"
    folder = ROOT / "build/release" if plugin == "disable" else Path(plugin).resolve().parent
    path = folder / "CMakeCache.txt"
    text = path.read_text() if path.exists() else ""
    return dict(re.findall(r"^(\w+):\w+=(.*)$", text, re.MULTILINE))


CACHE = _cache()
COMPILER = CACHE.get("CMAKE_CXX_COMPILER", "c++")
# The first options of `cmake` for a new build tree.
CONFIGURE = ("-G", CACHE.get("CMAKE_GENERATOR", "Ninja"), f"-DCMAKE_CXX_COMPILER={COMPILER}")
