"""Arrays of the codecs, grids and types that zarr-python does not have are read without a
difference; RANDOM_SEEDS=1000:3000 makes others."""
import os
from collections import Counter

import numpy as np
import pytest
from multidim import open_array
from random_codecs import write
from test_random_arrays import assert_same, random_slice

SEEDS = range(*map(int, os.environ.get("RANDOM_SEEDS", "0:400").split(":")))
found = Counter()


@pytest.mark.parametrize("seed", SEEDS)
def test_random_codecs(tmp_path, seed):
    names, want = write(seed, tmp_path)
    found.update(names)
    array = open_array(tmp_path)
    assert tuple(d.GetSize() for d in array.GetDimensions()) == want.shape
    assert_same(array, want)
    random = np.random.default_rng([seed, 42])
    for _ in range(3 if want.shape else 0):
        assert_same(array, want, [random_slice(random, n) for n in want.shape])


def test_they_are_various(tmp_path):
    """Each name occurs in many arrays."""
    for seed in range(0 if len(found) else 400):  # another process has run the others
        found.update(write(seed, tmp_path / str(seed))[0])
    assert len(found) >= 40 and min(found.values()) >= 3, found
