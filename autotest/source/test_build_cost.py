"""A build stays cheap: by what the compiler makes of it, since times differ between machines."""
import build_cost
import pytest
from tree import ROOT

BUILD = ROOT / "build/release"
# Bytes of machine code for each line of a target. Twice as many for a target is a template that is
# instantiated for hundreds of types, and takes the compiler twice as long.
LIMITS = {"zarrcore/CMakeFiles/zarrcore.dir/": 110, "zarrcore/CMakeFiles/zarrcore_fast.dir/": 110,
          "driver/CMakeFiles/zarr_driver.dir/": 110}
# Objects of a target.
UNITS = 12


@pytest.fixture(scope="module")
def objects():
    if not (BUILD / ".ninja_log").exists():
        pytest.skip("build/release was not built with Ninja")
    if "CMAKE_BUILD_TYPE:STRING=Release" not in (BUILD / "CMakeCache.txt").read_text():
        pytest.skip("build/release is not optimized")
    return build_cost.objects(BUILD)


@pytest.mark.parametrize("target", LIMITS)
def test_code_for_each_line(objects, target):
    mine = [one for one in objects if one.path.startswith(target)]
    assert mine
    lines = sum(one.lines for one in mine)
    assert lines > 8_000
    assert sum(one.code for one in mine) / lines < LIMITS[target]


def test_files_are_compiled_together(objects):
    """Each object costs the headers: a dozen files apart take as long as the target in units."""
    for target in LIMITS:
        assert len([one for one in objects if one.path.startswith(target)]) <= UNITS
