"""Stores that the tests of bad input damage."""
import pytest

# Its assertions explain themselves, like those of tests.
pytest.register_assert_rewrite("bad_stores")

from bad_stores import DATA  # noqa: E402
from stores import BYTES, GZIP, write_array, write_group  # noqa: E402
from v2_stores import write_v2  # noqa: E402


@pytest.fixture
def v3(tmp_path):
    write_group(tmp_path)
    for name in ("good", "bad"):
        write_array(tmp_path / name, DATA, (4, 4), [BYTES, GZIP])
    return tmp_path


@pytest.fixture
def v2(tmp_path):
    for name in ("good", "bad"):
        write_v2(tmp_path, name, DATA, chunks=(4, 4))
    return tmp_path
