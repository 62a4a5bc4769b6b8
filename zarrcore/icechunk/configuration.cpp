#include "zarrcore/icechunk/configuration.h"

// For GCC's library: how large an expression may become when its repetitions are written out.
// NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
#define _GLIBCXX_REGEX_STATE_LIMIT 10000

#include <algorithm>
#include <regex>

#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/base/text.h"

namespace zarrcore::icechunk {
namespace {

// The only member of an object, or a text as one without a value: how enumerations are stored.
std::pair<std::string, Json> variant_of(const Json& value) {
  if (const std::string* name = as_string(value)) return {lower_case(*name), nullptr};
  if (!value.is_object() || value.size() != 1) {
    throw Error("manifest.splitting has the condition " + excerpt(value));
  }
  return {lower_case(value.begin().key()), value.begin().value()};
}

// Whether an expression is found in a text. All places of the text are looked at together, in a
// time that is bounded by the product of the expression's states and the text's size, which are
// bounded as well: lookahead and back-references, which would take longer, are not in the
// reference's expressions either. Other C++ libraries than GCC's give up by themselves.
bool is_found(const std::string& expression, std::string_view text) {
  using namespace std::regex_constants;
  constexpr std::size_t kMaxSize = 1000;
  constexpr std::size_t kMaxDigits = 9;
  if (expression.size() > kMaxSize) throw std::regex_error(error_complexity);
  if (expression.find("(?=") != std::string::npos || expression.find("(?!") != std::string::npos) {
    throw std::regex_error(error_paren);
  }
  // GCC's library adds up the digits of counts and back-references without a look at overflows.
  std::size_t digits = 0;
  for (const char c : expression) {
    digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    if (digits > kMaxDigits) throw std::regex_error(error_badbrace);
  }
  if (text.size() > kMaxSize) return false;
  auto syntax = ECMAScript | nosubs;
#ifdef __GLIBCXX__
  syntax |= __polynomial;
#endif
  const std::regex anywhere(R"([\s\S]*(?:)" + expression + R"()[\s\S]*)", syntax);
  return std::regex_match(text.begin(), text.end(), anywhere);
}

bool matches(const Json& expression, std::string_view text) {
  const std::string* own = as_string(expression);
  if (own == nullptr) own = find_string(expression, "regex");
  if (own == nullptr) throw Error("manifest.splitting has a condition without a regex");
  try {
    return is_found(*own, text);
  } catch (const std::regex_error&) {
    throw Error("manifest.splitting has the regex " + excerpt(expression) +
                ", which is not supported");
  }
}

bool is_for_array(const Json& condition, std::string_view path, std::size_t depth = 0) {
  if (depth > kMaxJsonDepth) refuse_json_depth();
  const auto [name, value] = variant_of(condition);
  const auto test = [&](const Json& each) { return is_for_array(each, path, depth + 1); };
  if (name == "any_array") return true;
  if (name == "and") return std::all_of(value.begin(), value.end(), test);
  if (name == "or") return std::any_of(value.begin(), value.end(), test);
  if (name == "path_matches") return matches(value, '/' + std::string(path));
  if (name == "name_matches") return matches(value, last_segment(path));
  throw Error("manifest.splitting has the unknown condition " + name);
}

bool is_for_dimension(const Json& condition, std::size_t axis,
                      const std::optional<std::string>& dimension) {
  const auto [name, value] = variant_of(condition);
  if (name == "any") return true;
  if (name == "axis") return as_unsigned(value, "an axis of manifest.splitting") == axis;
  if (name == "dimensionname") return dimension && matches(value, *dimension);
  throw Error("manifest.splitting has the unknown condition " + name);
}

}  // namespace

Configuration::Configuration(const Json& document) {
  const Json* threshold = find_member(document, "inline_chunk_threshold_bytes");
  if (threshold != nullptr && !threshold->is_null()) {
    inline_threshold_ = as_unsigned(*threshold, "inline_chunk_threshold_bytes");
  }
  const Json splitting = object_member(object_member(document, "manifest"), "splitting");
  const Json* sizes = find_member(splitting, "split_sizes");
  if (sizes == nullptr || !sizes->is_array()) return;
  for (const Json& split : *sizes) {
    if (!split.is_array() || split.size() != 2) {
      throw Error("manifest.splitting has the item " + excerpt(split));
    }
    splits_.push_back({split[0], split[1]});
  }
}

std::vector<std::uint64_t> Configuration::split_sizes(
    std::string_view path, const std::vector<std::optional<std::string>>& dimension_names,
    std::size_t rank) const {
  std::vector<std::uint64_t> sizes(rank, UINT64_MAX);
  const auto split = std::ranges::find_if(
      splits_, [&](const Split& each) { return is_for_array(each.condition, path); });
  if (split == splits_.end()) return sizes;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const auto name = axis < dimension_names.size() ? dimension_names[axis] : std::nullopt;
    for (const Json& size : split->sizes) {
      if (!is_for_dimension(required_member(size, "condition"), axis, name)) continue;
      sizes[axis] = as_unsigned(required_member(size, "num_chunks"), "num_chunks");
      if (sizes[axis] == 0) throw Error("manifest.splitting has manifests of 0 chunks");
      break;
    }
  }
  return sizes;
}

std::optional<std::string> container_url(const Json& configuration, std::string_view name) {
  const Json containers = object_member(configuration, "virtual_chunk_containers");
  for (const auto& [key, container] : containers.items()) {
    const std::string* own_name = find_string(container, "name");
    if ((own_name != nullptr ? *own_name : key) != name) continue;
    return url_prefix(key, container);
  }
  return std::nullopt;
}

std::string url_prefix(const std::string& key, const Json& container) {
  const std::string* url = find_string(container, "url_prefix");
  return url != nullptr ? *url : key;
}

}  // namespace zarrcore::icechunk
