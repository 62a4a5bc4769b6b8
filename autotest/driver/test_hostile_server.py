"""Whatever a server answers, programs get the right data or an error that names the value and what
is wrong with the answer, without passwords and tokens: never zeros, never a part of the data.

autotest/driver/cpp/hostile_server_test.cpp shows for each request of a store what comes of each
answer. By day, the tests here show what a program makes of it: each kind of answer occurs, and each
result that each role can have. By night they run with all answers.
"""
import re
import subprocess

import hostile_server
import numpy as np
import pytest
import webserver
import zarr
from night import night
from osgeo import gdal
from stores import consolidate, sharding, write_array, write_group
from v2_stores import write_v2

DATA = np.arange(1, 65, dtype="<i2").reshape(8, 8) * 3
WINDOW = (4, 0, 4, 4)
WANTED = DATA[:4, 4:]
TRANSFORM = (95, 10, 0, 105, 0, -10)
NO_TRANSFORM = (0, 1, 0, 0, 0, 1)


def is_suffix(wanted):
    return (wanted or "").startswith("bytes=-")


# What is hit: a store, an array, the key, and the ranges of the key that are hit.
ROLES = {
    "document": ("plain", "chunks", "chunks/zarr.json", None),
    "consolidated": ("consolidated", "chunks", "zarr.json", None),
    "document of v2": ("v2", "chunks", "chunks/.zarray", None),
    "attributes of v2": ("v2", "chunks", "chunks/.zattrs", None),
    "consolidated of v2": ("consolidated_v2", "chunks", ".zmetadata", None),
    "chunk": ("consolidated", "chunks", "chunks/c/0/1", None),
    "index": ("consolidated", "shards", "shards/c/0/0", is_suffix),
    "inner": ("consolidated", "shards", "shards/c/0/0", lambda wanted: not is_suffix(wanted)),
    "coordinate": ("consolidated", "chunks", "x/c/0", None),
}
DOCUMENTS = [role for role, (_, _, key, _) in ROLES.items() if "/c/" not in key]
PAGES = ("page",)

RIGHT, MISSING = "right", "missing"
NO_PAGE = "the server sent an HTML page instead of the value"
SHORT = "not valid JSON|the chunk has [0-9]+ bytes where [0-9]+ are expected"
OTHER = "the server sent [0-9]+ bytes at the offset [0-9]+ where"
CUT = "transfer closed with|Connection reset|Recv failure|end of response with [0-9]+ bytes missing"
TOO_LARGE = "the value has more than the [0-9]+ bytes that can be right"
GZIP = ("incorrect header check|invalid stored block|Unrecognized or bad|unknown compression|"
        "Error while processing content unencoding")


def status(number):
    explanation = hostile_server.CODES[number]
    return {"": f"HTTP response code: {number} - {explanation}: So it is & stays"}


# What is reported of each kind of answer: a regular expression, RIGHT for the right data, or
# MISSING for a missing chunk; for single roles, or for all others ("").
ANSWERS = {
    "204": {"": SHORT, "index": "the last 68 bytes are wanted of a value of 0",
            "inner": "replaced the value"},
    "304": {"": "HTTP response code: 304"},
    "400": status("400"),
    "401": status("401"),
    "403": status("403"),
    "404": {"": "does not exist|there is no Zarr group or array", "chunk": MISSING,
            "index": MISSING, "coordinate": MISSING,
            "inner": "the shard is missing, although its index could be read"},
    "408": status("408"),
    "416": status("416") | {"index": RIGHT},
    "429": status("429"),
    "500": status("500"),
    "503": status("503"),
    "retry after": {"": "HTTP response code: 429"},
    "page": {"": NO_PAGE},
    "redirect loop": {"": r"Maximum \(10\) redirects followed"},
    "redirect to another host": {"": RIGHT},
    "redirect to nowhere": status("301"),
    "empty": {"": SHORT, "index": OTHER, "inner": OTHER},
    "cut": {"": CUT},
    "reset": {"": CUT},
    "reset at once": {"": "Empty reply|Recv failure|Connection reset"},
    "shorter": {"": SHORT, "index": OTHER, "inner": OTHER},
    "longer": {"": OTHER, "chunk": TOO_LARGE, "coordinate": TOO_LARGE}
              | dict.fromkeys(DOCUMENTS, RIGHT),
    "chunked transfer": {"": RIGHT},
    "cut chunked transfer": {"": CUT},
    "unasked gzip": {"": RIGHT, "index": GZIP, "inner": GZIP},
    "cut gzip": {"": SHORT, "index": GZIP, "inner": GZIP},
    "huge length": {"": TOO_LARGE, "index": RIGHT, "inner": RIGHT},
    "drip": {"": "Operation too slow"},
    "no HTTP": {"": "HTTP/0.9|Unsupported protocol|Weird server reply|Invalid status line"},
    "no Content-Range": {"": RIGHT},
    "unreadable Content-Range": {"": 'the server sent the range "bytes all", which cannot be read'},
    "shifted Content-Range": {"": OTHER, "index": RIGHT},
    "wrong size": {"": OTHER, "index": "outside a value of 196 bytes", "inner": RIGHT},
    "other bytes": {"": OTHER, "index": RIGHT},
    "whole value": {"": RIGHT},
}


def result(kind, role):
    """What the store sees, as far as its readers distinguish it."""
    reported = ANSWERS[kind].get(role, ANSWERS[kind][""])
    if reported in (RIGHT, MISSING, SHORT):
        return reported
    if role in DOCUMENTS and kind in ("401", "403", "404", *PAGES):
        return "denied" if kind in ("401", "403") else kind
    return "error"


# In the order of diagonals, so that some consecutive cells have many different kinds and roles.
CELLS = [(kind, list(ROLES)[(row + shift) % len(ROLES)])
         for shift in range(len(ROLES)) for row, kind in enumerate(ANSWERS)]


def cover(cells, *features):
    """Some cells in which each value of each feature occurs, those first that have several new
    ones."""
    chosen, found = [], set()
    for wanted in (all, any):
        for cell in cells:
            values = [(number, feature(*cell)) for number, feature in enumerate(features)]
            if wanted(value not in found for value in values):
                chosen.append(cell)
                found.update(values)
    return chosen


def by_day(cells, chosen):
    """The chosen cells for the day, and the others for the night."""
    return [cell if cell in chosen else pytest.param(*cell, marks=night) for cell in cells]


OF_DAY = cover(CELLS, lambda kind, role: kind, lambda kind, role: (role, result(kind, role)))
WAYS = ["vsicurl", "vsis3"]
OPTIONS = webserver.HTTP_OPTIONS | {
    "GDAL_HTTP_LOW_SPEED_TIME": "1", "GDAL_HTTP_LOW_SPEED_LIMIT": "100",
    "AWS_ACCESS_KEY_ID": "me", "AWS_SECRET_ACCESS_KEY": "Secret", "AWS_HTTPS": "NO",
    "AWS_VIRTUAL_HOSTING": "FALSE", "OSS_ACCESS_KEY_ID": "me", "OSS_SECRET_ACCESS_KEY": "Secret",
    "OSS_HTTPS": "NO", "OSS_VIRTUAL_HOSTING": "FALSE",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    root = tmp_path_factory.mktemp("hostile")
    (root / "bucket").mkdir()
    for name in ("plain", "consolidated"):
        path = write_group(root / f"bucket/{name}.zarr")
        write_array(path / "chunks", DATA, (4, 4), names=["y", "x"])
        write_array(path / "shards", DATA, (8, 8), [sharding((4, 4))], names=["y", "x"])
        for axis, step in (("x", 10.0), ("y", -10.0)):
            write_array(path / axis, 100 + step * np.arange(8), names=[axis])
    consolidate(path)
    for name in ("v2", "consolidated_v2"):
        path = root / f"bucket/{name}.zarr"
        write_v2(path, "chunks", DATA, {"_ARRAY_DIMENSIONS": ["y", "x"]}, chunks=(4, 4))
        for axis, step in (("x", 10.0), ("y", -10.0)):
            write_v2(path, axis, 100 + step * np.arange(8), {"_ARRAY_DIMENSIONS": [axis]})
    zarr.consolidate_metadata(str(path))
    server = webserver.start_server(hostile_server.HostileHandler)
    server.root, server.kind = root, None
    with webserver.running(server):
        yield server


@pytest.fixture
def hit(server, monkeypatch):
    """Makes the server answer so where a role is hit. Returns the store and the array."""
    host = f"127.0.0.1:{server.server_port}"
    stores = {"vsicurl": f"/vsicurl/http://me:Secret@{host}/bucket/{{}}.zarr?token=Secret",
              "vsis3": "/vsis3/bucket/{}.zarr", "vsioss": "/vsioss/bucket/{}.zarr"}
    monkeypatch.setenv("no_proxy", "127.0.0.1,localhost")
    for name, value in (OPTIONS | {"AWS_S3_ENDPOINT": host, "OSS_ENDPOINT": host}).items():
        monkeypatch.setenv(name, value)
    gdal.VSICurlClearCache()

    def start(kind, role, way):
        store, array, key, ranges = ROLES[role]
        path = f"/bucket/{store}.zarr/{key}"
        server.is_hit = lambda other, wanted: other == path and (not ranges or ranges(wanted))
        server.kind, server.hits, server.requests = kind, 0, []
        return f'ZARR:"{stores[way].format(store)}":/{array}'

    yield start
    server.kind = None
    gdal.VSICurlClearCache()


def read(name, options=()):
    """The window and the geotransform, both None after an error, and the messages."""
    warnings = []
    gdal.PushErrorHandler(lambda level, number, text: warnings.append(text))
    try:
        dataset = gdal.OpenEx(name, gdal.OF_RASTER, open_options=list(options))
        got, transform = dataset.ReadAsArray(*WINDOW), dataset.GetGeoTransform()
    except RuntimeError as error:
        return None, None, "\n".join([str(error), *warnings])
    else:
        return got, transform, "\n".join(warnings)
    finally:
        gdal.PopErrorHandler()


def expected(kind, role):
    """What is reported of the hit, and whether the window and the geotransform are still right."""
    reported = ANSWERS[kind].get(role, ANSWERS[kind][""])
    if reported == RIGHT:
        return None, True, True
    if role == "consolidated of v2":  # the documents themselves are read
        return None if kind in ("401", "403", "404") else reported, True, True
    if role == "attributes of v2" and kind in (*PAGES, "401", "403", "404"):  # as if absent
        return reported if kind in PAGES else None, True, False
    if role == "coordinate":
        return None if reported == MISSING else reported, True, False
    return reported, False, False


@pytest.mark.parametrize("kind, role, way", by_day(
    [(*cell, way) for cell in CELLS for way in WAYS],
    [(*cell, WAYS[number % 2]) for number, cell in enumerate(OF_DAY)]))
def test_matrix(server, hit, kind, role, way):
    name = hit(kind, role, way)
    reported, has_data, has_position = expected(kind, role)
    if reported == MISSING:
        got, transform, text = read(name)
        np.testing.assert_array_equal(got, np.zeros_like(WANTED))
        gdal.VSICurlClearCache()
        got, transform, text = read(name, ["MISSING_CHUNKS=ERROR"])
        reported = "is missing"
    else:
        got, transform, text = read(name)
    assert server.hits
    assert "Secret" not in text
    if has_data:
        np.testing.assert_array_equal(got, WANTED)
        assert transform == (TRANSFORM if has_position else NO_TRANSFORM)
    else:
        assert got is None
    assert re.search(reported or "^$", text)
    if reported and kind != "404":
        assert ROLES[role][2] in text and f"{ROLES[role][0]}.zarr" in text


@pytest.mark.parametrize("kind, role", by_day(
    CELLS, cover(CELLS[::-1], lambda kind, role: role)))
def test_through_gdal(server, hit, kind, role):
    """Where GDAL's own file systems read, they decide what is an error, and what it says. All
    ranges of a shard are hit, as these file systems make no suffix ranges. For the store alone,
    autotest/driver/cpp/file_system_answers_test.cpp has all answers."""
    name = hit(kind, "inner" if role == "index" else role, "vsioss")
    got, transform, text = read(name)
    assert server.hits
    is_missing = kind == "404" and got is not None
    if is_missing and role in ("chunk", "index", "inner"):
        np.testing.assert_array_equal(got, np.zeros_like(WANTED))
        gdal.VSICurlClearCache()
        got, transform, text = read(name, ["MISSING_CHUNKS=ERROR"])
    if got is not None:
        np.testing.assert_array_equal(got, WANTED)
        assert transform in (TRANSFORM, NO_TRANSFORM)
    is_right = got is not None and transform == TRANSFORM
    if not is_right and kind != "404" and role != "attributes of v2":
        assert ROLES[role][2] in text and f"{ROLES[role][0]}.zarr" in text


OF_TRANSLATE = [cell for cell in CELLS if "v2" not in cell[1]]


@pytest.mark.parametrize("kind, role", by_day(
    OF_TRANSLATE, cover(OF_TRANSLATE, lambda kind, role: (role, expected(kind, role)[1]))))
def test_gdal_translate(server, hit, tmp_path, kind, role):
    name = hit(kind, role, "vsicurl")
    reported, has_data, has_position = expected(kind, role)
    output = tmp_path / "a.tif"
    options = []
    if reported == MISSING:
        reported, options = "is missing", ["-oo", "MISSING_CHUNKS=ERROR"]
    done = subprocess.run(
        ["gdal_translate", "-q", *options, "-srcwin", *map(str, WINDOW), name, output],
        stderr=subprocess.PIPE, text=True)
    assert server.hits
    assert re.search(reported or "^$", done.stderr)
    if not has_data:
        assert done.returncode != 0
        assert "ERROR" in done.stderr
        return
    assert done.returncode == 0
    assert "ERROR" not in done.stderr
    dataset = gdal.Open(str(output))
    np.testing.assert_array_equal(dataset.ReadAsArray(), WANTED)
    of_window = (135, 10, 0, 105, 0, -10)
    assert dataset.GetGeoTransform() == (of_window if has_position else NO_TRANSFORM)
