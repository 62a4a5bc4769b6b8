#include "driver/gdal/messages.h"

#include <cpl_conv.h>
#include <cpl_string.h>

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <exception>
#include <utility>

#include "zarrcore/base/text.h"

namespace gdal_zarr {
namespace {

constexpr std::string_view kMask = "***";

// A character of a text, possibly encoded as %XX.
struct Character {
  char value;
  bool is_encoded;
  std::size_t offset;  // in the text
};

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::vector<Character> decode(std::string_view text) {
  std::vector<Character> characters;
  characters.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int low = high >= 0 ? hex_digit(text[i + 2]) : -1;
    characters.push_back({low >= 0 ? static_cast<char>(high * 16 + low) : text[i], low >= 0, i});
    if (low >= 0) i += 2;
  }
  return characters;
}

bool is_one_of(char c, std::string_view set) {
  return set.find(c) != std::string_view::npos;
}

bool is_parameter_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         is_one_of(c, "-_.");
}

// Characters that end a URL in a text.
constexpr std::string_view kAroundUrls = " \t\r\n\"'<>{}`";

// Names of query parameters, of options of /vsicurl? and of headers. Short names count only as
// query parameters: elsewhere they may be ordinary words.
bool is_secret(const std::string& name, bool is_in_query) {
  static constexpr std::array<std::string_view, 14> kParts{
      "token",     "signature",     "credential", "passw",     "secret",
      "apikey",    "api_key",       "api-key",    "userpwd",   "cookie",
      "accesskey", "authorization", "access_key", "passphrase"};
  static constexpr std::array<std::string_view, 2> kNames{"sig", "pwd"};
  static constexpr std::array<std::string_view, 13> kInQuery{
      "se",  "st",   "skoid",  "sktid",          "key",        "pass", "auth", "jwt",
      "sas", "code", "policy", "googleaccessid", "key-pair-id"};
  const auto is_name = [&](std::string_view other) { return name == other; };
  return std::ranges::any_of(kParts,
                             [&](auto part) { return name.find(part) != std::string::npos; }) ||
         std::ranges::any_of(kNames, is_name) ||
         (is_in_query && std::ranges::any_of(kInQuery, is_name));
}

class Masker {
 public:
  explicit Masker(std::string_view text) : text_(text), characters_(decode(text)) {}

  std::string run() {
    for (std::size_t i = 0; i < characters_.size();) {
      if (value(i) == ':' && value(i + 1) == '/' && value(i + 2) == '/') {
        i = mask_user(i + 3, characters_[i + 2].is_encoded);
      } else if (value(i) == '=') {
        i = mask_value(i);
      } else {
        ++i;
      }
    }
    masked_ += text_.substr(copied_);
    return std::move(masked_);
  }

 private:
  char value(std::size_t i) const { return i < characters_.size() ? characters_[i].value : '\0'; }
  std::size_t offset(std::size_t i) const {
    return i < characters_.size() ? characters_[i].offset : text_.size();
  }

  // An encoded character does not end a part of a URL that is not encoded as a whole.
  bool is_end(std::size_t i, bool is_url_encoded, std::string_view ends) const {
    const Character& c = characters_[i];
    return (!c.is_encoded && is_one_of(c.value, kAroundUrls)) ||
           ((!c.is_encoded || is_url_encoded) && is_one_of(c.value, ends));
  }

  void mask(std::size_t begin, std::size_t end) {
    masked_ += text_.substr(copied_, offset(begin) - copied_);
    masked_ += kMask;
    copied_ = offset(end);
  }

  // Begins at the first character of an authority. Returns where to continue.
  std::size_t mask_user(std::size_t begin, bool is_url_encoded) {
    std::size_t at = begin;
    for (std::size_t i = begin; i < characters_.size(); ++i) {
      if (is_end(i, is_url_encoded, "/?#")) break;
      if (value(i) == '@') at = i;
    }
    if (at > begin) mask(begin, at);
    return at;
  }

  // Begins at the '=' after a name. Returns where to continue.
  std::size_t mask_value(std::size_t equals) {
    std::size_t begin = equals;
    std::string name;
    while (begin > 0 && is_parameter_character(value(begin - 1))) name += value(--begin);
    std::ranges::reverse(name);
    const bool is_in_query = begin > 0 && is_one_of(value(begin - 1), "?&;");
    if (!is_secret(zarrcore::lower_case(name), is_in_query)) return equals + 1;
    std::size_t end = equals + 1;
    while (end < characters_.size() && !is_end(end, characters_[equals].is_encoded, "&#")) ++end;
    const std::size_t next = end;
    // Punctuation of the surrounding sentence.
    while (end > equals + 1 && is_one_of(value(end - 1), ":;,.)]")) --end;
    if (end > equals + 1) mask(equals + 1, end);
    return next;
  }

  std::string_view text_;
  std::vector<Character> characters_;
  std::string masked_;
  std::size_t copied_ = 0;  // of the text
};

void CPL_STDCALL hold(CPLErr severity, CPLErrorNum number, const char* message) {
  static_cast<HeldMessages*>(CPLGetErrorHandlerUserData())->add(severity, number, message);
}

}  // namespace

std::string mask_secrets(std::string_view text) {
  const bool may_have_secrets = text.find('=') != std::string_view::npos ||
                                text.find('@') != std::string_view::npos ||
                                text.find('%') != std::string_view::npos;
  return may_have_secrets ? Masker(text).run() : std::string(text);
}

std::string printable(std::string_view text) {
  std::string shown(text);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const auto code = static_cast<unsigned char>(shown[i]);
    // U+0080 to U+009F, in two bytes, control terminals as well.
    const bool is_long =
        code == 0xc2 && i + 1 < shown.size() && static_cast<unsigned char>(shown[i + 1]) < 0xa0;
    if ((code < ' ' && code != '\n') || code == 127 || is_long) shown[i] = ' ';
    if (is_long) shown[++i] = ' ';
  }
  return shown;
}

void report(CPLErr severity, CPLErrorNum number, const char* format, ...) noexcept {
  try {
    std::va_list arguments;
    va_start(arguments, format);
    const int length = std::vsnprintf(nullptr, 0, format, arguments);
    va_end(arguments);
    std::string text(static_cast<std::size_t>(std::max(length, 0)), '\0');
    va_start(arguments, format);
    std::vsnprintf(text.data(), text.size() + 1, format, arguments);
    va_end(arguments);
    CPLError(severity, number, "%s", printable(mask_secrets(text)).c_str());
  } catch (const std::exception&) {
    CPLError(severity, CPLE_OutOfMemory, "Zarr: not enough memory");
  }
}

bool debugs() {
  const char* wanted = CPLGetConfigOption("CPL_DEBUG", nullptr);
  if (wanted == nullptr) return false;
  return wanted[0] == '\0' || EQUAL(wanted, "ON") || EQUAL(wanted, "YES") ||
         EQUAL(wanted, "TRUE") || EQUAL(wanted, "1") ||
         CPLString(wanted).ifind("ZARR") != std::string::npos;
}

void debug(const std::string& message) noexcept {
  try {
    CPLDebug("ZARR", "%s", mask_secrets(message).c_str());
  } catch (const std::exception&) {
    CPLDebug("ZARR", "not enough memory");
  }
}

void HeldMessages::add(CPLErr severity, CPLErrorNum number, const char* message) noexcept {
  if (severity == CE_Debug) return;
  try {
    messages_.push_back({severity, number, message});
  } catch (const std::exception&) {
    // The text is lost; the function that failed still reports its failure.
  }
}

bool HeldMessages::have_failure() const noexcept {
  return std::ranges::any_of(messages_,
                             [](const Message& message) { return message.severity == CE_Failure; });
}

void HeldMessages::soften() noexcept {
  for (Message& message : messages_) {
    if (message.severity == CE_Failure) message.severity = CE_Warning;
  }
}

void HeldMessages::leave_out(std::string_view error) noexcept {
  std::erase_if(messages_, [&](const Message& message) {
    return message.severity == CE_Failure && error.find(message.text) != error.npos;
  });
}

void HeldMessages::emit() noexcept {
  for (const Message& message : messages_) {
    report(message.severity, message.number, "%s", message.text.c_str());
  }
  messages_.clear();
}

// A pointer: MinGW cannot destroy thread_local objects.
FirstFailure*& FirstFailure::outermost() noexcept {
  static thread_local FirstFailure* call = nullptr;
  return call;
}

FirstFailure::FirstFailure() noexcept {
  if (outermost() == nullptr) outermost() = this;
}

FirstFailure::~FirstFailure() {
  if (outermost() != this) return;
  outermost() = nullptr;
  if (number_ != CPLE_None) CPLErrorSetState(CE_Failure, number_, text_.c_str());
}

void FirstFailure::note() noexcept {
  FirstFailure* call = outermost();
  if (call == nullptr || call->number_ != CPLE_None || CPLGetLastErrorType() != CE_Failure) return;
  try {
    call->text_ = CPLGetLastErrorMsg();
    call->number_ = CPLGetLastErrorNo();
  } catch (const std::exception&) {
    // If there is no memory for the text, GDAL's last error is the best that is known.
  }
}

void FirstFailure::forget() noexcept {
  number_ = CPLE_None;
}

UnrelatedFailures::UnrelatedFailures() noexcept
    : call_(std::exchange(FirstFailure::outermost(), nullptr)) {}

UnrelatedFailures::~UnrelatedFailures() {
  FirstFailure::outermost() = call_;
}

HoldMessages::HoldMessages() {
  CPLPushErrorHandlerEx(hold, &held_);
  CPLSetCurrentErrorHandlerCatchDebug(FALSE);
}

HoldMessages::~HoldMessages() {
  CPLPopErrorHandler();
  held_.emit();
}

}  // namespace gdal_zarr
