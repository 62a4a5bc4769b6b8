"""Each folder includes only what stands below it in the tables of doc/architecture.md."""
import re

import pytest
from tree import CODE_FOLDERS, CPP, files, includes, text


def layers(top):
    """The folders of the table for `driver` or `zarrcore`, from top to bottom."""
    rows = re.findall(rf"^\| `({top}/[\w/]+)/` \|", text("doc/architecture.md"), re.MULTILINE)
    assert len(rows) == len(set(rows)) > 5
    return rows


def folder(path):
    return str(path.parent)


def code(*folders):
    return [path for path in files(*folders, suffixes=CPP) if folder(path) not in CODE_FOLDERS]


@pytest.mark.parametrize("top", CODE_FOLDERS)
def test_the_tables_list_all_folders(top):
    assert set(layers(top)) == {folder(path) for path in code(top)}


@pytest.mark.parametrize("top", CODE_FOLDERS)
def test_includes_point_downward(top):
    order = layers(top)
    upward = [f"{path} includes {other}" for path in code(top) for other in includes(path)
              if other.parts[0] == top and order.index(folder(path)) > order.index(folder(other))]
    assert not upward, "\n".join(upward)


def test_no_circles():
    edges = {path: includes(path) for path in files(*CODE_FOLDERS, suffixes=CPP)}
    done, circles = set(), []

    def visit(path, way):
        if path in way:
            circles.append(" -> ".join(map(str, [*way[way.index(path):], path])))
        elif path not in done:
            for other in edges.get(path, []):
                visit(other, [*way, path])
            done.add(path)

    for path in edges:
        visit(path, [])
    assert not circles, "\n".join(circles)


def test_the_core_knows_neither_the_driver_nor_gdal():
    of_gdal = re.compile(r'#include ["<](driver/|gdal|cpl_|ogr_|vrt|proj)')
    found = [path for path in files("zarrcore", suffixes=CPP) if of_gdal.search(text(path))]
    assert not found
