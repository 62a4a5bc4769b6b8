"""What needs zarr-python 3, which Debian 12 has not: script/matrix runs it."""
import pytest
import zarr

# Nothing is skipped: who runs this wants it to have run.
if not hasattr(zarr, "config"):
    pytest.exit(f"it needs zarr-python 3, not {zarr.__version__}: see script/matrix", 2)
