// Attributes: JSON values as GDAL sees them, and the groups and arrays that own them.
//
//   JSON                             GDAL
//   string                           string
//   null                             the empty string, of subtype JSON
//   integer                          int32, int64 or uint64: the first that holds it
//   number                           float64
//   list of strings                  strings, one dimension
//   list of numbers                  the type that holds all of them, one dimension
//   anything else                    the JSON text, a string of subtype JSON
//
// When written, strings of subtype JSON are parsed, numbers of all types become JSON numbers,
// complex ones [real, imaginary], structures of numbers objects, and several dimensions lists of
// lists.
#pragma once

#include <cpl_string.h>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "driver/gdal/compat.h"
#include "driver/gdal/messages.h"
#include "zarrcore/base/json.h"

namespace gdal_zarr {

// JSON values as GDAL's types and elements.

// Returns true for a list of strings alone or of numbers alone, which has one dimension.
bool is_json_list(const zarrcore::Json& value);
// The type of an attribute, or of the elements of a list.
GDALExtendedDataType json_type(const zarrcore::Json& value);

// An element of a type without strings as JSON, and back. Integers are JSON numbers in full, all
// others as float64; complex numbers are [real, imaginary], structures objects.
zarrcore::Json value_json(const std::byte* element, const GDALExtendedDataType& type);
void store_value(const zarrcore::Json& value, const GDALExtendedDataType& type, std::byte* element);

// The JSON text of a value. Numbers stay as they are in the document, and so in copies.
std::string json_text(const zarrcore::Json& value);

// The text of an attribute for metadata lists: strings as they are, numbers in full, lists of
// numbers as "{1,2}", anything else as JSON.
std::string attribute_text(const zarrcore::Json& value);

// Attributes as metadata items, sorted: NAME=text. Of names that differ in case alone, which GDAL
// does not distinguish, the last one counts.
CPLStringList attribute_items(const zarrcore::Json& attributes);

class AttributeOwner;
class JsonAttribute;

// All members of the object `attributes`. `owner_name` is the full name of the array, or for a
// group its full name with /_GLOBAL_, as in GDAL. Without an owner the attributes are read-only;
// with an owner, an existing object for the same value is returned again.
std::vector<std::shared_ptr<GDALAttribute>> make_attributes(
    const std::string& owner_name, const zarrcore::Json& attributes,
    const std::shared_ptr<AttributeOwner>& owner = nullptr);

// An attribute of this value; null if it has none.
std::shared_ptr<GDALAttribute> make_attribute(
    const std::string& owner_name, const std::string& name, const zarrcore::Json* value,
    const std::shared_ptr<AttributeOwner>& owner = nullptr);

// A group or an array. The functions that change attributes throw zarrcore::Error when the store
// cannot be written. An attribute that is removed or renamed by one GDAL object is so for all
// others that are alive for it; the owner refers to these weakly, and finds them from several
// threads.
class AttributeOwner {
 public:
  virtual ~AttributeOwner() = default;

  // Changes the stored attributes.
  virtual void change_attributes(const std::function<void(zarrcore::Json& attributes)>& edit) = 0;
  void set_attribute(const std::string& name, const zarrcore::Json& value);
  void erase_attribute(const std::string& name);
  // The attribute keeps its position among the others. Throws zarrcore::Error if it does not exist,
  // or if an attribute with the new name exists.
  void rename_attribute(const std::string& name, const std::string& new_name);
  // An object of this name that shows this value; else null.
  std::shared_ptr<JsonAttribute> find_live(const std::string& name,
                                           const zarrcore::Json& value) const;
  void add_live(const std::shared_ptr<JsonAttribute>& attribute);
  bool is_deleted() const { return is_deleted_; }

 protected:
  // "array /group/name", for messages.
  virtual std::string description() const = 0;
  // The `owner_name` of the attributes.
  virtual std::string attributes_name() const = 0;
  // The owner itself where its attributes can be changed, else null.
  virtual std::shared_ptr<AttributeOwner> owner() const = 0;
  // The attributes that programs see; with `show_all`, also those that GDAL has other API for.
  virtual std::shared_ptr<const zarrcore::Json> visible_attributes(bool show_all) const = 0;
  // The value of a visible attribute; null if there is no such attribute.
  virtual std::shared_ptr<const zarrcore::Json> find_visible(const std::string& name) const = 0;
  // Returns true if the attribute is stored, visible or not.
  virtual bool has_attribute(const std::string& name) const = 0;
  // Throws zarrcore::Error where no attributes can be created.
  virtual void check_takes_attributes() const { check_exists(); }

  // Throws zarrcore::Error when the owner was deleted.
  void check_exists() const;
  // Every use of the owner and its attributes is an error from then on.
  void mark_deleted();
  // attributes_name() is another one now.
  void update_attributes_name();
  // A scalar has no dimension. Values are zero or empty until they are written. Throws
  // zarrcore::Error when the attribute exists or when JSON cannot hold it.
  std::shared_ptr<GDALAttribute> create_attribute(const std::string& name,
                                                  const std::vector<GUInt64>& dimensions,
                                                  const GDALExtendedDataType& type);
  void delete_attribute(const std::string& name);

  // Attributes of a new array that a program may still create, as if they did not exist.
  std::set<std::string> implied_attributes_;

 private:
  bool is_deleted_ = false;
  mutable std::mutex live_mutex_;
  std::multimap<std::string, std::weak_ptr<JsonAttribute>> live_;  // by name
};

// The attributes of a class of GDAL, `Base`, in its API.
template <typename Base>
class WithAttributes : public Base, public AttributeOwner {
 public:
  std::shared_ptr<GDALAttribute> GetAttribute(const std::string& name) const override {
    return guarded<std::shared_ptr<GDALAttribute>>(nullptr, [&] {
      check_exists();
      return make_attribute(attributes_name(), name, find_visible(name).get(), owner());
    });
  }
  std::vector<std::shared_ptr<GDALAttribute>> GetAttributes(CSLConstList options) const override {
    return guarded<std::vector<std::shared_ptr<GDALAttribute>>>({}, [&] {
      check_exists();
      const bool show_all = CPLTestBool(CSLFetchNameValueDef(options, "SHOW_ALL", "NO"));
      return make_attributes(attributes_name(), *visible_attributes(show_all), owner());
    });
  }
  std::shared_ptr<GDALAttribute> CreateAttribute(const std::string& name,
                                                 const std::vector<GUInt64>& dimensions,
                                                 const GDALExtendedDataType& type,
                                                 CSLConstList /*options*/) override {
    return guarded<std::shared_ptr<GDALAttribute>>(
        nullptr, [&] { return create_attribute(name, dimensions, type); });
  }
#if GDAL_ZARR_AT_LEAST(3, 8)
  bool DeleteAttribute(const std::string& name, CSLConstList /*options*/) override {
    return guarded(false, [&] { delete_attribute(name); });
  }
#endif

 protected:
  template <typename... Arguments>
  explicit WithAttributes(Arguments&&... arguments) : Base(std::forward<Arguments>(arguments)...) {}
};

}  // namespace gdal_zarr
