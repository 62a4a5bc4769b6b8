// Reads the attributes of CF: texts and words, the units of coordinates, and the attributes of grid
// mapping variables, whose numbers may be integers, floating point, text or lists of one, and whose
// names may be spelled in many ways.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "zarrcore/base/json.h"

namespace gdal_zarr::cf {

inline constexpr const char* kGridMapping = "grid_mapping";
inline constexpr const char* kCoordinates = "coordinates";

// Letters and digits in lower case: "WGS 84", "WGS84" and "wgs_84" are one name.
std::string simplified(std::string_view name);

// A text attribute; empty if it is absent or anything else.
std::string text_in(const zarrcore::Json& attributes, std::string_view name);

// The words of a text attribute, or of a list of texts; none if it is absent or anything else.
std::vector<std::string> words_in(const zarrcore::Json& attributes, const char* name);

// Sets a text attribute to these words; removes it if there are none.
void set_words(zarrcore::Json& attributes, const char* name, const std::vector<std::string>& words);

// Removes the spaces before a text.
void skip_spaces(std::string_view& text);

// Returns true if a text is one of the words of a list, which spaces separate.
bool is_word_of(std::string_view list, std::string_view text);

// The units of coordinates, which CF spells as UDUNITS does: "m", "km", "1000 m", "degrees_east".
enum class UnitKind : std::uint8_t { none, length, angle, other };

struct Unit {
  UnitKind kind = UnitKind::none;
  double size = 1;  // in metres or radians
  std::string name = {};
};

// Reads a word ("km"), or a number and a word ("1000 m"). Empty texts, "1" and numbers of cells
// have no unit; other texts are of the kind "other".
Unit read_unit(const std::string& text);

// UDUNITS' spelling of a length in metres.
std::string format_linear_unit(double metres);

// The attributes of a grid mapping variable. Functions throw zarrcore::Error, with the attribute's
// name, on values of another kind. A list of one counts as its element.
class Attributes {
 public:
  explicit Attributes(const zarrcore::Json& values) : values_(values) {}

  // Empty when the attribute is absent.
  std::string text(const char* key) const;
  // The text of an attribute that is a name. Placeholders for missing names count as absent.
  std::string name(const char* key) const;
  // Empty when the attribute is absent.
  std::vector<double> numbers(const char* key) const;
  std::optional<double> number(const char* key) const;
  std::optional<double> positive(const char* key) const;
  double required(const char* key) const;

 private:
  const zarrcore::Json& values_;
};

}  // namespace gdal_zarr::cf
