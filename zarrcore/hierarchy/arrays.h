// Creating arrays, and changing the shape of an array.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "zarrcore/array/array.h"
#include "zarrcore/array/array_writer.h"
#include "zarrcore/base/api.h"
#include "zarrcore/base/json.h"
#include "zarrcore/base/strided.h"
#include "zarrcore/dtype/data_type.h"
#include "zarrcore/hierarchy/hierarchy.h"
#include "zarrcore/metadata/array_metadata.h"
#include "zarrcore/metadata/codec_metadata.h"
#include "zarrcore/metadata/format.h"

namespace zarrcore {

// A short description of a new array: members that are not set have defaults that suit most
// programs. For full control, fill in an ArrayMetadata and pass it to Hierarchy::create_node().
struct NewArray {
  Shape shape;
  DataType data_type;      // data_type_of<float>(), parse_type_name("int16")…
  Shape chunk_shape = {};  // empty: one chunk
  Shape shard_shape = {};  // a multiple of chunk_shape; empty: no shards. v3 only
  // Bytes-to-bytes codecs, in encoding order, by the names of the v3 specification; codecs of
  // numcodecs have the prefix "numcodecs.".
  std::vector<CodecMetadata> compression = {{"zstd", {{"level", 3}, {"checksum", false}}}};
  std::optional<Json> fill_value = {};  // as the v3 specification spells it; by default zero
  std::vector<std::string> dimension_names = {};
  Json attributes = Json::object();
};

// The metadata of such an array. Throws Error when the members contradict each other, or when the
// format or a codec does not support them.
ZARRCORE_API ArrayMetadata make_array_metadata(const Format& format, const NewArray& array);

// An existing array with the format of long doubles that the options state, if it has some. Throws
// Error when they state none.
ArrayMetadata with_long_doubles(ArrayMetadata array, const HierarchyOptions& options);

// Creates an array and opens it. Throws Error, which names the node, also when something exists at
// `path` or the group around it does not.
ZARRCORE_API std::shared_ptr<const Array> create_array(Hierarchy& hierarchy,
                                                       const std::string& path,
                                                       const NewArray& array,
                                                       std::shared_ptr<Context> context);

// Changes metadata and chunks in an order that loses nothing: gives the array at `path` a new
// shape, and opens it again; objects opened before keep the old shape. Elements outside of the new
// shape are removed, and new ones have the fill value. Writers of the array must have been flushed.
// Throws Error, which names the array, when the number of dimensions differs, when the chunk grid
// is not regular, and when the store fails. If removing elements fails, the array has its new shape
// and nothing inside of it is lost; resize() of the old array object (array/array_writer.h)
// finishes the work.
ZARRCORE_API std::shared_ptr<const Array> resize_array(Hierarchy& hierarchy,
                                                       const std::string& path, const Shape& shape,
                                                       const std::shared_ptr<Context>& context,
                                                       const WriteOptions& options = {});

}  // namespace zarrcore
