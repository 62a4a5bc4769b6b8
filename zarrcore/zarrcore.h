// zarrcore: reading and writing Zarr stores in C++20. This header includes all that a program
// needs; doc/library.md explains it, says what stays stable, and how to link.
//
//   auto store = std::make_shared<zarrcore::FileSystemStore>("air.zarr");
//   zarrcore::Hierarchy hierarchy(store, {.is_writable = true});
//   for (const zarrcore::Child& child : hierarchy.children("")) { … }
//
//   auto context = std::make_shared<zarrcore::Context>();         // threads and caches, shared
//   auto array = hierarchy.open_array("temperature", context);    // its metadata(), its shape()
//   const zarrcore::Selection window{{0, 10, 20}, {1, 64, 128}};  // start, count
//   std::vector<float> values = zarrcore::read_values<float>(*array, window, {.threads = 4});
//
//   zarrcore::ArrayWriter writer(array);
//   zarrcore::write_values<float>(writer, window, values);
//   writer.flush();
//   array = zarrcore::resize_array(hierarchy, "temperature", {100, 512, 512}, context);
//   hierarchy.flush();
//
// Implement Store (store.h) to read from another source of bytes. Array::read() and
// ArrayWriter::write() take any layout of memory and any conversion of elements (selection.h,
// dtype/convert.h). Errors are thrown as zarrcore::Error, whose message names the node, the key and
// the fault.
#pragma once

#include "zarrcore/array/array.h"
#include "zarrcore/array/array_writer.h"
#include "zarrcore/array/selection.h"
#include "zarrcore/array/typed_values.h"
#include "zarrcore/base/api.h"
#include "zarrcore/base/buffer.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/json.h"
#include "zarrcore/base/path.h"
#include "zarrcore/base/strided.h"
#include "zarrcore/chunk/chunk_grid.h"
#include "zarrcore/chunk/chunk_key_encoding.h"
#include "zarrcore/dtype/convert.h"
#include "zarrcore/dtype/data_type.h"
#include "zarrcore/hierarchy/arrays.h"
#include "zarrcore/hierarchy/hierarchy.h"
#include "zarrcore/metadata/array_metadata.h"
#include "zarrcore/metadata/codec_metadata.h"
#include "zarrcore/metadata/format.h"
#include "zarrcore/store/file_system_store.h"
#include "zarrcore/store/forwarding_store.h"
#include "zarrcore/store/memory_store.h"
#include "zarrcore/store/store.h"
