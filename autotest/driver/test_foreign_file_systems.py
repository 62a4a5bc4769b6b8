"""File systems that a program installs, such as that of rasterio's `opener`, may answer on the
calling thread alone: the driver calls them on no other."""
import ctypes
import os
import threading

import numpy as np
import pytest
import rasterio
from multidim import create, create_array, open_to_write
from osgeo import gdal
from test_forks import in_child

DATA = np.arange(1, 1 + 16 * 64 * 64, dtype="i4").reshape(16 * 64, 64)
PREFIX = "/vsitestpython/"
pytestmark = pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "stat"),
                                reason="needs the stat() of glibc 2.33 or newer")

SIZE, POINTER, TEXT, INT = ctypes.c_size_t, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
OFFSET = ctypes.c_uint64
# The members of VSIFilesystemPluginCallbacksStruct, in order.
CALLBACKS = {
    "stat": (INT, TEXT, POINTER, INT), "unlink": (INT, TEXT), "rename": (INT, TEXT, TEXT),
    "mkdir": (INT, TEXT, ctypes.c_long), "rmdir": (INT, TEXT), "read_dir": (POINTER, TEXT, INT),
    "open": (POINTER, TEXT, TEXT), "tell": (OFFSET,), "seek": (INT, OFFSET, INT),
    "read": (SIZE, POINTER, SIZE, SIZE), "read_multi_range": (INT,), "get_ranges": (INT,),
    "eof": (INT,), "write": (SIZE, POINTER, SIZE, SIZE), "flush": (INT,), "truncate": (INT, OFFSET),
    "close": (INT,),
}
TYPES = {name: ctypes.CFUNCTYPE(result, POINTER, *arguments)
         for name, (result, *arguments) in CALLBACKS.items()}


class Callbacks(ctypes.Structure):
    _fields_ = [("data", POINTER), *TYPES.items()]


class FileSystem:
    """Local files, for one thread: to others, none exists."""

    def __init__(self):
        self.thread = threading.get_ident()
        self.strays = set()  # calls of other threads
        self.files = {}
        self.broken = None  # the end of the path of a file that cannot be opened
        libgdal = ctypes.CDLL(gdal.__file__.replace("gdal.py", next(
            name for name in os.listdir(os.path.dirname(gdal.__file__))
            if name.startswith("_gdal.") and name.endswith(".so"))))
        self.libc = ctypes.CDLL(None, use_errno=True)
        libgdal.VSIAllocFilesystemPluginCallbacksStruct.restype = ctypes.POINTER(Callbacks)
        libgdal.VSIInstallPluginHandler.argtypes = [TEXT, ctypes.POINTER(Callbacks)]
        libgdal.CSLAddString.argtypes = [POINTER, TEXT]
        libgdal.CSLAddString.restype = POINTER
        self.add_string = libgdal.CSLAddString
        callbacks = libgdal.VSIAllocFilesystemPluginCallbacksStruct()
        self.kept = [TYPES[name](self.on_its_thread(getattr(self, name), result))
                     for name, (result, *_) in CALLBACKS.items() if hasattr(self, name)]
        names = [name for name in CALLBACKS if hasattr(self, name)]
        for name, callback in zip(names, self.kept):
            setattr(callbacks.contents, name, callback)
        self.prefix = ctypes.create_string_buffer(PREFIX.encode())  # GDAL keeps its address
        assert libgdal.VSIInstallPluginHandler(self.prefix, callbacks) == 0

    def on_its_thread(self, function, result):
        failure = {POINTER: None, INT: -1}.get(result, 0)

        def call(_, *arguments):
            if threading.get_ident() != self.thread:
                self.strays.add(function.__name__)
                return failure
            # Some versions of GDAL leave the prefix in paths.
            arguments = [argument.removeprefix(PREFIX.encode()) if isinstance(argument, bytes)
                         else argument for argument in arguments]
            try:
                return function(*arguments)
            except OSError as error:
                ctypes.set_errno(error.errno)
                return failure
        if function.__name__ in ("tell", "seek", "read", "write", "flush", "close", "eof"):
            return lambda handle, *arguments: call(None, self.files.get(handle), *arguments)
        return call

    def stat(self, path, status, _):
        return self.libc.stat(path, POINTER(status))

    def unlink(self, path):
        os.unlink(path)
        return 0

    def rename(self, old, new):
        os.rename(old, new)
        return 0

    def mkdir(self, path, mode):
        os.mkdir(path, mode)
        return 0

    def rmdir(self, path):
        os.rmdir(path)
        return 0

    def read_dir(self, path, _):
        names = None
        for name in os.listdir(path):
            names = self.add_string(names, name)
        return names

    def open(self, path, mode):
        if self.broken and path.decode().endswith(self.broken):
            raise PermissionError(13, "broken")
        file = open(path, mode.decode().replace("b", "") + "b", buffering=0)
        self.files[file.fileno()] = file
        return file.fileno()

    def tell(self, file):
        return file.tell()

    def seek(self, file, offset, whence):
        file.seek(offset, whence)
        return 0

    def read(self, file, buffer, size, count):
        content = file.read(size * count)
        ctypes.memmove(buffer, content, len(content))
        return len(content) // size

    def write(self, file, buffer, size, count):
        return file.write(ctypes.string_at(buffer, size * count)) // size

    def close(self, file):
        del self.files[file.fileno()]
        file.close()
        return 0


@pytest.fixture(scope="module")
def installed():
    return FileSystem()


@pytest.fixture
def files(installed, monkeypatch):
    gdal.UseExceptions()
    monkeypatch.setenv("GDAL_NUM_THREADS", "4")
    installed.strays.clear()
    installed.broken = None
    yield installed
    assert installed.strays == set()


@pytest.fixture(params=["chunks", "shards"])
def store(request, tmp_path):
    options = ["BLOCKSIZE=64,64", "COMPRESS=ZSTD"]
    if request.param == "shards":
        options += ["SHARD_CHUNK_SHAPE=16,16"]
    root = create(tmp_path / "a.zarr", "FORMAT=ZARR_V3").GetRootGroup()
    create_array(root, "a", DATA.shape, gdal.GDT_Int32, *options).Write(DATA)
    return tmp_path / "a.zarr"


def rows(dataset):
    return np.vstack([dataset.ReadAsArray(0, y, 64, 64) for y in range(0, DATA.shape[0], 64)])


def test_reads(files, store):
    path = f"{PREFIX}{store}"
    np.testing.assert_array_equal(gdal.Open(path).ReadAsArray(), DATA)
    np.testing.assert_array_equal(rows(gdal.Open(path)), DATA)
    array = gdal.OpenEx(path, gdal.OF_MULTIDIM_RASTER).GetRootGroup().OpenMDArray("a")
    assert array.AdviseRead() == gdal.CE_None
    np.testing.assert_array_equal(array.ReadAsArray(), DATA)


def test_a_copy(files, store, tmp_path):
    path = f"{PREFIX}{store}"
    gdal.MultiDimTranslate(str(tmp_path / "b.zarr"), path, format="Zarr")
    np.testing.assert_array_equal(gdal.Open(str(tmp_path / "b.zarr")).ReadAsArray(), DATA)


def test_forks(files, store):
    dataset = gdal.Open(f"{PREFIX}{store}")
    for y in range(0, 512, 64):
        dataset.ReadAsArray(0, y, 64, 64)
    in_child(lambda: np.testing.assert_array_equal(rows(dataset), DATA))
    np.testing.assert_array_equal(rows(dataset), DATA)


def test_writes(files, store):
    dataset = open_to_write(f"{PREFIX}{store}")
    array = dataset.GetRootGroup().OpenMDArray("a")
    for y in range(0, DATA.shape[0], 40):
        array.Write(-DATA[y:y + 40], [y, 0])
    array.Write(-DATA)
    del array, dataset
    np.testing.assert_array_equal(gdal.Open(str(store)).ReadAsArray(), -DATA)


def test_what_cannot_be_opened_is_not_missing(files, store):
    files.broken = "a/c/3/0"
    with pytest.raises(RuntimeError, match="a/c/3/0.*cannot be opened"):
        gdal.Open(f"{PREFIX}{store}").ReadAsArray()
    files.broken = None
    (store / "a/c/3/0").unlink()
    got = gdal.Open(f"{PREFIX}{store}").ReadAsArray()
    assert (got[192:256] == 0).all()
    np.testing.assert_array_equal(got[:192], DATA[:192])


@pytest.mark.skipif(rasterio.__version__ < "1.4", reason="rasterio has openers since 1.4")
def test_rasterio_opener(store, monkeypatch):
    monkeypatch.setenv("GDAL_NUM_THREADS", "4")
    with rasterio.open(str(store), opener=open) as dataset:
        np.testing.assert_array_equal(dataset.read(1), DATA)
        for y in range(0, DATA.shape[0], 64):
            window = rasterio.windows.Window(0, y, 64, 64)
            np.testing.assert_array_equal(dataset.read(1, window=window), DATA[y:y + 64])
