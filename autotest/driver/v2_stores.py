"""Writes Zarr v2 with zarr-python 2.13, as in Debian 12, or 3.

    write_v2(path, "sub/a", data, {"units": "m"}, chunks=(4, 4), compressor=numcodecs.Zlib())

Options are those of zarr.array(), as far as both know them. `path` is a pathlib.Path.
"""
from pathlib import PurePosixPath

import numcodecs
import numpy as np
import zarr
from stores import edit_json, write_json

# zarr-python 3: direct calls of tests, and xarray, write v2 as well.
if hasattr(zarr, "config"):
    zarr.config.set({"default_zarr_format": 2})
# zarr-python 3.0, which writes some things in v2 differently from any other version.
IS_FIRST = zarr.__version__.startswith("3.0.")


def write_v2_group(path, attributes=None):
    zarr.open_group(str(path), mode="a").attrs.update(attributes or {})


def write_v2(path, name, data, attributes=None, **options):
    """Writes an array, and the groups above it that do not exist; the name "" is the root. Returns
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
    """Works around an ignored order, filters for strings of any length that it also adds to strings
    of fixed length, and the codec of bytes that it takes for texts."""
    data = np.asarray(data)
    if options.get("dtype") is str:  # with the codec of bytes
        write_objects(path, data.astype(object), numcodecs.VLenUTF8(), order,
                      options.get("fill_value"))
        return zarr.open_array(str(path), mode="r+")
    is_text = data.dtype.kind in "SU"
    stored = data.view(f"V{data.itemsize}") if is_text else data
    with zarr.config.set({"array.order": order}):
        array = zarr.array(stored, store=str(path), **options)
    if not is_text:
        return array
    edit_json(path / ".zarray", dtype=data.dtype.str, fill_value=options.get("fill_value", ""))
    return zarr.open_array(str(path), mode="r+")


def write_objects(path, texts, object_codec, order="C", fill_value=None):
    """An array of strings of any length, which each zarr-python needs in another form: with one
    chunk, or with none if all of it is the fill value."""
    write_json(path / ".zarray", {
        "zarr_format": 2, "shape": texts.shape, "chunks": texts.shape, "dtype": "|O",
        "order": order,
        "fill_value": fill_value, "filters": [object_codec.get_config()], "compressor": None,
    })
    if (texts != fill_value).any():
        chunk = object_codec.encode(np.asarray(texts, order=order))
        (path / ".".join("0" * texts.ndim)).write_bytes(chunk)
