#include <cpl_port.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <vector>

#include "driver/multidim/array.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/json.h"
#include "zarrcore/dtype/data_type.h"

namespace gdal_zarr {
namespace {

using zarrcore::ArrayMetadata;
using zarrcore::find_member;
using zarrcore::Json;

// { "level": 6, "list": [ 1, 2 ] }
std::string spaced_json(const Json& value) {
  if (!value.is_structured()) return zarrcore::dump_json(value);
  std::string text;
  for (const auto& [name, member] : value.items()) {
    text += text.empty() ? " " : ", ";
    if (value.is_object()) text += zarrcore::dump_json(Json(name)) + ": ";
    text += spaced_json(member);
  }
  return value.is_object() ? '{' + text + " }" : '[' + text + " ]";
}

bool is_named(const Json& codec, const char* name) {
  const std::string* text = zarrcore::find_string(codec, "name");
  return text != nullptr && *text == name;
}

// The member of a codec's configuration, or null.
const Json* setting(const Json& codec, const char* name) {
  const Json* configuration = find_member(codec, "configuration");
  return configuration == nullptr ? nullptr : find_member(*configuration, name);
}

// The document that states the shape of the array; null if the format cannot express it.
Json document_of(const zarrcore::Format& format, const ArrayMetadata& array,
                 const std::string& node_path) {
  try {
    return format.array_documents(array, node_path).front().content;
  } catch (const zarrcore::Error&) {
    return nullptr;
  }
}

void add_json(CPLStringList& info, const char* name, const Json* value) {
  const bool is_none = value == nullptr || value->is_null() || value->empty();
  if (!is_none) info.SetNameValue(name, spaced_json(*value).c_str());
}

void add_codecs(CPLStringList& info, const Json& codecs) {
  if (codecs.empty()) return;
  const Json& last = codecs.back();
  if (is_named(last, "bytes") || is_named(last, "transpose")) return;
  add_json(info, "COMPRESSOR", &last);
  const auto bytes =
      std::ranges::find_if(codecs, [](const Json& codec) { return is_named(codec, "bytes"); });
  if (bytes == codecs.end()) return;
  Json filters = Json::array();
  for (auto it = bytes + 1; it + 1 != codecs.end(); ++it) filters.push_back(*it);
  add_json(info, "FILTERS", &filters);
}

// Returns true if the document gives a compressor and filters, and not the whole chain as one list.
bool has_compressor(const Json& document) {
  return find_member(document, "compressor") != nullptr;
}

void add_data_type(CPLStringList& info, const Json& document) {
  const Json* type = find_member(document, "data_type");
  const std::string* name = type == nullptr ? nullptr : zarrcore::find_string(*type, "name");
  if (name == nullptr) return;
  info.SetNameValue("data_type.name", name->c_str());
  const Json* configuration = find_member(*type, "configuration");
  if (configuration == nullptr || !configuration->is_object()) return;
  for (const auto& [member, value] : configuration->items()) {
    info.SetNameValue(
        ("data_type." + std::string(member)).c_str(),
        value.is_string() ? value.get<std::string>().c_str() : spaced_json(value).c_str());
  }
}

CPLStringList codecs_and_type(const Json& document, const Json& codecs) {
  CPLStringList info;
  add_data_type(info, document);
  if (has_compressor(document)) {
    add_json(info, "COMPRESSOR", find_member(document, "compressor"));
    add_json(info, "FILTERS", find_member(document, "filters"));
  } else {
    add_codecs(info, codecs);
  }
  return info;
}

// The codecs of a chunk that is in no other chunk.
Json innermost(Json codecs, bool& is_inner) {
  is_inner = false;
  while (true) {
    const Json* inner = nullptr;
    for (const Json& codec : codecs) {
      if (is_named(codec, "sharding_indexed")) inner = setting(codec, "codecs");
    }
    if (inner == nullptr) return codecs;
    is_inner = true;
    codecs = Json(*inner);
  }
}

// The dimension of the array that each stored dimension is; empty if they are the same, or unknown.
std::vector<std::size_t> transposition(const Json& codecs, std::size_t rank) {
  std::vector<std::size_t> order(rank);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (const Json& codec : codecs) {
    if (!is_named(codec, "transpose")) continue;
    const Json* step = setting(codec, "order");
    if (step == nullptr || !step->is_array() || step->size() != rank) return {};
    std::vector<std::size_t> next;
    for (const Json& axis : *step) {
      if (!axis.is_number_unsigned() || axis.get<std::size_t>() >= rank) return {};
      next.push_back(order[axis.get<std::size_t>()]);
    }
    order = std::move(next);
  }
  return std::ranges::is_sorted(order) ? std::vector<std::size_t>() : order;
}

std::string order_text(const std::vector<std::size_t>& order) {
  std::string text;
  for (const std::size_t axis : order) text += (text.empty() ? "" : ",") + std::to_string(axis);
  return '[' + text + ']';
}

// Returns true if the chain is nothing but transpositions, `bytes` and one more codec.
bool is_simple(const Json& codecs) {
  auto it = codecs.begin();
  while (it != codecs.end() && is_named(*it, "transpose")) ++it;
  return it != codecs.end() && is_named(*it, "bytes") && codecs.end() - it <= 2;
}

}  // namespace

bool has_same_layout(const ArrayMetadata& a, const ArrayMetadata& b) {
  const auto is_same = [](const zarrcore::CodecMetadata& one,
                          const zarrcore::CodecMetadata& other) {
    return one.name == other.name && one.configuration == other.configuration;
  };
  return a.shape == b.shape && a.chunk_shape == b.chunk_shape && a.chunk_runs == b.chunk_runs &&
         a.data_type == b.data_type && a.fill_value == b.fill_value &&
         std::ranges::equal(a.codecs, b.codecs, is_same);
}

CPLStringList structural_info(const zarrcore::Format& format, const ArrayMetadata& array,
                              const std::string& node_path) {
  const Json codecs = zarrcore::format_codec_list(array.codecs);
  CPLStringList info = codecs_and_type(document_of(format, array, node_path), codecs);
  info.SetNameValue("CODECS", zarrcore::dump_json(codecs).c_str());
  return info;
}

CPLStringList block_info(const zarrcore::Format& format, const ArrayMetadata& array,
                         const std::string& node_path) {
  const Json document = document_of(format, array, node_path);
  bool is_inner = false;
  const Json codecs = innermost(zarrcore::format_codec_list(array.codecs), is_inner);
  CPLStringList info = codecs_and_type(document, codecs);
  const auto bytes =
      std::ranges::find_if(codecs, [](const Json& codec) { return is_named(codec, "bytes"); });
  const Json* endian = bytes == codecs.end() ? nullptr : setting(*bytes, "endian");
  if (endian != nullptr && !zarrcore::byte_units(array.data_type).empty()) {
    info.SetNameValue("ENDIANNESS", *endian == "big" ? "BIG" : "LITTLE");
  }
  const auto order = transposition(codecs, array.shape.size());
  if (!order.empty()) info.SetNameValue("TRANSPOSE_ORDER", order_text(order).c_str());
  if (is_inner || (!has_compressor(document) && !is_simple(codecs))) {
    info.SetNameValue("CODECS", spaced_json(codecs).c_str());
  }
  if (is_inner) info.SetNameValue("CHUNK_TYPE", "INNER");
  return info;
}

std::string compression_name(const ArrayMetadata& array) {
  bool is_inner = false;
  const Json codecs = innermost(zarrcore::format_codec_list(array.codecs), is_inner);
  if (!is_simple(codecs) || is_named(codecs.back(), "bytes")) return {};
  const Json& last = codecs.back();
  std::string name = (last.is_string() ? last : last["name"]).get<std::string>();
  constexpr std::string_view kPrefix = "numcodecs.";
  if (name.starts_with(kPrefix)) name.erase(0, kPrefix.size());
  for (const char* known : {"BLOSC", "BZ2", "GZIP", "LZ4", "LZMA", "ZLIB", "ZSTD"}) {
    if (EQUAL(known, name.c_str())) return known;
  }
  return {};
}

}  // namespace gdal_zarr
