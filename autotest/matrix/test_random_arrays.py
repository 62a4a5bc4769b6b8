"""A thousand arrays that zarr-python 3 writes are read without a difference.
RANDOM_SEEDS=1000:11000 makes it ten thousand others."""
import os
from collections import Counter

import numpy as np
import pytest
from multidim import open_array
from osgeo import gdal
from random_arrays import loosen, make_plan, write

COUNT = 1000
SEEDS = range(*map(int, os.environ.get("RANDOM_SEEDS", f"0:{COUNT}").split(":")))


@pytest.mark.parametrize("seed", SEEDS)
def test_random_array(tmp_path, seed):
    plan = make_plan(seed)
    want = write(plan, tmp_path)
    if seed % 4 == 0:
        loosen(plan, tmp_path)
    array = open_array(tmp_path)
    dimensions = array.GetDimensions()
    assert tuple(d.GetSize() for d in dimensions) == plan.shape
    if "dimension_names" in plan.options:
        assert [d.GetName() for d in dimensions] == plan.options["dimension_names"]

    assert_same(array, want)
    random = np.random.default_rng([seed, 2])
    for _ in range(3 if plan.shape else 0):
        region = [random_slice(random, n) for n in plan.shape]
        assert_same(array, want, region)
    if want.ndim >= 2 and want.dtype.kind in "biufcmM":
        assert_same_raster(gdal.Open(str(tmp_path)), random, want)


def random_slice(random, size):
    """Of at least one element, in either direction."""
    start, stop = sorted(random.choice(size + 1, 2, replace=False).tolist())
    step = int(random.choice([1, 1, 1, 2, 5]))
    # GDAL has no view that starts at 0 and descends.
    if random.random() < 0.7 or stop == 1:
        return slice(start, stop, step)
    return slice(stop - 1, start - 1 if start > 0 else None, -step)


def as_text(region):
    """The same in the syntax of GetView()."""
    def bound(number):
        return "" if number is None else number

    return "[%s]" % ",".join(f"{s.start}:{bound(s.stop)}:{s.step}" for s in region)


def assert_same(array, want, region=None):
    if want.dtype.names:
        for name in want.dtype.names:
            assert_same(array.GetView(f"['{name}']"), want[name], region)
        return
    part = array
    if region is not None:
        part, want = array.GetView(as_text(region)), want[tuple(region)]
    if want.dtype.kind in "OTUS":
        texts = np.char.decode(want, "ascii") if want.dtype.kind == "S" else want
        assert part.Read() == texts.ravel().tolist()
    else:
        assert_same_bits(part.ReadAsArray(), want)


def assert_same_bits(got, want):
    """NaN and -0.0 count. The type of `got` may be a wider one, and times are integers."""
    want = want.view(want.dtype.str[0] + "i8") if want.dtype.kind in "mM" else want
    native = want.dtype.newbyteorder("=")
    got, want = np.asarray(got).astype(native), want.astype(native)
    if got.tobytes() != want.tobytes():
        np.testing.assert_array_equal(got.reshape(want.shape), want)  # names the element
        pytest.fail("a NaN or a zero is another one")


def assert_same_raster(dataset, random, want):
    bands = want.reshape(-1, *want.shape[-2:])
    assert_same_bits(dataset.ReadAsArray(), bands)
    rows, columns = (slice(*sorted(random.choice(n + 1, 2, replace=False).tolist()))
                     for n in bands.shape[1:])
    got = dataset.ReadAsArray(columns.start, rows.start, columns.stop - columns.start,
                              rows.stop - rows.start)
    assert_same_bits(got, bands[:, rows, columns])


def test_they_are_various():
    plans = [make_plan(seed) for seed in range(COUNT)]
    codecs = Counter(name for plan in plans for name in set(plan.codecs))
    types = Counter(np.dtype(plan.dtype).kind for plan in plans)
    depths = Counter(plan.shard_depth for plan in plans)
    formats = Counter(plan.zarr_format for plan in plans)
    assert len(codecs) >= 25 and min(codecs.values()) >= 10
    assert set(types) >= set("biufcU") and min(types.values()) >= 10
    assert set(depths) == {0, 1, 2} and min(depths.values()) >= 100
    assert min(formats.values()) >= 300
