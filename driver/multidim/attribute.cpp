#include "driver/multidim/attribute.h"

#include <cpl_conv.h>

#include <algorithm>
#include <cstddef>

#include "zarrcore/base/error.h"
#include "zarrcore/base/strided.h"

namespace gdal_zarr {

using zarrcore::Error;
using zarrcore::Json;

namespace {

// More would make a document too large to be read.
constexpr std::uint64_t kMaxElements = 10'000'000;

bool has_text_members(const GDALExtendedDataType& type) {
  if (type.GetClass() != GEDTC_COMPOUND) return false;
  const auto& members = type.GetComponents();
  return std::ranges::any_of(members, [](const auto& member) {
    return member->GetType().GetClass() == GEDTC_STRING || has_text_members(member->GetType());
  });
}

}  // namespace

class JsonAttribute final : public GDALAttribute {
 public:
  // `elements` are the elements of an array of this shape in C order; a scalar has no dimension.
  // Without an owner the attribute is read-only.
  JsonAttribute(const std::string& owner_name, const std::string& name,
                const GDALExtendedDataType& type, Json::array_t elements,
                const std::vector<GUInt64>& shape, std::shared_ptr<AttributeOwner> owner)
      : GDALAbstractMDArray(owner_name, name),
        GDALAttribute(owner_name, name),
        type_(type),
        elements_(std::move(elements)),
        owner_(std::move(owner)) {
    for (std::size_t i = 0; i < shape.size(); ++i) {
      dimensions_.push_back(std::make_shared<GDALDimension>(
          std::string(), "dim" + std::to_string(i), std::string(), std::string(), shape[i]));
    }
  }

  const std::vector<std::shared_ptr<GDALDimension>>& GetDimensions() const override {
    return dimensions_;
  }
  const GDALExtendedDataType& GetDataType() const override { return type_; }
#if GDAL_ZARR_AT_LEAST(3, 8)
  bool Rename(const std::string& name) override {
    return guarded(false, [&] {
      check_is_writable();
      const std::string old_name = GetName();  // which changes meanwhile
      owner_->rename_attribute(old_name, name);
    });
  }
#endif

  Json json() const { return json_of(elements_); }

  // Called by the owner. GDAL cannot rename attributes before 3.8.
  void set_name([[maybe_unused]] const std::string& name) {
#if GDAL_ZARR_AT_LEAST(3, 8)
    BaseRename(name);
#endif
  }
  void set_owner_name([[maybe_unused]] const std::string& owner_name) {
#if GDAL_ZARR_AT_LEAST(3, 8)
    ParentRenamed(owner_name);
#endif
  }
  void set_deleted() { is_deleted_ = true; }

 protected:
  bool IRead(const GUInt64* start, const size_t* count, const GInt64* step,
             const GPtrDiff_t* stride, const GDALExtendedDataType& buffer_type,
             void* buffer) const override {
    return guarded(false, [&] {
      check_exists();
      const auto size = static_cast<GPtrDiff_t>(buffer_type.GetSize());
      std::vector<std::byte> bytes(type_.GetSize());
      return visit_elements(start, count, step, stride, [&](std::size_t i, GPtrDiff_t offset) {
        return get(elements_[i], bytes, static_cast<GByte*>(buffer) + offset * size, buffer_type);
      });
    });
  }
  bool IWrite(const GUInt64* start, const size_t* count, const GInt64* step,
              const GPtrDiff_t* stride, const GDALExtendedDataType& buffer_type,
              const void* buffer) override {
    return guarded(false, [&] {
      check_is_writable();
      const auto size = static_cast<GPtrDiff_t>(buffer_type.GetSize());
      Json::array_t changed = elements_;
      std::vector<std::byte> bytes(type_.GetSize());
      visit_elements(start, count, step, stride, [&](std::size_t i, GPtrDiff_t offset) {
        changed[i] = given(static_cast<const GByte*>(buffer) + offset * size, buffer_type, bytes);
        return true;
      });
      owner_->set_attribute(GetName(), json_of(changed));
      elements_ = std::move(changed);
    });
  }

 private:
  bool is_text() const { return type_.GetClass() == GEDTC_STRING; }

  // Throw zarrcore::Error.
  void check_exists() const {
    if (is_deleted_) throw Error("attribute " + GetFullName() + " has been deleted");
  }
  void check_is_writable() const {
    check_exists();
    if (!owner_) {
      throw Error("attribute " + GetFullName() + " cannot be changed: the store is read-only");
    }
  }

  Json json_of(const Json::array_t& elements) const {
    std::size_t next = 0;
    const auto lists = [&](const auto& self, std::size_t dimension) -> Json {
      if (dimension == dimensions_.size()) return elements[next++];
      Json list = Json::array();
      for (GUInt64 i = 0; i < dimensions_[dimension]->GetSize(); ++i) {
        list.push_back(self(self, dimension + 1));
      }
      return list;
    };
    return lists(lists, 0);
  }

  // The elements of a request, with the offset of each in the buffer, in elements of the buffer.
  // Ends when `visit(i, offset)` returns false, and returns that.
  template <typename Visit>
  bool visit_elements(const GUInt64* start, const size_t* count, const GInt64* step,
                      const GPtrDiff_t* stride, const Visit& visit) const {
    const std::size_t rank = dimensions_.size();
    std::vector<GPtrDiff_t> steps(rank);  // in elements
    GPtrDiff_t element = 0;
    GPtrDiff_t size = 1;
    for (std::size_t i = rank; i-- > 0;) {
      if (count[i] == 0) return true;
      steps[i] = static_cast<GPtrDiff_t>(step[i]) * size;
      element += static_cast<GPtrDiff_t>(start[i]) * size;
      size *= static_cast<GPtrDiff_t>(dimensions_[i]->GetSize());
    }
    GPtrDiff_t offset = 0;
    std::vector<std::uint64_t> position(rank);
    bool has_more = true;
    while (has_more) {
      if (!visit(static_cast<std::size_t>(element), offset)) return false;
      has_more = zarrcore::advance_position(
          position, [count](std::size_t i) { return count[i]; },
          [&](std::size_t i, std::ptrdiff_t moved) {
            element += moved * steps[i];
            offset += moved * stride[i];
          });
    }
    return true;
  }

  // `bytes` is memory for an element, in this function and the next one.
  bool get(const Json& element, std::vector<std::byte>& bytes, void* target,
           const GDALExtendedDataType& target_type) const {
    if (!is_text()) {
      store_value(element, type_, bytes.data());
      return GDALExtendedDataType::CopyValue(bytes.data(), type_, target, target_type);
    }
    const bool is_plain = type_.GetSubType() != GEDTST_JSON;
    const std::string text = is_plain            ? element.get<std::string>()
                             : element.is_null() ? std::string()
                                                 : json_text(element);
    const char* characters = text.c_str();
    return GDALExtendedDataType::CopyValue(&characters, type_, target, target_type);
  }

  Json given(const void* source, const GDALExtendedDataType& source_type,
             std::vector<std::byte>& bytes) const {
    char* text = nullptr;
    const bool is_copied =
        is_text() ? GDALExtendedDataType::CopyValue(source, source_type, &text,
                                                    GDALExtendedDataType::CreateString())
                  : GDALExtendedDataType::CopyValue(source, source_type, bytes.data(), type_);
    if (!is_copied) {
      throw Error("attribute " + GetFullName() + " cannot hold a value of this type");
    }
    if (!is_text()) return value_json(bytes.data(), type_);
    const std::string copy = text != nullptr ? text : "";
    CPLFree(text);
    if (type_.GetSubType() != GEDTST_JSON) return copy;
    return copy.empty() ? Json(nullptr) : zarrcore::parse_json(copy);
  }

  GDALExtendedDataType type_;
  Json::array_t elements_;
  std::vector<std::shared_ptr<GDALDimension>> dimensions_;
  std::shared_ptr<AttributeOwner> owner_;
  bool is_deleted_ = false;
};

std::shared_ptr<JsonAttribute> AttributeOwner::find_live(const std::string& name,
                                                         const Json& value) const {
  const std::lock_guard lock(live_mutex_);
  const auto [begin, end] = live_.equal_range(name);
  for (auto it = begin; it != end; ++it) {
    if (auto object = it->second.lock(); object && object->json() == value) return object;
  }
  return nullptr;
}

void AttributeOwner::add_live(const std::shared_ptr<JsonAttribute>& attribute) {
  const std::lock_guard lock(live_mutex_);
  const auto [begin, end] = live_.equal_range(attribute->GetName());
  for (auto it = begin; it != end;) it = it->second.expired() ? live_.erase(it) : std::next(it);
  live_.emplace(attribute->GetName(), attribute);
}

void AttributeOwner::update_attributes_name() {
  const std::lock_guard lock(live_mutex_);
  for (const auto& [name, weak] : live_) {
    if (const auto object = weak.lock()) object->set_owner_name(attributes_name());
  }
}

void AttributeOwner::set_attribute(const std::string& name, const Json& value) {
  change_attributes([&](Json& attributes) { attributes[name] = value; });
}

void AttributeOwner::erase_attribute(const std::string& name) {
  change_attributes([&](Json& attributes) { attributes.erase(name); });
  const std::lock_guard lock(live_mutex_);
  while (auto node = live_.extract(name)) {
    if (const auto object = node.mapped().lock()) object->set_deleted();
  }
}

void AttributeOwner::rename_attribute(const std::string& name, const std::string& new_name) {
  change_attributes([&](Json& attributes) {
    if (!attributes.contains(name)) throw Error("attribute \"" + name + "\" does not exist");
    if (new_name.empty() || attributes.contains(new_name)) {
      throw Error("attribute \"" + name + "\" cannot be renamed to \"" + new_name +
                  (new_name.empty() ? "\"" : "\", which already exists"));
    }
    Json renamed = Json::object();
    for (const auto& [key, value] : attributes.items()) {
      zarrcore::copy_member(attributes, key, renamed, key == name ? new_name : std::string(key));
    }
    attributes = std::move(renamed);
  });
  const std::lock_guard lock(live_mutex_);
  while (auto node = live_.extract(name)) {
    if (const auto object = node.mapped().lock()) object->set_name(new_name);
    node.key() = new_name;
    live_.insert(std::move(node));
  }
}

void AttributeOwner::check_exists() const {
  if (is_deleted_) throw Error(description() + " has been deleted");
}

void AttributeOwner::mark_deleted() {
  is_deleted_ = true;
  const std::lock_guard lock(live_mutex_);
  for (const auto& [name, weak] : std::exchange(live_, {})) {
    if (const auto object = weak.lock()) object->set_deleted();
  }
}

std::shared_ptr<GDALAttribute> AttributeOwner::create_attribute(
    const std::string& name, const std::vector<GUInt64>& dimensions,
    const GDALExtendedDataType& type) {
  check_takes_attributes();
  const auto self = owner();
  const std::string attribute = "attribute \"" + name + "\" of " + attributes_name();
  if (!self) {
    throw Error(attribute + " cannot be created: the store was opened for reading only");
  }
  if (has_attribute(name) && !implied_attributes_.contains(name)) {
    throw Error(attribute + " already exists");
  }
  if (name.empty() || has_text_members(type)) {
    throw Error(attribute + " cannot be created: " +
                (name.empty() ? "it needs a name" : "structures with strings are not supported"));
  }
  std::uint64_t count = 1;
  std::uint64_t counted = 1;  // an empty list counts as one value
  for (std::size_t i = 0; i < dimensions.size() && counted <= kMaxElements; ++i) {
    const GUInt64 length = std::max(dimensions[i], GUInt64{1});
    counted = length > kMaxElements ? length : counted * length;
    count *= dimensions[i];
  }
  if (counted > kMaxElements) {
    throw Error(attribute + " would have " + std::to_string(counted) +
                " values, too many for JSON");
  }
  const std::vector<std::byte> zero(type.GetSize());
  const Json initial = type.GetClass() != GEDTC_STRING    ? value_json(zero.data(), type)
                       : type.GetSubType() == GEDTST_JSON ? Json(nullptr)
                                                          : Json("");
  const auto created = std::make_shared<JsonAttribute>(
      attributes_name(), name, type, Json::array_t(count, initial), dimensions, self);
  set_attribute(name, created->json());
  add_live(created);
  implied_attributes_.erase(name);
  return created;
}

void AttributeOwner::delete_attribute(const std::string& name) {
  check_exists();
  if (!has_attribute(name)) throw Error(description() + " has no attribute " + name);
  erase_attribute(name);
}

std::vector<std::shared_ptr<GDALAttribute>> make_attributes(
    const std::string& owner_name, const Json& attributes,
    const std::shared_ptr<AttributeOwner>& owner) {
  std::vector<std::shared_ptr<GDALAttribute>> all;
  for (const auto& [name, value] : attributes.items()) {
    all.push_back(make_attribute(owner_name, name, &value, owner));
  }
  return all;
}

std::shared_ptr<GDALAttribute> make_attribute(const std::string& owner_name,
                                              const std::string& name, const Json* value,
                                              const std::shared_ptr<AttributeOwner>& owner) {
  if (value == nullptr) return nullptr;
  if (owner) {
    if (auto live = owner->find_live(name, *value)) return live;
  }
  const bool is_list = is_json_list(*value);
  Json::array_t elements;
  if (is_list) {
    elements = value->get_ref<const Json::array_t&>();
  } else {
    elements.push_back(*value);
  }
  const auto shape = is_list ? std::vector<GUInt64>{elements.size()} : std::vector<GUInt64>();
  auto attribute = std::make_shared<JsonAttribute>(owner_name, name, json_type(*value),
                                                   std::move(elements), shape, owner);
  if (owner) owner->add_live(attribute);
  return attribute;
}

}  // namespace gdal_zarr
