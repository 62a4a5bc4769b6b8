// Groups and arrays as owners of attributes, and the GDAL objects that are alive for these. An
// attribute that is removed or renamed by one handle is so for all others.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "zarrcore/base/json.h"

namespace gdal_zarr {

class JsonAttribute;

// GDAL's name, below a group, for where its attributes are: /group/_GLOBAL_/attribute.
inline constexpr const char* kGroupAttributes = "_GLOBAL_";

// Refers to the objects weakly. Safe to use from several threads.
class LiveAttributes {
 public:
  // An object of this name that shows this value; else null.
  std::shared_ptr<JsonAttribute> find(const std::string& name, const zarrcore::Json& value) const;
  void add(const std::shared_ptr<JsonAttribute>& attribute);
  void set_renamed(const std::string& name, const std::string& new_name);
  // The owner has another full name.
  void set_owner_name(const std::string& owner_name);
  // Every use of the objects is an error from then on.
  void set_deleted(const std::string& name);
  void set_all_deleted();

 private:
  using Objects = std::multimap<std::string, std::weak_ptr<JsonAttribute>>;

  mutable std::mutex mutex_;
  Objects objects_;  // by name
};

// A group or an array whose attributes can be changed. The functions throw zarrcore::Error when the
// store cannot be written.
class AttributeOwner {
 public:
  virtual ~AttributeOwner() = default;

  virtual void set_attribute(const std::string& name, const zarrcore::Json& value) = 0;
  virtual void erase_attribute(const std::string& name) = 0;
  // It keeps its position among the others.
  virtual void rename_attribute(const std::string& name, const std::string& new_name) = 0;

  LiveAttributes& live_attributes() { return live_attributes_; }

 private:
  LiveAttributes live_attributes_;
};

}  // namespace gdal_zarr
