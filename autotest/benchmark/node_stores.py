"""Stores with many nodes or chunks, and the store that is served over HTTP."""
import json
from pathlib import Path

import numpy as np
from array_stores import scene

ARRAYS = 10_000
REMOTE_LEVELS = ("level", "other")
OBJECT_SIZE, OBJECT_CHUNK = 2048, 256


def array_document(version, shape, chunk):
    if version == 2:
        return {"zarr_format": 2, "shape": shape, "chunks": chunk, "dtype": "<i4",
                "compressor": None, "fill_value": 0, "filters": None, "order": "C"}
    return {"zarr_format": 3, "node_type": "array", "shape": shape, "data_type": "int32",
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunk}},
            "chunk_key_encoding": {"name": "default"}, "fill_value": 0,
            "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
            "attributes": {"units": "K"}, "dimension_names": ["y", "x"]}


def make_many(path, version, consolidated):
    """10,000 arrays of 10 x 10 with two chunks each, none of which exists."""
    documents = {f"a{i}": array_document(version, [10, 10], [5, 10]) for i in range(ARRAYS)}
    path.mkdir(parents=True)
    for name, document in documents.items():
        (path / name).mkdir()
        node = path / name / (".zarray" if version == 2 else "zarr.json")
        node.write_text(json.dumps(document))
    if version == 2:
        (path / ".zgroup").write_text('{"zarr_format": 2}')
        if consolidated:
            metadata = {".zgroup": {"zarr_format": 2}}
            metadata |= {f"{name}/.zarray": document for name, document in documents.items()}
            (path / ".zmetadata").write_text(
                json.dumps({"zarr_consolidated_format": 1, "metadata": metadata}))
        return
    group = {"zarr_format": 3, "node_type": "group", "attributes": {}}
    if consolidated:
        group["consolidated_metadata"] = {
            "kind": "inline", "must_understand": False, "metadata": documents}
    (path / "zarr.json").write_text(json.dumps(group))


def make_sparse(path, version):
    """An array of 1000 x 1000 chunks of 8 x 8, ten of which exist."""
    (path / "sparse").mkdir(parents=True)
    document = array_document(version, [8000, 8000], [8, 8])
    chunk = np.arange(64, dtype="<i4").tobytes()
    keys = [f"{100 * i}.{99 * i}" for i in range(10)]
    if version == 2:
        (path / ".zgroup").write_text('{"zarr_format": 2}')
        (path / "sparse" / ".zarray").write_text(json.dumps(document))
    else:
        keys = ["c/" + key.replace(".", "/") for key in keys]
        (path / "zarr.json").write_text('{"zarr_format": 3, "node_type": "group"}')
        (path / "sparse" / "zarr.json").write_text(json.dumps(document))
    for key in keys:
        file = path / "sparse" / key
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(chunk)


def make_remote(path, version, consolidated):
    """Two groups with an image of 4096 x 4096 each."""
    from osgeo import gdal

    dataset = gdal.GetDriverByName("Zarr").CreateMultiDimensional(
        str(path), [],
        [f"FORMAT=ZARR_V{version}",
         f"CREATE_CONSOLIDATED_METADATA={'YES' if consolidated else 'NO'}"])
    root = dataset.GetRootGroup()
    for name in REMOTE_LEVELS:
        group = root.CreateGroup(name)
        y, x = (group.CreateDimension(d, None, None, 4096) for d in "yx")
        array = group.CreateMDArray("image", [y, x], gdal.ExtendedDataType.Create(gdal.GDT_UInt16),
                                    ["BLOCKSIZE=512,512", "COMPRESS=ZSTD"])
        array.Write(scene(0, 4096, 4096))
    del array, group, root, dataset


def create_objects(path, version):
    """An array of 64 chunks, through GDAL."""
    from osgeo import gdal

    dataset = gdal.GetDriverByName("Zarr").CreateMultiDimensional(
        str(path), [], [f"FORMAT=ZARR_V{version}"])
    root = dataset.GetRootGroup()
    y, x = (root.CreateDimension(d, None, None, OBJECT_SIZE) for d in "yx")
    array = root.CreateMDArray(
        "image", [y, x], gdal.ExtendedDataType.Create(gdal.GDT_UInt16),
        [f"BLOCKSIZE={OBJECT_CHUNK},{OBJECT_CHUNK}", "COMPRESS=ZSTD"])
    array.Write(scene(0, OBJECT_SIZE, OBJECT_SIZE))
    del array, y, x, root, dataset


def make_all(root):
    """Makes the stores that do not exist."""
    def make(name, function, *arguments):
        path = Path(root) / name
        if path.exists():
            return
        partial = path.with_name(name + ".part")
        function(partial, *arguments)
        partial.rename(path)

    for version in (2, 3):
        for consolidated in (True, False):
            suffix = "consolidated" if consolidated else "plain"
            make(f"v{version}-many-{suffix}", make_many, version, consolidated)
            make(f"v{version}-remote-{suffix}", make_remote, version, consolidated)
        make(f"v{version}-sparse", make_sparse, version)
        make(f"v{version}-object", create_objects, version)
