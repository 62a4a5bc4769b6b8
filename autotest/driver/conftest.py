"""New stores, and those that the tests of bad input damage."""
import pytest
from osgeo import gdal

# Rewritten like tests, so that failed assertions show their values.
pytest.register_assert_rewrite("bad_stores", "icechunk_stores")

from bad_stores import DATA  # noqa: E402
from icechunk_stores import repository, virtual  # noqa: E402, F401
from multidim import create  # noqa: E402
from object_stores import azure, azure_proxy, azure_sas, bucket, moto, moto_proxy, proxy, s3, server  # noqa: E402, F401
from reference_documents import BOTTOM, TOP  # noqa: E402
from shims import build_shim  # noqa: E402, F401
from stores import BYTES, GZIP, write_array, write_group  # noqa: E402
from v2_stores import write_v2  # noqa: E402


@pytest.fixture
def warnings():
    """The warnings during the test."""
    collected = []

    def collect(severity, _, message):
        if severity == gdal.CE_Warning:
            collected.append(message)

    gdal.PushErrorHandler(collect)
    yield collected
    gdal.PopErrorHandler()


@pytest.fixture(params=["ZARR_V2", "ZARR_V3"])
def version(request):
    return request.param


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.zarr"


@pytest.fixture
def new_root(path, version):
    """A function that creates a store and returns its root group: the result of a fixture would
    keep the store open longer than the test."""
    return lambda: create(path, "FORMAT=" + version).GetRootGroup()


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


@pytest.fixture
def blob(tmp_path):
    """The chunks of reference_documents.ARRAY, at offsets 5 and 100."""
    path = tmp_path / "blob.bin"
    path.write_bytes(b"-----" + TOP.ljust(95, b"-") + BOTTOM + b"---")
    return path
