"""Writes stores of Kerchunk references in Parquet files, with fsspec and with pyarrow alone, and
what their arrays hold. Needs python3-kerchunk, python3-pyarrow and python3-fastparquet:

    python3 autotest/matrix/parquet_references.py autotest/fixtures/stores/kerchunk_parquet

Without an argument it lists the engines and codecs that work here.
"""
import importlib
import json
import shutil
import sys
from pathlib import Path

import numpy as np

SHAPE, CHUNKS = (20, 9), (2, 3)
FILL = 7


def values():
    return np.arange(SHAPE[0] * SHAPE[1], dtype="<u2").reshape(SHAPE) + 1000


def array_document(shape, chunks, **more):
    return {"zarr_format": 2, "shape": list(shape), "chunks": list(chunks), "dtype": "<u2",
            "compressor": None, "filters": None, "order": "C", "fill_value": FILL, **more}


def make_references(folder):
    """The references of the arrays /grid, /deep/lines, /scalar and /empty, by key, and the values
    that they must have; the data are files of `folder`."""
    data = values()
    expected = data.copy()
    references = {".zgroup": {"zarr_format": 2}, ".zattrs": {"title": "é"},
                  "grid/.zarray": array_document(SHAPE, CHUNKS), "grid/.zattrs": {}}
    blob = b"header"
    for row in range(SHAPE[0] // CHUNKS[0]):
        for column in range(SHAPE[1] // CHUNKS[1]):
            part = np.s_[row * 2 : row * 2 + 2, column * 3 : column * 3 + 3]
            chunk = data[part].tobytes()
            key = f"grid/{row}.{column}"
            number = row * 3 + column
            if number in (1, 13, 14):  # missing, and all of the third record
                expected[part] = FILL
            elif number in (2, 17):
                references[key] = chunk  # in the references
            elif number == 4:
                (folder / "whole.bin").write_bytes(chunk)
                references[key] = ["whole.bin"]
            else:
                references[key] = ["blob.bin", len(blob), len(chunk)]
                blob += chunk + b"-"
    lines = np.arange(40, dtype="<u2")
    references |= {"deep/.zgroup": {"zarr_format": 2},
                   "deep/lines/.zarray": array_document([40], [1]), "deep/lines/.zattrs": {}}
    for i, value in enumerate(lines):
        references[f"deep/lines/{i}"] = ["blob.bin", len(blob), 2]
        blob += value.tobytes()
    references |= {"scalar/.zarray": array_document([], []), "scalar/.zattrs": {},
                   "scalar/0": ["blob.bin", len(blob), 2],
                   "empty/.zarray": array_document([4], [1]), "empty/.zattrs": {}}
    blob += np.array(42, "<u2").tobytes()
    (folder / "blob.bin").write_bytes(blob)
    return references, {"grid": expected.tolist(), "deep/lines": lines.tolist(), "scalar": 42,
                        "empty": [FILL] * 4}


def write_with_fsspec(folder, references, engine, record_size):
    import fsspec
    from fsspec.implementations.reference import LazyReferenceMapper
    folder.mkdir()
    mapper = LazyReferenceMapper.create(root=str(folder), fs=fsspec.filesystem("file"),
                                        record_size=record_size, engine=engine,
                                        categorical_threshold=2)
    for key, value in references.items():
        mapper[key] = json.dumps(value).encode() if isinstance(value, dict) else value
    mapper.flush()


def rewrite_with_pyarrow(folder, **options):
    """Replaces all files of references by what pyarrow writes with other options."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    for file in folder.rglob("*.parq"):
        table = pq.read_table(file)
        table = pa.table({name: table[name].cast(type_) for name, type_ in
                          (("path", pa.string()), ("offset", pa.int64()), ("size", pa.int64()),
                           ("raw", pa.binary()))})
        pq.write_table(table, file, **options)


# The codecs and encodings that pyarrow writes.
PYARROW_OPTIONS = {
    "none": {"compression": "none", "use_dictionary": False},
    "snappy": {"compression": "snappy"},
    "gzip": {"compression": "gzip", "data_page_version": "2.0"},
    "lz4": {"compression": "lz4"},
    "zstd_v2": {"compression": "zstd", "data_page_version": "2.0"},
    "deltas": {"compression": "zstd", "use_dictionary": False, "column_encoding": {
        "path": "DELTA_BYTE_ARRAY", "offset": "DELTA_BINARY_PACKED",
        "size": "DELTA_BINARY_PACKED", "raw": "DELTA_LENGTH_BYTE_ARRAY"}},
    "small_groups": {"compression": "snappy", "row_group_size": 3, "data_page_size": 1},
}


def engines():
    """The engines that work here."""
    found = []
    for name in ("pyarrow", "fastparquet"):
        try:
            if name == "fastparquet":
                add_gzip_to_cramjam()
            importlib.import_module(name)
            importlib.import_module("kerchunk.df")
            found.append(name)
        except (ImportError, AttributeError):
            pass
    return found


def add_gzip_to_cramjam():
    """fastparquet needs the module's name even where Debian has built cramjam without it."""
    import gzip
    import types

    import cramjam
    if not hasattr(cramjam, "gzip"):
        cramjam.gzip = types.SimpleNamespace(compress=gzip.compress, decompress=gzip.decompress,
                                             decompress_into=None)


def make(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    references, expected = make_references(folder)
    (folder / "expected.json").write_text(json.dumps(expected))
    found = engines()
    for engine in found:
        write_with_fsspec(folder / f"{engine}_5.parq", references, engine, 5)
        write_with_fsspec(folder / f"{engine}_10000.parq", references, engine, 10_000)
    if "pyarrow" in found:
        for name, options in PYARROW_OPTIONS.items():
            write_with_fsspec(folder / f"{name}.parq", references, "pyarrow", 10)
            rewrite_with_pyarrow(folder / f"{name}.parq", **options)
    return found


if __name__ == "__main__":
    print(engines() if len(sys.argv) == 1 else make(Path(sys.argv[1])))
