#include "driver/stores/references/generator.h"

#include <charconv>

#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/json.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;
using zarrcore::Json;

std::int64_t as_integer(const Json& value, const std::string& name) {
  const bool fits = value.is_number_integer() &&
                    !(value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX);
  if (!fits) throw Error(name + " is " + zarrcore::excerpt(value) + ", not an integer of 64 bits");
  return value.get<std::int64_t>();
}

std::int64_t integer_member(const Json& object, const char* name, std::int64_t fallback) {
  const Json* member = zarrcore::find_member(object, name);
  return member == nullptr ? fallback : as_integer(*member, '"' + std::string(name) + '"');
}

// The number of elements of range(start, stop, step).
std::uint64_t range_count(std::int64_t start, std::int64_t stop, std::int64_t step) {
  if (step == 0) throw Error("\"step\" is zero");
  if (step > 0 ? start >= stop : start <= stop) return 0;
  const auto unsigned_of = [](std::int64_t number) { return static_cast<std::uint64_t>(number); };
  const std::uint64_t distance =
      step > 0 ? unsigned_of(stop) - unsigned_of(start) : unsigned_of(start) - unsigned_of(stop);
  return zarrcore::ceil_divide(distance, step > 0 ? unsigned_of(step) : -unsigned_of(step));
}

std::uint64_t rendered_number(const std::string& text, const char* name) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc() && stop == end) return number;
  throw Error(std::string(name) + " becomes \"" + text + "\", which is not a number of bytes");
}

}  // namespace

Generator::Generator(const Json& json)
    : key_(template_text(zarrcore::required_member(json, "key"), "\"key\"")),
      url_(template_text(zarrcore::required_member(json, "url"), "\"url\"")) {
  const Json* offset = zarrcore::find_member(json, "offset");
  const Json* length = zarrcore::find_member(json, "length");
  if ((offset == nullptr) != (length == nullptr)) {
    throw Error("one of \"offset\" and \"length\" is given without the other");
  }
  if (offset != nullptr) {
    offset_ = template_text(*offset, "\"offset\"");
    length_ = template_text(*length, "\"length\"");
  }
  const Json& dimensions = zarrcore::required_member(json, "dimensions");
  if (!dimensions.is_object()) throw Error("\"dimensions\" is not an object");
  for (const auto& [name, values] : dimensions.items()) {
    dimensions_.push_back(read_dimension(name, values));
  }
}

Generator::Dimension Generator::read_dimension(const std::string& name, const Json& json) {
  Dimension dimension;
  dimension.name = name;
  if (json.is_array()) {
    for (const Json& value : json) {
      dimension.values.push_back(value.is_string()
                                     ? TemplateValue(value.get<std::string>())
                                     : TemplateValue(as_integer(value, "dimension " + name)));
    }
    dimension.count = dimension.values.size();
  } else {
    const std::int64_t stop = as_integer(zarrcore::required_member(json, "stop"), "\"stop\"");
    dimension.start = integer_member(json, "start", 0);
    dimension.step = integer_member(json, "step", 1);
    dimension.count = range_count(dimension.start, stop, dimension.step);
  }
  return dimension;
}

std::optional<std::uint64_t> Generator::count() const {
  std::vector<std::uint64_t> counts;
  counts.reserve(dimensions_.size());
  for (const Dimension& dimension : dimensions_) counts.push_back(dimension.count);
  return zarrcore::checked_product(counts);
}

TemplateVariables Generator::variables(std::uint64_t number) const {
  TemplateVariables variables;
  // The last dimension varies fastest.
  for (auto dimension = dimensions_.rbegin(); dimension != dimensions_.rend(); ++dimension) {
    const std::uint64_t index = number % dimension->count;
    number /= dimension->count;
    // Within the range, so the sum fits 64 bits.
    variables[dimension->name] = dimension->values.empty()
                                     ? TemplateValue(static_cast<std::int64_t>(
                                           static_cast<std::uint64_t>(dimension->start) +
                                           index * static_cast<std::uint64_t>(dimension->step)))
                                     : dimension->values[index];
  }
  return variables;
}

std::string Generator::key(std::uint64_t number, const Templates& templates) const {
  return render_template(key_, templates, variables(number));
}

Reference Generator::reference(std::uint64_t number, const Templates& templates) const {
  const TemplateVariables values = variables(number);
  const auto render = [&](const std::string& text) {
    return render_template(text, templates, values);
  };
  Reference reference;
  reference.target = render(url_);
  if (reference.target.empty()) throw Error("it names no file");
  if (length_) {
    reference.offset = rendered_number(render(offset_), "the offset");
    reference.length = rendered_number(render(*length_), "the length");
  }
  return reference;
}

std::string template_text(const Json& value, const std::string& name) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer()) return value.dump();
  throw Error(name + " is " + std::string(zarrcore::describe_kind(value)) +
              " where text is expected");
}

}  // namespace gdal_zarr
