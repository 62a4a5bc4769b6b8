#include "driver/gdal/option_table.h"

#include <cpl_conv.h>
#include <cpl_string.h>

namespace gdal_zarr {
namespace {

std::string xml_escaped(std::string_view text) {
  char* escaped = CPLEscapeString(text.data(), static_cast<int>(text.size()), CPLES_XML);
  std::string result(escaped);
  CPLFree(escaped);
  return result;
}

// ` name="value"`; empty without a value.
std::string xml_attribute(std::string_view name, std::string_view value) {
  if (value.empty()) return {};
  return ' ' + std::string(name) + "=\"" + xml_escaped(value) + '"';
}

std::string_view xml_type(ValueType type) {
  switch (type) {
    case ValueType::boolean:
      return "boolean";
    case ValueType::integer:
      return "int";
    case ValueType::real:
      return "float";
    case ValueType::choice:
      return "string-select";
    default:
      return "string";
  }
}

std::string option_xml(const Option& option, bool is_for_rasters) {
  std::string description(option.description);
  if (!option.needed.empty()) description.append(". Only with ").append(option.needed);
  std::string xml = "  <Option" + xml_attribute("name", option.name) +
                    xml_attribute("alias", option.alias) +
                    xml_attribute("type", xml_type(option.type)) +
                    xml_attribute("default", option.default_value) +
                    xml_attribute("scope", is_for_rasters ? "raster" : "") +
                    xml_attribute("description", description);
  if (option.type == ValueType::integer || option.type == ValueType::real) {
    xml += xml_attribute("min", option_number_text(option.low)) +
           xml_attribute("max", option_number_text(option.high));
  }
  if (option.values.empty()) return xml + "/>\n";
  xml += ">\n";
  for (const OptionValue& value : option.values) {
    xml += "    <Value" + xml_attribute("alias", value.alias) + '>' + xml_escaped(value.name) +
           "</Value>\n";
  }
  return xml + "  </Option>\n";
}

}  // namespace

std::string option_number_text(double number) {
  return CPLSPrintf("%.17g", number);
}

std::string option_list_xml(std::span<const Option> options, unsigned scopes,
                            std::string_view element, unsigned raster_scope) {
  std::string xml = '<' + std::string(element) + ">\n";
  for (const Option& option : options) {
    if ((option.scope & scopes) != 0) xml += option_xml(option, (option.scope & raster_scope) != 0);
  }
  return xml + "</" + std::string(element) + '>';
}

}  // namespace gdal_zarr
