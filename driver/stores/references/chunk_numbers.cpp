#include "driver/stores/references/chunk_numbers.h"

#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/json.h"
#include "zarrcore/base/text.h"
#include "zarrcore/metadata/documents.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;
using zarrcore::Json;

}  // namespace

ChunkNumbers::ChunkNumbers(std::string_view document) {
  const Json array = zarrcore::parse_json(document);
  const Json* chunks = zarrcore::find_member(array, "chunks");
  if (zarrcore::find_member(array, "shape") == nullptr || chunks == nullptr) {
    throw Error("\"shape\" or \"chunks\" is missing");
  }
  const auto shape = zarrcore::parse_shape(array);
  const auto chunk_shape = zarrcore::as_unsigned_list(*chunks, "\"chunks\"");
  if (shape.size() != chunk_shape.size()) throw Error("\"shape\" and \"chunks\" differ in length");
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (chunk_shape[i] == 0) throw Error("\"chunks\" holds a zero");
    counts_.push_back(zarrcore::ceil_divide(shape[i], chunk_shape[i]));
  }
  const auto count = zarrcore::checked_product(counts_);
  if (!count) throw Error("the array has more chunks than can be counted");
  count_ = *count;
  const Json* separator = zarrcore::find_member(array, "dimension_separator");
  if (separator != nullptr && *separator == "/") separator_ = '/';
}

std::optional<std::uint64_t> ChunkNumbers::find(std::string_view place) const {
  if (counts_.empty()) return place == "0" ? std::optional<std::uint64_t>(0) : std::nullopt;
  std::uint64_t number = 0;
  std::string_view rest = place;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    const auto index = zarrcore::take_number<std::uint64_t>(rest);
    const bool is_last = i + 1 == counts_.size();
    const bool is_separated =
        is_last ? rest.empty() : rest.starts_with('.') || rest.starts_with('/');
    if (!index || !is_separated || *index >= counts_[i]) return std::nullopt;
    if (!is_last) rest.remove_prefix(1);
    number = number * counts_[i] + *index;  // less than count_
  }
  return number;
}

std::optional<ChunkNumbers::Level> ChunkNumbers::find_level(std::string_view prefix) const {
  if (separator_ == '.' || counts_.size() < 2) {
    return prefix.empty() ? std::optional<Level>(Level{0, count_, true}) : std::nullopt;
  }
  Level level;
  std::size_t dimension = 0;
  for (; !prefix.empty(); ++dimension) {
    const auto index = zarrcore::take_number<std::uint64_t>(prefix);
    if (!index || dimension + 1 >= counts_.size() || *index >= counts_[dimension]) {
      return std::nullopt;
    }
    level.first = (level.first + *index) * counts_[dimension + 1];
    if (prefix.empty()) continue;
    if (!prefix.starts_with('/')) return std::nullopt;
    prefix.remove_prefix(1);
    if (prefix.empty()) return std::nullopt;
  }
  level.count = counts_[dimension];
  level.is_last = dimension + 1 == counts_.size();
  return level;
}

std::string ChunkNumbers::name_of(std::uint64_t number) const {
  if (counts_.empty()) return "0";
  if (separator_ == '/') return std::to_string(number % counts_.back());
  std::vector<std::uint64_t> indexes(counts_.size());
  for (std::size_t i = counts_.size(); i-- > 0; number /= counts_[i]) {
    indexes[i] = number % counts_[i];
  }
  return zarrcore::shape_text(indexes, ".");
}

}  // namespace gdal_zarr
