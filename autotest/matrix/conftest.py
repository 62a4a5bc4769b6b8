"""Tests that need zarr-python 3, which Debian 12 does not have: script/matrix runs them."""
import pytest
import zarr

# An error rather than a skip: these tests were requested.
if not hasattr(zarr, "config"):
    pytest.exit(f"these tests need zarr-python 3, not {zarr.__version__}: see script/matrix", 2)
