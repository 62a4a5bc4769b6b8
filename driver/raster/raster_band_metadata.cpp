// The description of a band, and the metadata that state which slice of an array it is.
#include <cpl_conv.h>
#include <cpl_string.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <string_view>

#include "driver/conventions/cf/time.h"
#include "driver/gdal/messages.h"
#include "driver/multidim/array.h"
#include "driver/raster/raster_band.h"

namespace gdal_zarr {
namespace {

struct DimensionValue {
  std::string text;
  std::string time;  // ISO 8601, of CF times
};

// Coordinates that cannot be read are warned of once.
bool read_coordinate(const GDALMDArray& variable, std::uint64_t index,
                     const GDALExtendedDataType& type, void* value) {
  const auto* own = dynamic_cast<const Array*>(&variable);
  if (own != nullptr) return own->read_coordinates(index, 1, type, value);
  const GUInt64 start = index;
  const std::size_t count = 1;
  return variable.Read(&start, &count, nullptr, nullptr, type, value);
}

DimensionValue read_dimension_value(const GDALMDArray& variable, std::uint64_t index) {
  DimensionValue value;
  const auto text_type = GDALExtendedDataType::CreateString();
  char* text = nullptr;
  if (variable.GetDataType().CanConvertTo(text_type) &&
      read_coordinate(variable, index, text_type, &text)) {
    if (text != nullptr) value.text = text;
    CPLFree(text);
  }
  double number = 0;
  if (is_time_unit(variable.GetUnit()) && variable.GetDataType().GetClass() == GEDTC_NUMERIC &&
      read_coordinate(variable, index, GDALExtendedDataType::Create(GDT_Float64), &number)) {
    const auto attribute = variable.GetAttribute("calendar");
    const char* calendar = attribute ? attribute->ReadAsString() : nullptr;
    number = number * variable.GetScale(nullptr, nullptr) + variable.GetOffset(nullptr, nullptr);
    value.time = iso_time(number, variable.GetUnit(), calendar != nullptr ? calendar : "")
                     .value_or(std::string());
  }
  return value;
}

constexpr std::string_view kDimensionPrefix = "DIM_";
constexpr std::string_view kIndex = "_INDEX";

std::string shortest(auto number) {
  char text[64];
  const auto [end, error] =
      std::to_chars(text, text + sizeof(text), number, std::chars_format::general);
  return error == std::errc() ? std::string(text, end) : std::string();
}

// GDAL writes fractions with all digits that a type may need: "0.10000000000000001" is 0.1. Other
// texts that look like numbers stay as they are.
std::string shorten(const std::string& text) {
  if (text.find('.') == std::string::npos || CPLGetValueType(text.c_str()) != CPL_VALUE_REAL) {
    return text;
  }
  const double number = CPLAtof(text.c_str());
  if (CPLSPrintf("%.9g", static_cast<float>(number)) == text) {
    return shortest(static_cast<float>(number));
  }
  const bool is_double = CPLSPrintf("%.17g", number) == text || CPLSPrintf("%.18g", number) == text;
  return is_double ? shortest(number) : text;
}

// "2020-01-01T00:00" for "2020-01-01T00:00:00Z".
std::string without_seconds_of_zero(std::string time) {
  if (time.ends_with('Z')) time.pop_back();
  if (time.ends_with(":00")) time.resize(time.size() - 3);
  return time;
}

std::string value_text(const CPLStringList& items, const std::string& dimension,
                       const char* index) {
  const auto item = [&](const char* suffix) -> std::string {
    return items.FetchNameValueDef((dimension + suffix).c_str(), "");
  };
  if (const std::string time = item("_DATETIME"); !time.empty()) {
    return without_seconds_of_zero(time);
  }
  const std::string value = item("_VALUE");
  if (value.empty()) return index;
  const std::string unit = item("_UNIT");
  const bool is_plain = unit.empty() || unit == "1";
  return shorten(value) + (is_plain ? "" : ' ' + unit);
}

}  // namespace

void RasterBand::make_dimension_metadata() {
  if (has_dimension_metadata_) return;
  has_dimension_metadata_ = true;
  CPLStringList items;
  const std::vector<std::uint64_t> indexes = view().other_indexes(nBand - 1);
  const auto shown = channel();
  for (std::size_t i = 0; i < indexes.size(); ++i) {
    const GDALDimension& dimension = *array().known_dimensions()[view().other_axes()[i]];
    const std::string prefix = "DIM_" + dimension.GetName();
    const auto set = [&](const char* suffix, const std::string& value) {
      items.SetNameValue((prefix + suffix).c_str(), value.c_str());
      GDALRasterBand::SetMetadataItem((prefix + suffix).c_str(), value.c_str(), "");
    };
    const auto variable = dataset().variables_of_bands()[i];
    // The index along a dimension "Band" only repeats the number of the band.
    const bool is_number_alone = indexes.size() == 1 && EQUAL(dimension.GetName().c_str(), "Band");
    if (is_number_alone && !variable && !shown) continue;
    set("_INDEX", std::to_string(indexes[i]));
    if (!variable && shown && shown->axis == i) {
      if (!shown->channel.label.empty()) set("_VALUE", shown->channel.label);
      if (shown->channel.color) set("_COLOR", CPLSPrintf("#%06X", *shown->channel.color));
    }
    if (!variable || dataset().metadata_seconds_ <= 0) continue;
    const auto start = std::chrono::steady_clock::now();
    const DimensionValue value = read_dimension_value(*variable, indexes[i]);
    dataset().metadata_seconds_ -=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!value.text.empty()) set("_VALUE", value.text);
    if (!value.time.empty()) set("_DATETIME", value.time);
    if (!variable->GetUnit().empty()) set("_UNIT", variable->GetUnit());
  }
  const bool is_channel = shown && indexes.size() == 1 && !shown->channel.label.empty();
  slice_description_ = is_channel ? shown->channel.label : describe_slice(items.List());
}

std::optional<RasterBand::ShownChannel> RasterBand::channel() const {
  const std::vector<std::size_t>& axes = view().other_axes();
  const auto member = axes.empty() ? std::nullopt : array().pyramid();
  if (!member) return std::nullopt;
  const Multiscales& image = *member->level.multiscales;
  if (!image.channel_axis || image.axes.size() != array().core().shape().size()) {
    return std::nullopt;
  }
  const auto axis = std::ranges::find(axes, *image.channel_axis);
  if (axis == axes.end()) return std::nullopt;
  const auto place = static_cast<std::size_t>(axis - axes.begin());
  const std::uint64_t index = view().other_indexes(nBand - 1)[place];
  if (index >= image.channels.size()) return std::nullopt;
  return ShownChannel{place, image.channels[static_cast<std::size_t>(index)]};
}

const char* RasterBand::GetDescription() const {
  const char* name = GDALPamRasterBand::GetDescription();
  if (name[0] != '\0' || is_serialized_) return name;
  return guarded("", [this] {
    return static_cast<RasterBand*>(poDS->GetRasterBand(nBand))->make_description();
  });
}

const char* RasterBand::make_description() {
  const zarrcore::Json* long_name = zarrcore::find_member(array().metadata().attributes, kLongName);
  description_ = long_name != nullptr ? name_in_list(*long_name) : std::string();
  if (!description_.empty()) return description_.c_str();
  make_dimension_metadata();
  description_ = slice_description_;
  if (description_.empty()) {
    description_ = long_name != nullptr && long_name->is_string() ? long_name->get<std::string>()
                                                                  : name_among_bands();
  }
  return description_.c_str();
}

std::string RasterBand::name_among_bands() const {
  // Bands without a name are stored in arrays that are called so.
  const std::string& name = array().GetName();
  const std::string number = std::to_string(nBand);
  const bool is_named =
      view().arrays().size() > 1 && name != "Band" + number && !name.ends_with("_band" + number);
  return is_named ? name : std::string();
}

std::string RasterBand::name_in_list(const zarrcore::Json& names) const {
  if (!dataset().names_slices(names)) return {};
  const zarrcore::Json& name = names[view().other_indexes(nBand - 1)[0]];
  return name.is_string() ? name.get<std::string>() : std::string();
}

// As rioxarray does; "" for a band without a name.
bool RasterBand::set_name_in_list(const std::string& name) {
  constexpr std::uint64_t kMostNames = 4096;
  if (!is_writable() || view().bands_are_arrays() || view().other_axes().size() != 1) return false;
  const std::uint64_t count = array().core().shape()[view().other_axes()[0]];
  const zarrcore::Json* stored = zarrcore::find_member(array().metadata().attributes, kLongName);
  const bool is_list = stored != nullptr && dataset().names_slices(*stored);
  // A copied list has become a text.
  const bool is_text_of_list =
      stored != nullptr && stored->is_string() && stored->get<std::string>().starts_with('[');
  if (count > kMostNames || (stored != nullptr && !is_list && !is_text_of_list)) return false;
  zarrcore::Json names =
      is_list ? *stored
              : zarrcore::Json(zarrcore::Json::array_t(static_cast<std::size_t>(count), ""));
  names[static_cast<std::size_t>(view().other_indexes(nBand - 1)[0])] = name;
  if (std::ranges::all_of(names, [](const zarrcore::Json& each) {
        const auto* text = each.get_ptr<const std::string*>();
        return text != nullptr && text->empty();
      })) {
    if (stored != nullptr) array().erase_attribute(kLongName);
  } else {
    array().set_attribute(kLongName, names);
  }
  dataset().show_attribute(kLongName);
  return true;
}

// A description from the store is not saved in the sidecar, where it would outlive a change of the
// store.
CPLXMLNode* RasterBand::SerializeToXML(const char* path) {
  is_serialized_ = true;
  CPLXMLNode* node = GDALPamRasterBand::SerializeToXML(path);
  is_serialized_ = false;
  return node;
}

void RasterBand::load_dimension_metadata() {
  guarded(false, [this] { make_dimension_metadata(); });
}

void RasterBand::load_image_structure() {
  if (array().core().data_type().kind == zarrcore::TypeKind::boolean) {
    GDALRasterBand::SetMetadataItem("NBITS", "1", kImageStructure);
  }
  const std::string compression = compression_name(array().core().metadata());
  if (compression.empty()) return;
  GDALRasterBand::SetMetadataItem("COMPRESSION", compression.c_str(), kImageStructure);
}

MetadataList RasterBand::GetMetadata(const char* domain) {
  if (domain != nullptr && EQUAL(domain, kImageStructure)) load_image_structure();
  if (domain == nullptr || domain[0] == '\0') load_dimension_metadata();
  return GDALPamRasterBand::GetMetadata(domain);
}

const char* RasterBand::GetMetadataItem(const char* name, const char* domain) {
  if ((domain == nullptr || domain[0] == '\0') && name != nullptr && STARTS_WITH_CI(name, "DIM_")) {
    load_dimension_metadata();
  }
  if (domain != nullptr && EQUAL(domain, kImageStructure)) load_image_structure();
  return GDALPamRasterBand::GetMetadataItem(name, domain);
}

void RasterBand::SetDescription(const char* description) {
  guarded(false, [&] {
    // Programs that copy a slice also copy its description, which must not become the array's.
    const bool is_of_slice = describe_slice(GDALPamRasterBand::GetMetadata()) == description;
    if ((is_of_slice && description[0] != '\0') ||
        (!view().bands_are_arrays() && !set_name_in_list(description)) || !is_writable()) {
      return set_sidecar_name(description);
    }
    set_sidecar_name("");
    if (!view().bands_are_arrays()) return;
    if (name_among_bands() == description || description[0] == '\0') {
      array().erase_attribute(kLongName);
    } else {
      array().set_attribute(kLongName, description);
    }
    dataset().show_attribute(kLongName);
  });
}

std::string describe_slice(CSLConstList metadata) {
  const CPLStringList items(CSLDuplicate(metadata));
  std::string description;
  for (int i = 0; i < items.size(); ++i) {
    char* key = nullptr;
    const char* index = CPLParseNameValue(items[i], &key);
    const std::string name = key != nullptr ? key : "";
    CPLFree(key);
    if (index == nullptr || !name.starts_with(kDimensionPrefix) || !name.ends_with(kIndex))
      continue;
    const std::string prefix = name.substr(0, name.size() - kIndex.size());
    if (prefix.size() <= kDimensionPrefix.size()) continue;
    if (!description.empty()) description += ", ";
    description += prefix.substr(kDimensionPrefix.size()) + '=' + value_text(items, prefix, index);
  }
  return description;
}

}  // namespace gdal_zarr
