#include "driver/new_array/creation_options.h"

#include <cpl_string.h>

#include <algorithm>

#include "driver/gdal/messages.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/text.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;

constexpr std::string_view kCreationOption = "creation option";

std::string upper_case(const std::string& text) {
  return CPLString(text).toupper();
}

std::optional<RegisteredCompressor> find_registered(std::string_view id) {
  for (RegisteredCompressor& compressor : registered_compressors()) {
    if (compressor.id == id) return std::move(compressor);
  }
  return std::nullopt;
}

// Throws unless the value is of the type that the compressor declares.
void check_declared_type(const std::string& name, const std::string& type,
                         const std::string& value) {
  const bool is_int = EQUAL(type.c_str(), "int");
  const bool is_real = EQUAL(type.c_str(), "float") || EQUAL(type.c_str(), "real");
  if ((is_int && !zarrcore::parse_number<std::int64_t>(value)) ||
      (is_real && !zarrcore::parse_number<double>(value))) {
    throw Error(std::string(kCreationOption) + ' ' + name + " is \"" + value + "\", not " +
                (is_int ? "an integer" : "a number"));
  }
}

bool is_option_of(const std::optional<RegisteredCompressor>& compressor, std::string_view name) {
  return compressor && std::any_of(compressor->options.begin(), compressor->options.end(),
                                   [&](const CompressorOption& option) {
                                     return EQUAL(creation_option_name(*compressor, option).c_str(),
                                                  std::string(name).c_str());
                                   });
}

// The options of all registered compressors.
std::string registered_options_xml() {
  std::string xml;
  for (const RegisteredCompressor& compressor : registered_compressors()) {
    for (const CompressorOption& option : compressor.options) {
      xml += single_option_xml(creation_option_name(compressor, option), option.type,
                               option.default_value,
                               option.description + (option.description.empty() ? "" : ". ") +
                                   "Only with COMPRESS=" + upper_case(compressor.id));
    }
  }
  return xml;
}

}  // namespace

std::string creation_option_list(unsigned scopes, std::string_view element) {
  return option_list_xml(creation_options(), scopes, element, 0,
                         (scopes & kArrayOption) != 0 ? registered_options_xml() : std::string());
}

std::string creation_option_name(const RegisteredCompressor& compressor,
                                 const CompressorOption& option) {
  return upper_case(compressor.id) + '_' + upper_case(option.name);
}

void warn_of_unused_options(CSLConstList options, unsigned scopes) {
  const CreationOptions values(options, scopes);
  for (CSLConstList entry = options; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view name = entry_name(*entry);
    if (is_option_of(values.registered(), name)) continue;
    warn_of_unknown_name(creation_options(), scopes, kCreationOption, *entry, NameWarning::always);
    const Option* option = find_creation_option(name);
    if (option != nullptr && (option->scope & scopes) != 0 && !option->needed.empty() &&
        !values.has_one_of(option->needed)) {
      report(CE_Warning, CPLE_AppDefined, "creation option %s has no effect without %s",
             std::string(name).c_str(), std::string(option->needed).c_str());
    }
  }
}

void suggest_creation_options(CSLConstList options) {
  const CreationOptions values(options, kArrayOption);
  for (CSLConstList entry = options; entry != nullptr && *entry != nullptr; ++entry) {
    if (is_option_of(values.registered(), entry_name(*entry))) continue;
    warn_of_unknown_name(creation_options(), kAllOptions, kCreationOption, *entry,
                         NameWarning::if_similar);
  }
}

CreationOptions::CreationOptions(CSLConstList options, unsigned scopes)
    : OptionValues(creation_options(), options, scopes, kCreationOption) {
  if (is_given("COMPRESS")) registered_ = find_registered(text("COMPRESS"));
  if (!registered_) return;
  for (const CompressorOption& option : registered_->options) {
    const std::string name = creation_option_name(*registered_, option);
    const char* given = CSLFetchNameValue(options, name.c_str());
    if (given == nullptr) continue;
    check_declared_type(name, option.type, given);
    set(name, given);
  }
}

CPLStringList without_source_blocks(CSLConstList options) {
  const CreationOptions given(options, kArrayOption);
  CPLStringList own(CSLDuplicate(options));
  if (given.is("CHUNKS", "AUTO") || given.is("SHARDING", "AUTO") ||
      given.is_given("CHUNK_ASPECT_RATIO")) {
    own.SetNameValue("BLOCKSIZE", nullptr);
  }
  return own;
}

std::string creation_data_types() {
  std::string names = "Byte ";
#if GDAL_ZARR_AT_LEAST(3, 7)
  names += "Int8 ";
#endif
  names += "Int16 UInt16 Int32 UInt32 Int64 UInt64 ";
#if GDAL_ZARR_AT_LEAST(3, 11)
  names += "Float16 CFloat16 ";
#endif
  return names + "Float32 Float64 CInt16 CInt32 CFloat32 CFloat64";
}

std::string codec_names(std::string_view option) {
  std::string names;
  for (const OptionValue& value : find_creation_option(option)->values) {
    if (value.name == "NONE") continue;
    names.append(names.empty() ? "" : ",").append(zarrcore::lower_case(value.name));
  }
  if (option != "COMPRESS") return names;
  for (const RegisteredCompressor& compressor : registered_compressors()) {
    names += ',' + compressor.id;
  }
  return names;
}

}  // namespace gdal_zarr
