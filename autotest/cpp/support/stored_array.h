// Arrays in stores, written the obvious way, one element at a time, and what must be read of them.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "autotest/cpp/support/bytes.h"
#include "zarrcore/array/array.h"
#include "zarrcore/store/store.h"

namespace zarrcore::test {

// The `zarr.json` of an array. `type`, `codecs` and `fill_value` are JSON.
Json array_document(const Shape& shape, const Shape& chunk_shape, std::string_view type,
                    std::string_view codecs, std::string_view fill_value = "0");

// A codec in JSON: `name` and the members of its configuration.
std::string codec(std::string_view name, std::string_view configuration = "");
std::string bytes_codec(std::string_view endian = "little");
std::string transpose_codec(const std::vector<std::size_t>& order);
// `codecs` and `index_codecs` are JSON lists.
std::string sharding_codec(const Shape& inner_shape, std::string_view codecs,
                           std::string_view index_codecs, std::string_view location = "end");
// The JSON list of codecs.
std::string codec_list(const std::vector<std::string>& codecs);
// The usual index: little-endian, with a checksum.
std::string index_codecs();

// Puts a document under the key of a node's `zarr.json`.
void put_document(Store& store, const std::string& path, const Json& document);

// Puts an array with the elements `values`, dense in C order, into the store. Chunks of nothing but
// the fill value are left out.
void write_array(Store& store, const std::string& path, const Json& document, ByteSpan values);

// The array at `path` of a store that has nothing else, with a context of its own.
std::shared_ptr<const Array> open_array(std::shared_ptr<Store> store, const std::string& path = "",
                                        std::shared_ptr<Context> context = nullptr);

// What a selection of an array with the elements `values` is, dense in C order.
Bytes selected(ByteSpan values, const Shape& shape, std::size_t item_size,
               const Selection& selection);

// All of an array.
Selection everything(const Shape& shape);

// Reads a selection, dense in C order.
Bytes read(const Array& array, const Selection& selection, const ReadOptions& options = {});

// A selection that is inside `shape`; steps of both signs.
Selection random_selection(Random& random, const Shape& shape);

}  // namespace zarrcore::test
