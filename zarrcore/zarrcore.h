// zarrcore: reading and writing Zarr stores in C++20. This header includes all that a program
// needs.
//
//   auto store = std::make_shared<zarrcore::FileSystemStore>("air.zarr");
//   const zarrcore::Hierarchy hierarchy(store);
//   for (const zarrcore::Child& child : hierarchy.children("")) { … }
//
//   auto context = std::make_shared<zarrcore::Context>();         // threads and caches, shared
//   auto array = hierarchy.open_array("temperature", context);    // its metadata(), its shape()
//   std::vector<float> window(64 * 128);
//   array->read({{0, 10, 20}, {1, 64, 128}}, window.data(), window.size() * sizeof(float),
//               {.threads = 4});
//
//   zarrcore::ArrayWriter writer(array);
//   writer.write({{0, 10, 20}, {1, 64, 128}}, {…});                // see Source in selection.h
//   writer.flush();
//
// Implement Store (store.h) to read from another source of bytes; pass an ElementConverter
// (base/strided.h, dtype/convert.h) to read another type than the stored one. Errors are thrown as
// zarrcore::Error, whose message names the node, the key and the fault.
#pragma once

#include "zarrcore/array/array.h"
#include "zarrcore/array/array_writer.h"
#include "zarrcore/base/error.h"
#include "zarrcore/dtype/convert.h"
#include "zarrcore/hierarchy/hierarchy.h"
#include "zarrcore/store/file_system_store.h"
#include "zarrcore/store/memory_store.h"
