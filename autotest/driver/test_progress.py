"""Progress functions are called during a read, and can stop it."""
import numpy as np
import pytest
from osgeo import gdal
from stores import BYTES, GZIP, sharding, write_array, write_group

CUBE = np.arange(4 * 96 * 80, dtype="u4").reshape(4, 96, 80)

LAYOUTS = {
    "rows": ((1, 8, 80), [BYTES, GZIP]),
    "columns": ((1, 96, 8), [BYTES, GZIP]),
    "tiles": ((2, 16, 16), [BYTES, GZIP]),
    "shards": ((4, 48, 80), [sharding((2, 16, 16))]),
    "one shard": ((4, 96, 80), [sharding((1, 16, 16))]),
    "uneven": ((3, 7, 33), [BYTES, GZIP]),
    "bands": ((1, 96, 80), [BYTES, GZIP]),
    "one chunk": ((4, 96, 80), [BYTES, GZIP]),
}


@pytest.fixture(params=LAYOUTS)
def dataset(request, tmp_path):
    chunks, codecs = LAYOUTS[request.param]
    write_array(write_group(tmp_path) / "a", CUBE, chunks, codecs, names=["t", "y", "x"])
    return gdal.Open(f'ZARR:"{tmp_path}":/a')


class Progress:
    """Remembers its calls, and stops at the call `stop_at`."""

    def __init__(self, stop_at=None):
        self.fractions = []
        self.stop_at = stop_at

    def __call__(self, fraction, _message, _data):
        self.fractions.append(fraction)
        return 0 if len(self.fractions) == self.stop_at else 1

    def assert_complete(self):
        assert self.fractions and self.fractions[-1] == 1
        assert self.fractions == sorted(set(self.fractions))


WINDOWS = [
    ((0, 0, 80, 96), None, np.s_[:, :, :]),
    ((3, 5, 61, 70), None, np.s_[:, 5:75, 3:64]),
    ((0, 0, 80, 96), (20, 32), np.s_[:, 1::3, 2::4]),
    ((7, 11, 1, 1), None, np.s_[:, 11:12, 7:8]),
]


@pytest.mark.parametrize("window, size, part", WINDOWS)
def test_dataset(dataset, window, size, part):
    progress = Progress()
    buffer_size = dict(zip(("buf_xsize", "buf_ysize"), size or ()))
    got = dataset.ReadAsArray(*window, callback=progress, **buffer_size)
    np.testing.assert_array_equal(got, CUBE[part])
    progress.assert_complete()


@pytest.mark.parametrize("window, size, part", WINDOWS)
def test_band(dataset, window, size, part):
    progress = Progress()
    buffer_size = dict(zip(("buf_xsize", "buf_ysize"), size or ()))
    got = dataset.GetRasterBand(3).ReadAsArray(*window, callback=progress, **buffer_size)
    np.testing.assert_array_equal(got, CUBE[part][2])
    progress.assert_complete()


def test_some_bands(dataset):
    progress = Progress()
    got = dataset.ReadAsArray(band_list=[4, 2], callback=progress)
    np.testing.assert_array_equal(got, CUBE[[3, 1]])
    progress.assert_complete()


@pytest.mark.parametrize("layout, least", [
    ("rows", 8), ("columns", 8), ("tiles", 6), ("one shard", 6), ("uneven", 8), ("bands", 4),
])
def test_calls(tmp_path, layout, least):
    """Several, if a read has several chunks."""
    chunks, codecs = LAYOUTS[layout]
    write_array(write_group(tmp_path) / "a", CUBE, chunks, codecs, names=["t", "y", "x"])
    progress = Progress()
    gdal.Open(f'ZARR:"{tmp_path}":/a').ReadAsArray(callback=progress)
    assert least <= len(progress.fractions) <= 16


@pytest.mark.parametrize("of_band", [False, True])
def test_stop(tmp_path, of_band):
    """Nothing is read after the call that stops: the rest of the buffer is unchanged."""
    write_array(write_group(tmp_path) / "a", CUBE, *LAYOUTS["rows"], names=["t", "y", "x"])
    dataset = gdal.Open(f'ZARR:"{tmp_path}":/a')
    progress = Progress(stop_at=3)
    buffer = np.full(CUBE[0].shape if of_band else CUBE.shape, 999_999, "u4")
    source = dataset.GetRasterBand(1) if of_band else dataset
    errors = []
    gdal.PushErrorHandler(lambda severity, number, _: errors.append((severity, number)))
    try:
        source.ReadAsArray(buf_obj=buffer, callback=progress)
    except RuntimeError:
        pass
    finally:
        gdal.PopErrorHandler()
    # With exceptions, newer bindings call no handler.
    errors.append((gdal.GetLastErrorType(), gdal.GetLastErrorNo()))
    assert (gdal.CE_Failure, gdal.CPLE_UserInterrupt) in errors
    assert len(progress.fractions) == 3
    assert 0 < np.count_nonzero(buffer != 999_999) < buffer.size / 2
    np.testing.assert_array_equal(dataset.ReadAsArray(), CUBE)


def test_overview(tmp_path):
    """Decimated reads that resample report progress as well."""
    write_array(write_group(tmp_path) / "a", CUBE[0], (16, 16), names=["y", "x"])
    progress = Progress()
    gdal.Open(f'ZARR:"{tmp_path}":/a').ReadAsArray(
        buf_xsize=17, buf_ysize=13, resample_alg=gdal.GRIORA_Average, callback=progress)
    assert progress.fractions[-1] == 1
