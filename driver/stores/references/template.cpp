#include "driver/stores/references/template.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <utility>

#include "zarrcore/base/error.h"
#include "zarrcore/base/text.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;
using zarrcore::is_digit;

constexpr int kMaxDepth = 32;         // of parentheses, and of templates in templates
constexpr int kMaxRenderings = 1000;  // of templates, expressions and formats, for one text
// The limit for everything that is rendered for one text, in bytes.
constexpr std::size_t kMaxTemplateSize = 16 << 20;
constexpr std::size_t kMaxFormatWidth = 64;

bool is_identifier_start(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool is_identifier_character(char c) {
  return is_identifier_start(c) || is_digit(c);
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

// As in Python, "//" rounds down, while "/" would give a fraction.
std::int64_t calculate(std::string_view operation, std::int64_t a, std::int64_t b) {
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  const auto check = [](bool fits) {
    if (!fits) throw Error("the result does not fit 64 bits");
  };
  if (operation == "+") {
    check(b > 0 ? a <= kMax - b : a >= kMin - b);
    return a + b;
  }
  if (operation == "-") {
    check(b > 0 ? a >= kMin + b : a <= kMax + b);
    return a - b;
  }
  check(!(a == kMin && b == -1));
  if (operation == "*") {
    const auto product =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
    check(b == 0 || product / b == a);
    return product;
  }
  if (b == 0) throw Error("division by zero");
  const bool has_rest = a % b != 0;
  // C++ rounds towards zero, Python down.
  const bool rounds_up = has_rest && (a < 0) != (b < 0);
  if (operation == "%") return a % b + (rounds_up ? b : 0);
  if (operation == "/" && has_rest) throw Error("the quotient is a fraction");
  return a / b - (rounds_up ? 1 : 0);
}

// The value as a conversion like "%03d" writes it, with zeros after the sign or spaces before it.
// Removes the conversion, without its percent sign, from the start of `format`.
std::string convert(std::string_view& format, const TemplateValue& value) {
  char padding = format.starts_with('0') ? '0' : ' ';
  std::size_t width = 0;
  const char* end = format.data() + format.size();
  const auto [stop, error] = std::from_chars(format.data(), end, width);
  const auto* number = std::get_if<std::int64_t>(&value);
  const char conversion = stop == end ? '\0' : *stop;
  const bool is_known =
      conversion == 's' || (number != nullptr && (conversion == 'd' || conversion == 'i' ||
                                                  (conversion == 'x' && *number >= 0)));
  if (!is_known || width > kMaxFormatWidth || error == std::errc::result_out_of_range) {
    throw Error("this format cannot be used here");
  }
  format.remove_prefix(static_cast<std::size_t>(stop + 1 - format.data()));
  std::string digits = text_of(value);
  if (conversion == 'x') {
    char hexadecimal[16];
    digits.assign(hexadecimal, std::to_chars(hexadecimal, std::end(hexadecimal), *number, 16).ptr);
  }
  if (conversion == 's') padding = ' ';
  const bool is_signed = padding == '0' && digits.starts_with('-');
  if (digits.size() < width) digits.insert(is_signed ? 1 : 0, width - digits.size(), padding);
  return digits;
}

// `format` with its one conversion replaced by `value`.
std::string apply_format(std::string_view format, const TemplateValue& value) {
  std::string text;
  bool is_used = false;
  while (!format.empty()) {
    const std::size_t plain = format.find('%');
    text += format.substr(0, plain);
    if (plain == std::string_view::npos) break;
    format.remove_prefix(plain + 1);
    if (format.starts_with('%')) {
      text += '%';
      format.remove_prefix(1);
      continue;
    }
    if (is_used) throw Error("this format cannot be used here");
    text += convert(format, value);
    is_used = true;
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

  void expect(char c) {
    if (!accept(c)) throw Error("'" + std::string(1, c) + "' is missing at \"" + rest() + "\"");
  }

  TemplateValue binary(std::string_view operation, TemplateValue a, const TemplateValue& b) {
    const auto* x = std::get_if<std::int64_t>(&a);
    const auto* y = std::get_if<std::int64_t>(&b);
    if (x != nullptr && y != nullptr) return calculate(operation, *x, *y);
    if (operation == "+" && x == nullptr && y == nullptr) {
      // In place: sums have up to millions of terms.
      auto& text = std::get<std::string>(a);
      text += std::get<std::string>(b);
      check_size(text.size());
      return a;
    }
    if (operation == "%" && x == nullptr) return formatted(a, b);
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
    return operations("+-", [this] { return operations("*/%", [this] { return filtered(); }); });
  }

  // Operands with operators between them, from the left to the right.
  template <typename Operand>
  TemplateValue operations(std::string_view operators, const Operand& operand) {
    TemplateValue value = operand();
    while (peek() != '\0' && operators.find(text_[at_]) != std::string_view::npos) {
      const std::string_view operation = text_.substr(at_, text_.substr(at_, 2) == "//" ? 2 : 1);
      at_ += operation.size();
      value = binary(operation, std::move(value), operand());
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
    return is_negative ? binary("-", std::int64_t{0}, value) : value;
  }

  TemplateValue primary() {
    const char c = peek();
    if (accept('(')) {
      TemplateValue value = sum();
      expect(')');
      return value;
    }
    if (c == '\'' || c == '"') return read_text(c);
    if (is_digit(c)) return read_number();
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
