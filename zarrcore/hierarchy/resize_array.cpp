#include "zarrcore/hierarchy/resize_array.h"

#include "zarrcore/array/resize.h"

namespace zarrcore {

std::shared_ptr<const Array> resize_array(Hierarchy& hierarchy, const std::string& path,
                                          const Shape& shape,
                                          const std::shared_ptr<Context>& context,
                                          const WriteOptions& options) {
  const auto old = hierarchy.open_array(path, context);
  check_resize(*old, shape);
  hierarchy.update_node(
      path, [&](NodeMetadata& node) { std::get<ArrayMetadata>(node).shape = shape; },
      NodeKind::array);
  hierarchy.flush_node(path);
  resize(*old, shape, options);
  return hierarchy.open_array(path, context);
}

}  // namespace zarrcore
