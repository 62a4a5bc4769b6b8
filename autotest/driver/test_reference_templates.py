"""Kerchunk references in JSON that stand for others: templates and generated keys."""
import json
import time

import numpy as np
import pytest
from reference_documents import (
    ARRAY,
    BOTTOM,
    ROWS,
    TOP,
    error_of,
    read,
    references,
    version_1,
    write,
)

# --- Templates -----------------------------------------------------------------------------------

@pytest.mark.parametrize("templates, url", [
    ({"u": "blob.bin"}, "{{u}}"),
    ({"u": "blob.bin"}, "{{ u }}"),
    ({"f": "{{c}}.bin"}, "{{f(c='blob')}}"),
    ({"f": "{{a}}{{b}}.bin"}, "{{f(a='bl', b=\"ob\")}}"),
    ({"b": "bin", "f": "{{c}}.{{b}}"}, "{{ f(c = 'blob') }}"),
    ({"u": "blob"}, "{{u + '.bin'}}"),
    ({"u": "blob"}, "{{'%s.bin' % u}}"),
    ({"u": "blob"}, "{{'%s.bin' | format(u)}}"),
])
def test_templates(tmp_path, blob, templates, url):
    refs = references(c0=[url, 5, 24], c1=[url, 100, 24])
    path = write(tmp_path / "a.json", version_1(refs, templates=templates))
    np.testing.assert_array_equal(read(path), ROWS)


def test_braces_without_templates(tmp_path):
    """Version 0, and documents without templates, take them literally."""
    (tmp_path / "{{u}}").write_bytes(TOP)
    for wrap in (dict, version_1):
        path = write(tmp_path / "a.json", wrap(references(c0=["{{u}}"])))
        np.testing.assert_array_equal(read(path)[:2], ROWS[:2])


@pytest.mark.parametrize("expression, value", [
    ("(i + 1) * 1000", 2000), ("2 + 3 * 4", 14), ("-7 // 2 + 10", 6), ("-7 % 4", 1), ("8 / 4", 2),
    ("10 - 2 - 3", 5), ("--i", 1), ("((i))", 1), ("'%03d' % i", "001"),
    ("'%3i' | format(i)", "  1"),
    ("'%x' % 255", "ff"), ("'%03d' % -i", "-01"), ("'100%%%d' % i", "100%1"), ('"}}"', "}}"),
])
def test_expressions(tmp_path, expression, value):
    (tmp_path / f"at{value}.bin").write_bytes(TOP)
    generator = {"key": "v/0.0", "url": "at{{%s}}.bin" % expression, "dimensions": {"i": [1]}}
    path = write(tmp_path / "a.json", version_1(references(), gen=[generator]))
    np.testing.assert_array_equal(read(path)[:2], ROWS[:2])


@pytest.mark.parametrize("expression, problem", [
    ("x", 'there is no template or dimension "x"'), ("i | upper", "format is the only filter"),
    ("i if 1 else 2", "not understood"), ("", "a value is missing"), ("(i", "')' is missing"),
    ("i + 'a'", "text is used as a number"), ("1 // 0", "division by zero"),
    ("1 / 2", "the quotient is a fraction"), ("9223372036854775807 + 1", "does not fit 64 bits"),
    ("9223372036854775807 * 3", "does not fit 64 bits"), ("1.5", "not part of an integer"),
    ("'%9999999d' % i", "this format cannot be used"), ("'%d' % 'a'", "this format cannot be used"),
    ("(" * 100 + "1" + ")" * 100, "nested too deeply"), ("'a' * 3", "text is used as a number"),
    ("a.b", "there is no template"), ("f(1)", "an argument has no name"),
])
def test_expressions_that_are_refused(tmp_path, expression, problem):
    generator = {"key": "v/0.0", "url": "{{%s}}" % expression, "dimensions": {"i": [1]}}
    path = write(tmp_path / "a.json", version_1(references(), gen=[generator]))
    message = error_of(path)
    assert problem in message
    assert "v/0.0: its reference: {{%s}}: " % expression[:200] in message


def test_statements_are_refused(tmp_path):
    refs = references(c0=["{% for i in x %}", 5, 24])
    path = write(tmp_path / "a.json", version_1(refs, templates={"u": ""}))
    assert "{% for i in x %}" in error_of(path)


def test_long_sums(tmp_path):
    """8 MB of terms."""
    url = "{{'%s'%s}}" % ("x" * 60_000, "+''" * 2_700_000)
    refs = references(c0=[url, 5, 24])
    message = error_of(write(tmp_path / "a.json", version_1(refs, templates={"u": ""})))
    assert "v/0.0" in message and "xxxx: this file" in message


@pytest.mark.parametrize("templates, problem", [
    ({"a": "{{b}}", "b": "{{a}}"}, "a template contains itself"),
    ({c: "{{%s}}" % chr(ord(c) + 1) * 9 for c in "abcdefgh"} | {"i": ""}, "too many expressions"),
    ({c: "{{%s}}" % chr(ord(c) + 1) * 9 for c in "abc"} | {"d": "x" * 1000}, "has more than 65536"),
    ({"a": "{{%s}}" % "+".join("b" * 500), "b": "x" * 1000}, "has more than 65536"),
    ({"a": "{{b"}, '"{{b" has no end'),
])
def test_templates_that_grow(tmp_path, templates, problem):
    refs = references(c0=["{{a}}", 5, 24])
    started = time.monotonic()
    message = error_of(write(tmp_path / "a.json", version_1(refs, templates=templates)))
    assert problem in message
    assert time.monotonic() - started < 5


# --- Generated keys ------------------------------------------------------------------------------

def test_generated(tmp_path):
    """A file for each row of chunks, with a chunk for each column."""
    data = np.arange(3 * 4 * 2 * 5, dtype="<u2").reshape(6, 20)
    for row in range(3):
        chunks = np.split(data[2 * row : 2 * row + 2], 4, axis=1)
        content = b"header--" + b"".join(c.tobytes() for c in chunks)
        (tmp_path / f"part_{10 + 5 * row:02}.bin").write_bytes(content)
    refs = references()
    refs["v/.zarray"] = json.dumps(ARRAY | {"shape": [6, 20], "chunks": [2, 5]})
    generator = {
        "key": "v/{{(row - 10) // 5}}.{{column}}",
        "url": "{{u}}_{{'%02d' % row}}.bin",
        "offset": "{{8 + column * 20}}",
        "length": "20",
        "dimensions": {"row": {"start": 10, "stop": 25, "step": 5}, "column": [0, 1, 2, 3]},
    }
    path = write(tmp_path / "a.json", version_1(refs, templates={"u": "part"}, gen=[generator]))
    np.testing.assert_array_equal(read(path), data)


def test_generated_from_the_specification(tmp_path):
    (tmp_path / "url_0").write_bytes(b"x" * 1000 + TOP)
    (tmp_path / "url_1").write_bytes(b"x" * 2000 + BOTTOM)
    generator = {"key": "v/{{i}}.0", "url": "{{u}}_{{i}}", "offset": "{{(i + 1) * 1000}}",
                 "length": "24", "dimensions": {"i": {"stop": 2}}}
    path = write(tmp_path / "a.json", {"version": 1, "templates": {"u": "url"}, "gen": [generator],
                                       "refs": references(c0="overruled")})
    np.testing.assert_array_equal(read(path), ROWS)


def test_generated_backwards(tmp_path):
    (tmp_path / "blob").write_bytes(TOP + BOTTOM)
    generator = {"key": "v/{{1 - i // 24}}.0", "url": "blob", "offset": "{{i}}", "length": 24,
                 "dimensions": {"i": {"start": 24, "stop": -1, "step": -24}}}
    path = write(tmp_path / "a.json", version_1(references(), gen=[generator]))
    np.testing.assert_array_equal(read(path), np.vstack([ROWS[2:], ROWS[:2]]))


@pytest.mark.parametrize("change, problem", [
    ({"dimensions": {"i": {"stop": 10**9}}}, "more than 1000000 keys"),
    ({"dimensions": {"i": {"stop": 10**6}, "j": {"stop": 2}}}, "more than 1000000 keys"),
    ({"dimensions": {c: {"stop": 2**62} for c in "abcd"}}, "more than 1000000 keys"),
    ({"dimensions": {"i": {"start": -(2**63), "stop": 2**63 - 1}}}, "more than 1000000 keys"),
    ({"dimensions": {"i": {"stop": 10000}}, "key": "x" * 60000 + "{{i}}"}, "keys of more than"),
    ({"dimensions": {"i": {"stop": 3, "step": 0}}}, '"step" is zero'),
    ({"dimensions": {"i": {}}}, '"stop" is missing'),
    ({"dimensions": {"i": [1.5]}}, "dimension i is 1.5, not an integer"),
    ({"dimensions": 3}, '"dimensions" is not an object'),
    ({"key": None}, '"key" is null'),
    ({"offset": "1"}, "without the other"),
    ({"offset": "a", "length": "1"}, 'the offset becomes "a"'),
    ({"offset": "{{-i}}", "length": "1"}, 'the offset becomes "-1"'),
])
def test_generators_that_are_refused(tmp_path, change, problem):
    generator = {"key": "v/0.0", "url": "blob.bin", "dimensions": {"i": [1]}} | change
    started = time.monotonic()
    path = write(tmp_path / "a.json", version_1(references(), gen=[generator]))
    assert problem in error_of(path)
    assert time.monotonic() - started < 5
