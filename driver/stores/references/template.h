// The templates of Kerchunk documents: text with expressions in {{ }}, in the part of Jinja's
// language that references need:
//
//   {{u}}  {{f(c='text')}}      a template of the document, with arguments
//   {{(i + 1) * 1000}}          integers, dimensions, + - * / // % and parentheses
//   {{'%03d' % i}}              text, and formats with %d, %i, %x or %s and a width;
//   {{'%03d' | format(i)}}      the same
//
// Anything else is an error that shows the expression. Arithmetic is Python's, with two
// exceptions: a quotient that / would make a fraction is an error, and so is what does not fit
// 64 bits.
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

// No rendered text is longer, in bytes.
inline constexpr std::size_t kMaxRenderedSize = 64 << 10;

// `text` with each expression replaced by its value. Names stand for `variables` first, then for
// `templates`. Throws zarrcore::Error.
std::string render_template(std::string_view text, const Templates& templates,
                            const TemplateVariables& variables);

}  // namespace gdal_zarr
