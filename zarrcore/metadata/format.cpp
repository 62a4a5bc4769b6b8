#include "zarrcore/metadata/format.h"

#include <array>
#include <cmath>

#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/metadata/documents.h"

namespace zarrcore {

void add_consolidated(ConsolidatedDocuments& consolidated, std::string_view group,
                      const std::shared_ptr<const Buffer>& holder, std::string_view metadata,
                      std::string_view file_name) {
  if (!metadata.starts_with('{')) throw Error("\"metadata\" is not an object");
  for (JsonMembers members(metadata); members.next();) {
    const std::string name = unescape_json(members.raw_key());
    LazyDocument document(holder, members.value());
    try {
      const std::string path = join_path(group, normalize_path(name));
      consolidated.documents.insert_or_assign(join_path(path, file_name), std::move(document));
    } catch (const Error& error) {
      consolidated.problems.push_back(std::string("consolidated metadata: ") + error.what());
    }
  }
}

void check_zarr_format(const Json& document, int version) {
  const Json& format = required_member(document, "zarr_format");
  if (format.is_number_integer() && format == version) return;
  throw Error("\"zarr_format\" is " + excerpt(format) + " where " + std::to_string(version) +
              " is expected");
}

Shape parse_lengths(Json lengths, std::string_view what) {
  for (Json& length : lengths) {
    if (length == true) length = 1u;
    if (!length.is_number_float()) continue;
    const auto number = length.get<double>();
    if (number >= 0 && number < 0x1p53 && std::trunc(number) == number) {
      length = static_cast<std::uint64_t>(number);
    }
  }
  return as_unsigned_list(lengths, what);
}

Shape parse_shape(const Json& document, std::string_view key) {
  constexpr std::size_t kMaxRank = 256;
  const std::string what = '"' + std::string(key) + '"';
  Shape shape = parse_lengths(required_member(document, key), what);
  if (shape.size() > kMaxRank) {
    throw Error(what + " has " + std::to_string(shape.size()) + " dimensions; at most " +
                std::to_string(kMaxRank) + " are supported");
  }
  return shape;
}

Document Format::consolidated_document(const DocumentMap& /*documents*/,
                                       const std::string& /*path*/) const {
  throw Error(std::string(name()) + " has no consolidated metadata");
}

std::string Format::document_text(const Json& content) const {
  return dump_json(content, {.indentation = 2, .as_read = true});
}

std::span<const Format* const> formats() {
  static const std::array<const Format*, 5> all{&v3_format(), &v2_format(), &draft_format(),
                                                &v1_format(), &n5_format()};
  return all;
}

}  // namespace zarrcore
