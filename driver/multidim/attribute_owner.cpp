#include "driver/multidim/attribute_owner.h"

#include <utility>

#include "driver/multidim/json_attribute.h"

namespace gdal_zarr {

std::shared_ptr<JsonAttribute> LiveAttributes::find(const std::string& name,
                                                    const zarrcore::Json& value) const {
  const std::lock_guard lock(mutex_);
  const auto [begin, end] = objects_.equal_range(name);
  for (auto it = begin; it != end; ++it) {
    if (auto object = it->second.lock(); object && object->shows(value)) return object;
  }
  return nullptr;
}

void LiveAttributes::add(const std::shared_ptr<JsonAttribute>& attribute) {
  const std::lock_guard lock(mutex_);
  const auto [begin, end] = objects_.equal_range(attribute->GetName());
  for (auto it = begin; it != end;) it = it->second.expired() ? objects_.erase(it) : std::next(it);
  objects_.emplace(attribute->GetName(), attribute);
}

void LiveAttributes::set_renamed(const std::string& name, const std::string& new_name) {
  const std::lock_guard lock(mutex_);
  while (auto node = objects_.extract(name)) {
    if (const auto object = node.mapped().lock()) object->set_name(new_name);
    node.key() = new_name;
    objects_.insert(std::move(node));
  }
}

void LiveAttributes::set_owner_name(const std::string& owner_name) {
  const std::lock_guard lock(mutex_);
  for (const auto& [name, weak] : objects_) {
    if (const auto object = weak.lock()) object->set_owner_name(owner_name);
  }
}

void LiveAttributes::set_deleted(const std::string& name) {
  const std::lock_guard lock(mutex_);
  while (auto node = objects_.extract(name)) {
    if (const auto object = node.mapped().lock()) object->set_deleted();
  }
}

void LiveAttributes::set_all_deleted() {
  const std::lock_guard lock(mutex_);
  for (const auto& [name, weak] : objects_) {
    if (const auto object = weak.lock()) object->set_deleted();
  }
  objects_.clear();
}

}  // namespace gdal_zarr
