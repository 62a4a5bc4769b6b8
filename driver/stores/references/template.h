// The templates of Kerchunk documents (https://fsspec.github.io/kerchunk/spec.html): text with
// expressions in {{ }}, in the subset of Jinja that references need:
//
//   {{u}}  {{f(c='text')}}      a template of the document, with arguments
//   {{(i + 1) * 1000}}          integers, dimensions, + - * / // % and parentheses
//   {{'%03d' % i}}              text, and formats with %d, %i, %x or %s and a width;
//   {{'%03d' | format(i)}}      the same
//
// Anything else is an error that quotes the expression. Arithmetic is Python's, with two
// exceptions: a quotient of / that is not an integer is an error, and so is a result that does not
// fit 64 bits.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>

namespace gdal_zarr {

using TemplateValue = std::variant<std::int64_t, std::string>;
using TemplateVariables = std::map<std::string, TemplateValue, std::less<>>;
// Texts by name.
using Templates = std::map<std::string, std::string, std::less<>>;

// The maximum size of a rendered text in bytes.
inline constexpr std::size_t kMaxRenderedSize = 64 << 10;

// `text` with each expression replaced by its value. Names refer to `variables` first, then to
// `templates`. Throws zarrcore::Error.
std::string render_template(std::string_view text, const Templates& templates,
                            const TemplateVariables& variables);

}  // namespace gdal_zarr
