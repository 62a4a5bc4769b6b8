#include "driver/stores/references/template.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <utility>

#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;

constexpr int kMaxDepth = 32;         // of parentheses, and of templates in templates
constexpr int kMaxRenderings = 1000;  // of templates, expressions and formats, for one text
constexpr std::size_t kMaxTemplateSize = 16
                                         << 20;  // of all that is rendered for one text, in bytes
constexpr std::int64_t kMaxFormatWidth = 64;

bool is_identifier_start(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool is_identifier_character(char c) {
  return is_identifier_start(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
}

std::string text_of(const TemplateValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  return std::get<std::string>(value);
}

// The state shared by all expressions of one text.
struct Rendering {
  const Templates& templates;
  int depth = 0;
  int count = 0;
  std::size_t size = 0;  // of the templates so far, in bytes
};

void check_size(std::size_t size) {
  if (size > kMaxRenderedSize) {
    throw Error("the result has more than " + std::to_string(kMaxRenderedSize) + " bytes");
  }
}

void count_rendering(Rendering& rendering) {
  if (++rendering.count > kMaxRenderings) throw Error("it contains too many expressions");
}

// Counts a level of nesting, while it lives, and a rendering.
class DepthScope {
 public:
  explicit DepthScope(Rendering& rendering) : rendering_(rendering) {
    if (rendering_.depth == kMaxDepth) {
      throw Error("it is nested too deeply, or a template contains itself");
    }
    count_rendering(rendering_);
    ++rendering_.depth;
  }
  ~DepthScope() { --rendering_.depth; }
  DepthScope(const DepthScope&) = delete;
  DepthScope& operator=(const DepthScope&) = delete;

 private:
  Rendering& rendering_;
};

std::string render(std::string_view text, Rendering& rendering, const TemplateVariables& variables);

// As in Python, "//" rounds down, while '/' would give a fraction.
enum class Operation : std::uint8_t { add, subtract, multiply, divide, floor_divide, modulo };

std::int64_t calculate(Operation operation, std::int64_t a, std::int64_t b) {
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  const auto check = [](bool fits) {
    if (!fits) throw Error("the result does not fit 64 bits");
  };
  switch (operation) {
    case Operation::add:
      check(b > 0 ? a <= kMax - b : a >= kMin - b);
      return a + b;
    case Operation::subtract:
      check(b > 0 ? a >= kMin + b : a <= kMax + b);
      return a - b;
    case Operation::multiply: {
      check(!(a == kMin && b == -1));
      const auto product =
          static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
      check(b == 0 || product / b == a);
      return product;
    }
    default: {
      if (b == 0) throw Error("division by zero");
      check(!(a == kMin && b == -1));
      const bool has_rest = a % b != 0;
      // C++ rounds towards zero, Python down.
      const bool rounds_up = has_rest && (a < 0) != (b < 0);
      if (operation == Operation::modulo) return a % b + (rounds_up ? b : 0);
      if (operation == Operation::divide && has_rest) throw Error("the quotient is a fraction");
      return a / b - (rounds_up ? 1 : 0);
    }
  }
}

// Appends `digits`, padded to a width with zeros, after the sign, or spaces.
void append_padded(std::string& text, std::string_view digits, std::size_t width, char padding) {
  const std::size_t fill = width - std::min(width, digits.size());
  if (padding == '0' && digits.starts_with('-')) {
    text += '-';
    digits.remove_prefix(1);
  }
  text.append(fill, padding).append(digits);
}

// `format` with its one conversion replaced by `value`.
std::string apply_format(std::string_view format, const TemplateValue& value) {
  std::string text;
  bool is_used = false;
  for (std::size_t at = 0; at < format.size(); ++at) {
    if (format[at] != '%') {
      text += format[at];
      continue;
    }
    if (format.substr(at, 2) == "%%") {
      text += format[at++];
      continue;
    }
    const char* begin = format.data() + at + 1;
    const char* end = format.data() + format.size();
    const char padding = begin != end && *begin == '0' ? '0' : ' ';
    std::size_t width = 0;
    const auto [stop, error] = std::from_chars(begin, end, width);
    const auto* number = std::get_if<std::int64_t>(&value);
    const char conversion = stop == end ? '\0' : *stop;
    const bool is_known = conversion == 's' || ((conversion == 'd' || conversion == 'i' ||
                                                 (conversion == 'x' && number && *number >= 0)) &&
                                                number);
    if (!is_known || is_used || width > kMaxFormatWidth ||
        error == std::errc::result_out_of_range) {
      throw Error("this format cannot be used here");
    }
    std::string digits = text_of(value);
    if (conversion == 'x') {
      char hexadecimal[16];
      digits.assign(hexadecimal,
                    std::to_chars(hexadecimal, std::end(hexadecimal), *number, 16).ptr);
    }
    append_padded(text, digits, width, conversion == 's' ? ' ' : padding);
    is_used = true;
    at = static_cast<std::size_t>(stop - format.data());
  }
  if (!is_used) throw Error("this format has no place for a value");
  return text;
}

// A recursive descent through one expression.
class Expression {
 public:
  Expression(std::string_view text, Rendering& rendering, const TemplateVariables& variables)
      : text_(text), rendering_(rendering), variables_(variables) {}

  TemplateValue evaluate() {
    TemplateValue value = sum();
    if (peek() != '\0') throw Error("\"" + rest() + "\" is not understood");
    return value;
  }

 private:
  std::string rest() const { return std::string(text_.substr(at_)); }

  // The next character that is not a space; NUL at the end.
  char peek() {
    at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  // Without skipping spaces.
  bool next_is(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (!accept(c)) throw Error("'" + std::string(1, c) + "' is missing at \"" + rest() + "\"");
  }

  TemplateValue binary(Operation operation, TemplateValue a, const TemplateValue& b) {
    const auto* x = std::get_if<std::int64_t>(&a);
    const auto* y = std::get_if<std::int64_t>(&b);
    if (x != nullptr && y != nullptr) return calculate(operation, *x, *y);
    if (operation == Operation::add && x == nullptr && y == nullptr) {
      // In place: sums have up to millions of terms.
      auto& text = std::get<std::string>(a);
      text += std::get<std::string>(b);
      check_size(text.size());
      return a;
    }
    if (operation == Operation::modulo && x == nullptr) return formatted(a, b);
    throw Error("text is used as a number");
  }

  // Each format is as long as the whole text, so there must not be many.
  TemplateValue formatted(const TemplateValue& format, const TemplateValue& value) {
    const auto& text = std::get<std::string>(format);
    check_size(text.size());
    count_rendering(rendering_);
    return apply_format(text, value);
  }

  TemplateValue sum() {
    const DepthScope scope(rendering_);
    TemplateValue value = product();
    while (peek() == '+' || peek() == '-') {
      const Operation operation = text_[at_++] == '+' ? Operation::add : Operation::subtract;
      value = binary(operation, std::move(value), product());
    }
    return value;
  }

  TemplateValue product() {
    TemplateValue value = filtered();
    while (peek() == '*' || peek() == '/' || peek() == '%') {
      const char sign = text_[at_++];
      Operation operation = sign == '*' ? Operation::multiply : Operation::modulo;
      if (sign == '/') operation = next_is('/') ? Operation::floor_divide : Operation::divide;
      value = binary(operation, std::move(value), filtered());
    }
    return value;
  }

  TemplateValue filtered() {
    TemplateValue value = signed_value();
    while (accept('|')) {
      peek();
      if (read_name() != "format") throw Error("format is the only filter that is supported");
      expect('(');
      const TemplateValue argument = sum();
      expect(')');
      if (!std::holds_alternative<std::string>(value)) throw Error("only text is a format");
      value = formatted(value, argument);
    }
    return value;
  }

  TemplateValue signed_value() {
    bool is_negative = false;
    while (peek() == '-' || peek() == '+') is_negative ^= text_[at_++] == '-';
    TemplateValue value = primary();
    return is_negative ? binary(Operation::subtract, std::int64_t{0}, value) : value;
  }

  TemplateValue primary() {
    const char c = peek();
    if (accept('(')) {
      TemplateValue value = sum();
      expect(')');
      return value;
    }
    if (c == '\'' || c == '"') return read_text(c);
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) return read_number();
    if (is_identifier_start(c)) return named_value();
    throw Error(c == '\0' ? "a value is missing at the end"
                          : "a value is missing at \"" + rest() + "\"");
  }

  std::string_view read_name() {
    const std::size_t start = at_;
    while (at_ < text_.size() && is_identifier_character(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }

  TemplateValue read_text(char quote) {
    const auto end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) throw Error("text has no end");
    const std::string_view text = text_.substr(at_ + 1, end - at_ - 1);
    if (text.find('\\') != std::string_view::npos)
      throw Error("a backslash in text is not supported");
    check_size(text.size());
    at_ = end + 1;
    return std::string(text);
  }

  TemplateValue read_number() {
    std::int64_t number = 0;
    const char* end = text_.data() + text_.size();
    const auto [stop, error] = std::from_chars(text_.data() + at_, end, number);
    if (error != std::errc()) throw Error("a number does not fit 64 bits");
    at_ = static_cast<std::size_t>(stop - text_.data());
    if (at_ < text_.size() && (text_[at_] == '.' || is_identifier_character(text_[at_]))) {
      throw Error("\"" + rest() + "\" is not part of an integer");
    }
    return number;
  }

  TemplateValue named_value() {
    const std::string_view name = read_name();
    TemplateVariables arguments;
    if (accept('(') && !accept(')')) {
      do {
        if (!is_identifier_start(peek())) throw Error("an argument has no name");
        const std::string argument(read_name());
        expect('=');
        arguments.insert_or_assign(argument, sum());
      } while (accept(','));
      expect(')');
    }
    if (const auto it = variables_.find(name); it != variables_.end()) return it->second;
    if (const auto it = rendering_.templates.find(name); it != rendering_.templates.end()) {
      return render(it->second, rendering_, arguments);
    }
    throw Error("there is no template or dimension \"" + std::string(name) + "\"");
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Rendering& rendering_;
  const TemplateVariables& variables_;
};

// The end of the expression whose text begins at `start`: the first }} outside quotation marks.
std::size_t expression_end(std::string_view text, std::size_t start) {
  char quote = '\0';
  for (std::size_t at = start; at < text.size(); ++at) {
    if (quote != '\0') {
      if (text[at] == quote) quote = '\0';
    } else if (text[at] == '\'' || text[at] == '"') {
      quote = text[at];
    } else if (text.substr(at, 2) == "}}") {
      return at;
    }
  }
  throw Error("\"" + std::string(text.substr(start - 2)) + "\" has no end");
}

std::string render(std::string_view text, Rendering& rendering,
                   const TemplateVariables& variables) {
  const DepthScope scope(rendering);
  if (text.size() > kMaxTemplateSize - rendering.size) {
    throw Error("its templates have more than " + std::to_string(kMaxTemplateSize) + " bytes");
  }
  rendering.size += text.size();
  std::string result;
  const auto append = [&](std::string_view part) {
    check_size(result.size() + part.size());
    result += part;
  };
  std::size_t copied = 0;
  for (auto at = text.find('{'); at != std::string_view::npos; at = text.find('{', at)) {
    const std::string_view opening = text.substr(at, 2);
    if (opening == "{%" || opening == "{#") {
      throw Error("\"" + std::string(text.substr(at)) + "\": only {{ }} is supported");
    }
    if (opening != "{{") {
      ++at;
      continue;
    }
    append(text.substr(copied, at - copied));
    const std::size_t start = at + 2;
    const std::size_t end = expression_end(text, start);
    const std::string_view expression = text.substr(start, end - start);
    zarrcore::with_context({"{{", expression.substr(0, 200), "}}"}, [&] {
      append(text_of(Expression(expression, rendering, variables).evaluate()));
    });
    copied = at = end + 2;
  }
  append(text.substr(copied));
  return result;
}

}  // namespace

std::string render_template(std::string_view text, const Templates& templates,
                            const TemplateVariables& variables) {
  Rendering rendering{templates};
  return render(text, rendering, variables);
}

}  // namespace gdal_zarr
