"""Writes Zarr v2 with zarr-python, be it the 2.13 of Debian 12 or a 3.

    write_v2(path, "sub/a", data, {"units": "m"}, chunks=(4, 4), compressor=numcodecs.Zlib())

Options are those of zarr.array(), as far as both know them. `path` is a pathlib.Path.
"""
from pathlib import PurePosixPath

import zarr

if hasattr(zarr, "config"):  # zarr-python 3; what tests call by themselves, and xarray, write v2 too
    zarr.config.set({"default_zarr_format": 2})


def write_v2_group(path, attributes=None):
    zarr.open_group(str(path), mode="a").attrs.update(attributes or {})


def write_v2(path, name, data, attributes=None, **options):
    """Writes an array, and groups above it where there are none; the name "" is the root. Returns
    zarr-python's array."""
    for group in reversed(PurePosixPath(name).parents):
        write_v2_group(path / group)
    array = zarr.array(data, store=str(path / name), **options)
    array.attrs.update(attributes or {})
    return array
