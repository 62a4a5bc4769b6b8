"""What needs zarr-python 3, which Debian 12 has not: script/matrix runs it."""
import pytest
import zarr

# Nothing is skipped: who runs this wants it to have run.
if not hasattr(zarr, "config"):
    pytest.exit(f"zarr-python is {zarr.__version__}, and autotest/matrix needs 3: see script/matrix", 2)
