"""Writes Zarr v2 with zarr-python, be it the 2.13 of Debian 12 or a 3.

    write_v2(path, "sub/a", data, {"units": "m"}, chunks=(4, 4), compressor=numcodecs.Zlib())

Options are those of zarr.array(), as far as both know them. `path` is a pathlib.Path.
"""
from pathlib import PurePosixPath

import numpy as np
import zarr
from stores import edit_json, write_json

if hasattr(zarr,
           "config"):  # zarr-python 3; what tests call by themselves, and xarray, write v2 too
    zarr.config.set({"default_zarr_format": 2})
# zarr-python 3.0, which writes some things in v2 that no other version would.
IS_FIRST = zarr.__version__.startswith("3.0.")


def write_v2_group(path, attributes=None):
    zarr.open_group(str(path), mode="a").attrs.update(attributes or {})


def write_v2(path, name, data, attributes=None, **options):
    """Writes an array, and groups above it where there are none; the name "" is the root. Returns
    zarr-python's array."""
    for group in reversed(PurePosixPath(name).parents):
        write_v2_group(path / group)
    if IS_FIRST:
        array = write_with_first(path / name, data, **options)
    else:
        array = zarr.array(data, store=str(path / name), **options)
    array.attrs.update(attributes or {})
    return array


def write_with_first(path, data, order="C", **options):
    """Past its neglect of the order, and its filters for strings of any length, which it adds to
    those of a fixed one as well."""
    data = np.asarray(data)
    is_text = data.dtype.kind in "SU"
    stored = data.view(f"V{data.itemsize}") if is_text else data
    with zarr.config.set({"array.order": order}):
        array = zarr.array(stored, store=str(path), **options)
    if not is_text:
        return array
    edit_json(path / ".zarray", dtype=data.dtype.str, fill_value=options.get("fill_value", ""))
    return zarr.open_array(str(path), mode="r+")


def write_objects(path, texts, object_codec, order="C", fill_value=None):
    """An array of strings of any length, which each zarr-python wants in another way: of one chunk,
    or of none where all of it is the fill value."""
    write_json(path / ".zarray", {
        "zarr_format": 2, "shape": texts.shape, "chunks": texts.shape, "dtype": "|O",
        "order": order,
        "fill_value": fill_value, "filters": [object_codec.get_config()], "compressor": None,
    })
    if (texts != fill_value).any():
        chunk = object_codec.encode(np.asarray(texts, order=order))
        (path / ".".join("0" * texts.ndim)).write_bytes(chunk)
