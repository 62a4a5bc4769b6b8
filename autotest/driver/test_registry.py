"""One store of each codec, data type, chunk grid and chunk key encoding (registry.py), and the
table in doc/comparison.md that says which are read."""
import re
from pathlib import Path

import numpy as np
import pytest
from multidim import open_array
from osgeo import gdal
from registry import ENTRIES, HAS_ALL_CODECS, table, write_entry

STORES = [pytest.param(entry, name, id=f"{entry.kind}-{name}") for entry in ENTRIES
          for name in entry.names]


def read(array):
    kind = array.GetDataType().GetClass()
    if kind == gdal.GEDTC_STRING:
        return array.Read()
    if kind == gdal.GEDTC_COMPOUND:
        fields = [component.GetName() for component in array.GetDataType().GetComponents()]
        parts = [array.GetView(f"['{name}']").ReadAsArray() for name in fields]
        return np.rec.fromarrays(parts, names=fields)
    return array.ReadAsArray()


@pytest.mark.parametrize("entry, name", STORES)
def test_read(tmp_path, entry, name):
    if entry.driver and gdal.GetDriverByName(entry.driver) is None:
        pytest.skip(f"GDAL has no driver {entry.driver}")
    write_entry(tmp_path / "a.zarr", entry, name)
    if entry.refusal:
        with pytest.raises(RuntimeError) as caught:
            read(open_array(tmp_path / "a.zarr"))
        assert entry.refusal in str(caught.value)
        return
    values = read(open_array(tmp_path / "a.zarr"))
    if isinstance(values, list):
        assert values == list(np.ravel(entry.values))
    else:
        np.testing.assert_array_equal(values, entry.values)


TREE = Path(__file__).parents[2]


needs_all_codecs = pytest.mark.skipif(not HAS_ALL_CODECS, reason="numcodecs lacks a codec")


@needs_all_codecs
def test_all_codecs_have_an_entry():
    """The names of n5. are those of the parts of N5 containers (test_n5.py)."""
    names = {"numcodecs." * (entry.kind == "filter of v2") + name
             for entry in ENTRIES for name in entry.names}
    names |= {name for entry in ENTRIES for name in entry.names}
    codecs = re.findall(r'CODEC\("([^"]+)"', (TREE / "zarrcore/codec/registry.cpp").read_text())
    assert len(codecs) > 80
    assert [name for name in codecs if name not in names and not name.startswith("n5.")] == []


@needs_all_codecs
def test_table():
    page = TREE / "doc/comparison.md"
    lines = page.read_text().split("\n")
    start = lines.index(table()[0])
    assert lines[start:lines.index("", start)] == table()
