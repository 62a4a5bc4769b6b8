#include "driver/multidim/resize.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "driver/multidim/array.h"
#include "driver/multidim/dimension.h"
#include "driver/multidim/session.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

// The dimensions that get another length.
std::map<std::shared_ptr<Dimension>, std::uint64_t> changed_dimensions(
    const Array& array, const zarrcore::Shape& shape) {
  const auto& dimensions = array.known_dimensions();
  std::map<std::shared_ptr<Dimension>, std::uint64_t> sizes;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    auto dimension = std::dynamic_pointer_cast<Dimension>(dimensions[i]);
    if (!dimension) continue;
    const std::uint64_t size = sizes.emplace(std::move(dimension), shape[i]).first->second;
    if (size != shape[i]) {
      throw zarrcore::Error("array " + array.GetFullName() + ": dimension " +
                            dimensions[i]->GetName() + " cannot have two lengths");
    }
  }
  std::erase_if(sizes, [](const auto& item) { return item.first->GetSize() == item.second; });
  return sizes;
}

}  // namespace

void resize_arrays(const Array& array, const zarrcore::Shape& shape) {
  Session& session = *array.session();
  session.writable_hierarchy();
  const auto sizes = changed_dimensions(array, shape);
  // The array itself, and all that share one of the dimensions.
  std::map<std::string, zarrcore::Shape> shapes{{array.node_path(), shape}};
  std::vector<std::shared_ptr<Array>> arrays{session.array(array.node_path())};
  for (const auto& [dimension, size] : sizes) {
    for (const auto& other : session.arrays_below(dimension->group())) {
      for (std::size_t i = 0; i < other->GetDimensions().size(); ++i) {
        if (other->GetDimensions()[i] != dimension) continue;
        const auto [it, is_new] = shapes.emplace(other->node_path(), other->core().shape());
        it->second[i] = size;
        if (is_new) arrays.push_back(other);
      }
    }
  }
  for (const auto& other : arrays) other->set_shape(shapes[other->node_path()]);
  for (const auto& [dimension, size] : sizes) session.dimensions().set_size(*dimension, size);
  for (const auto& other : arrays) other->forget_dimensions();
}

}  // namespace gdal_zarr
