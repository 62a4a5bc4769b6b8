"""Passwords, signatures and tokens of URLs do not appear in messages."""
import json
import subprocess

import numpy as np
import pytest
from stores import write_array, write_group
from webserver import HTTP_OPTIONS, serve

SIGNATURE = "X-Amz-Credential=Secret1&X-Amz-Signature=Secret2&X-Amz-Security-Token=Secret3"


@pytest.fixture
def server(tmp_path, monkeypatch):
    """Serves a store whose chunks, and all names with `bad`, are forbidden."""
    write_array(write_group(tmp_path / "a.zarr") / "a", np.ones((4, 4), "u2"))
    for name, value in HTTP_OPTIONS.items():
        monkeypatch.setenv(name, value)
    with serve(tmp_path, monkeypatch) as server:
        server.faults.update({"/c/": 403, "bad": 403})
        yield server


def messages_of(name):
    """gdalinfo's errors and warnings, without its last line, which quotes the command line."""
    result = subprocess.run(
        ["gdalinfo", "-checksum", name], capture_output=True, text=True, timeout=60
    )
    messages = [line for line in result.stderr.splitlines() if "gdalinfo failed" not in line]
    assert messages
    return "\n".join(messages)


@pytest.mark.parametrize("name", [
    f'ZARR:"/vsicurl/URL/bad.zarr?{SIGNATURE}"',
    f'ZARR:"/vsicurl/URL/bad.json?{SIGNATURE}"',
    f'ZARR:"/vsizip//vsicurl/URL/bad.zip?{SIGNATURE}"',
    f"/vsikerchunk_json_ref/{{/vsicurl/URL/bad.json?{SIGNATURE}}}",
    'ZARR:"/vsicurl?url=URL%2Fbad.zarr%3Fsig%3DSecret"',
])
def test_signed_url(server, name):
    messages = messages_of(name.replace("URL", server.url))
    assert "403" in messages or "there is no Zarr" in messages
    assert "***" in messages
    assert "Secret" not in messages


def test_chunk_behind_a_password(server):
    messages = messages_of(f'ZARR:"/vsicurl/{server.url}/a.zarr":/a'.replace("//", "//me:Secret@"))
    chunk = f"//***@127.0.0.1:{server.server_port}/a.zarr/a/c/0/0"
    assert f"{chunk}: HTTP response code: 403" in messages
    assert "Secret" not in messages


def test_signed_reference(server, tmp_path):
    """GDAL itself warns about the answer, with the URL."""
    array = {"zarr_format": 2, "shape": [4, 4], "chunks": [4, 4], "dtype": "<u2", "order": "C",
             "compressor": None, "filters": None, "fill_value": 0}
    target = f"{server.url}/bad?{SIGNATURE}"
    references = {".zarray": json.dumps(array), "0.0": [target, 0, 32]}
    (tmp_path / "a.json").write_text(json.dumps({"version": 1, "refs": references}))
    messages = messages_of(f'ZARR:"{tmp_path}/a.json"')
    assert "chunk 0.0" in messages and "X-Amz-Signature=***" in messages
    assert "Secret" not in messages
