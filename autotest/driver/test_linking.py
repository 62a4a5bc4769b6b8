"""The plugin beside the libraries that GDAL is linked with, in C programs, where all libraries
share one namespace of symbols. Python loads libgdal into its own scope, which hides clashes."""
import os
import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from classic import write_tiff
from night import night
from osgeo import gdal
from test_programs import run

PLUGIN_DIR = Path(os.environ["GDAL_DRIVER_PATH"])
GRID = (np.arange(90 * 120).reshape(90, 120) % 1009 - 300).astype("i4")


def values_of(option):
    options = ElementTree.fromstring(
        gdal.GetDriverByName("Zarr").GetMetadataItem("DMD_CREATIONOPTIONLIST"))
    return [value.text for value in options.find(f"Option[@name='{option}']")]


ENCODINGS = [{option: value} for option in ("COMPRESS", "FILTER", "CHECKSUM")
             for value in values_of(option)]
ENCODINGS += [{"COMPRESS": "BLOSC", "BLOSC_CNAME": value} for value in values_of("BLOSC_CNAME")]


# A library that GDAL is linked with too, one that it may have a copy of, one that is loaded when it
# is needed, and none.
BY_DAY = [{"COMPRESS": "ZSTD"}, {"COMPRESS": "BLOSC"}, {"COMPRESS": "ZFP"}, {"CHECKSUM": "CRC32C"}]


@pytest.fixture
def tif(tmp_path):
    return write_tiff(tmp_path / "a.tif", GRID)


def checksum(path):
    lines = run("gdalinfo", "-checksum", path).splitlines()
    (line,) = [line for line in lines if "Checksum" in line]
    return line


@pytest.mark.parametrize("version", ["ZARR_V2", "ZARR_V3"])
@pytest.mark.parametrize("encoding", [
    pytest.param(encoding, marks=[] if encoding in BY_DAY else night,
                 id=" ".join(map("=".join, encoding.items()))) for encoding in ENCODINGS])
def test_programs_write_and_read_every_encoding(tmp_path, tif, encoding, version):
    store = tmp_path / "a.zarr"
    options = [f"-co={name}={value}" for name, value in {"FORMAT": version, **encoding}.items()]
    run("gdal_translate", "-q", "-of", "Zarr", *(word for option in options
                                                 for word in option.split("=", 1)), tif, store)
    assert checksum(store) == checksum(tif)
    run("gdal_translate", "-q", store, tmp_path / "back.tif")
    np.testing.assert_array_equal(gdal.Open(str(tmp_path / "back.tif")).ReadAsArray(), GRID)


# --- The library that each function is taken from ------------------------------------------------

def bindings(*command):
    """(user, provider, symbol) of each symbol that the dynamic linker binds, as paths of files."""
    environment = {**os.environ, "LD_BIND_NOW": "1", "LD_DEBUG": "bindings"}
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                            env=environment, timeout=120)
    assert result.returncode == 0
    return re.findall(r"binding file (\S+) \[\d+\] to (\S+) \[\d+\]: normal symbol `([^']+)'",
                      result.stderr)


def needed(library):
    """The names of the libraries that a file needs."""
    output = subprocess.run(["objdump", "-p", library], capture_output=True, text=True, check=True)
    return re.findall(r"NEEDED\s+(\S+)", output.stdout)


@pytest.mark.skipif(not (PLUGIN_DIR / "CMakeFiles").exists(), reason="needs the objects of a build")
def test_nothing_is_destroyed_while_tasks_still_run():
    """At the end of a program, prefetching tasks end after the first destructors."""
    objects = [path for folder in (PLUGIN_DIR, PLUGIN_DIR.parent / "zarrcore")
               for path in folder.rglob("*.o")]
    assert len(objects) > 4
    for path in objects:
        symbols = subprocess.run(["nm", "-u", path], capture_output=True, text=True, check=True)
        assert "__cxa_atexit" not in symbols.stdout, path


def is_shared(symbol):
    """Symbols that are meant to be shared: C++ templates that several libraries instantiate, and
    C's streams, of which the program has a copy."""
    return symbol.startswith("_Z") or symbol in ("stdout", "stderr", "stdin")


@pytest.mark.skipif(not os.path.exists("/lib64/ld-linux-x86-64.so.2")
                    and not os.path.exists("/lib/ld-linux-aarch64.so.1"),
                    reason="needs the trace of glibc's dynamic linker")
def test_no_library_replaces_another(tmp_path, tif):
    """Each call of the plugin and its libraries is bound to a library that the caller is linked
    with, never to one of libgdal's that happens to have a function of the same name."""
    store = tmp_path / "a.zarr"
    run("gdal_translate", "-q", "-of", "Zarr", "-co", "COMPRESS=ZFP", tif, store)
    found = bindings("gdalinfo", "-checksum", store)
    loaded = {os.path.basename(path): path for binding in found for path in binding[:2]}

    def linked_with(library):
        return {loaded[name] for name in needed(library) if name in loaded}

    zfp = next(path for name, path in loaded.items() if name.startswith("libzfp"))
    ours, todo = set(), [loaded["gdal_Zarr.so"], zfp]
    while todo:
        library = todo.pop()
        is_gdals = os.path.basename(library).startswith(("libgdal", "ld-linux"))
        if library not in ours and not is_gdals:
            ours.add(library)
            todo.extend(linked_with(library))
    assert len(ours) > 10

    strays = {(user, provider, symbol) for user, provider, symbol in found
              if user in ours and provider not in linked_with(user) | {user}
              and not is_shared(symbol)}
    assert not strays
