// The chunks and shards of a new array.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "driver/new_array/new_array.h"
#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/text.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;
using zarrcore::Shape;

constexpr std::uint64_t kDefaultLength = 256;
// The size in bytes of a chunk that is chosen automatically: large enough to make a request worth
// its latency, small enough that a window fetches little beyond itself.
constexpr std::uint64_t kChunkBytes = std::uint64_t{1} << 20;
// The maximum size of a shard in bytes. Shards have more than half of it if the array does.
constexpr std::uint64_t kShardBytes = std::uint64_t{128} << 20;

using Axes = std::vector<std::size_t>;

// The axes of an array by their role.
struct AxisRoles {
  Axes plane;  // X and Y
  Axes whole;  // not to be divided
  Axes others;
};

AxisRoles axis_roles(const NewArray& array) {
  const std::size_t rank = array.shape.size();
  const std::size_t x = array.x.value_or(rank - 1);
  const std::size_t y = array.y.value_or(rank - 2);
  AxisRoles roles;
  for (std::size_t i = 0; i < rank; ++i) {
    if (i == x || i == y) {
      roles.plane.push_back(i);
    } else if (array.keeps_pixels_together && i > std::max(x, y)) {
      roles.whole.push_back(i);
    } else {
      roles.others.push_back(i);
    }
  }
  return roles;
}

// An axis without elements gets chunks as if it had one element.
Shape with_elements(Shape shape) {
  for (std::uint64_t& length : shape) length = std::max<std::uint64_t>(1, length);
  return shape;
}

std::optional<Shape> given_lengths(const NewArray& array, const CreationOptions& options,
                                   const std::string& name) {
  auto lengths = options.lengths(name);
  if (lengths && lengths->size() != array.shape.size()) {
    throw Error("creation option " + name + " has " + std::to_string(lengths->size()) +
                " lengths, but the array has " + std::to_string(array.shape.size()) +
                " dimensions: " + zarrcore::shape_text(array.shape, ","));
  }
  for (std::size_t i = 0; lengths && i < lengths->size(); ++i) {
    if ((*lengths)[i] == 0) (*lengths)[i] = std::max<std::uint64_t>(1, array.shape[i]);
  }
  return lengths;
}

Shape default_chunk_shape(const NewArray& array) {
  const Shape shape = with_elements(array.shape);
  // As many elements as a chunk of two dimensions: a file for every 256 would be wasteful.
  if (shape.size() == 1) return {std::min(shape[0], kDefaultLength * kDefaultLength)};
  const AxisRoles roles = axis_roles(array);
  Shape chunk(shape.size(), 1);
  for (const std::size_t axis : roles.whole) chunk[axis] = shape[axis];
  for (const std::size_t axis : roles.plane) chunk[axis] = std::min(shape[axis], kDefaultLength);
  return chunk;
}

// Makes chunks longer along `axes`, by the same length along all that are long enough, until a
// chunk has about `elements` elements along these axes. Chunks divide an axis about evenly. Returns
// the number of elements left for other axes.
double lengthen(Shape& chunk, const Shape& shape, Axes axes, double elements) {
  while (!axes.empty()) {
    const auto count = static_cast<double>(axes.size());
    // Rounding may leave a root slightly below an integer.
    const double side = std::max(1.0, std::floor(std::pow(elements, 1 / count) * (1 + 1e-9)));
    const auto shortest =
        std::min_element(axes.begin(), axes.end(),
                         [&](std::size_t a, std::size_t b) { return shape[a] < shape[b]; });
    const std::size_t axis = *shortest;
    const auto length = static_cast<double>(shape[axis]);
    chunk[axis] = length <= side
                      ? shape[axis]
                      : zarrcore::ceil_divide(shape[axis],
                                              static_cast<std::uint64_t>(std::ceil(length / side)));
    elements /= static_cast<double>(chunk[axis]);
    axes.erase(shortest);
  }
  return std::max(1.0, elements);
}

// The longest chunks of at most `elements` elements, and at least one, whose lengths are in these
// ratios, as far as the array is long enough: then they are longer along other axes.
Shape proportional_chunk_shape(const Shape& shape, const Shape& ratios, double elements) {
  Shape chunk(shape.size(), 1);
  Axes axes(shape.size());
  std::iota(axes.begin(), axes.end(), std::size_t{0});
  double unit = 0;
  while (!axes.empty()) {
    double ratio = 1;
    for (const std::size_t axis : axes) ratio *= static_cast<double>(ratios[axis]);
    // Rounding may leave a root slightly below an integer.
    unit = std::pow(elements / ratio, 1 / static_cast<double>(axes.size())) * (1 + 1e-9);
    const auto side = [&](std::size_t axis) { return unit * static_cast<double>(ratios[axis]); };
    // Axes shorter than 1 get the length 1 first: this makes the others shorter.
    auto found = std::ranges::find_if(axes, [&](std::size_t axis) { return side(axis) < 1; });
    if (found == axes.end()) {
      found = std::ranges::find_if(
          axes, [&](std::size_t axis) { return side(axis) >= static_cast<double>(shape[axis]); });
      if (found == axes.end()) break;
      chunk[*found] = shape[*found];
    }
    elements /= static_cast<double>(chunk[*found]);
    axes.erase(found);
  }
  if (unit >= 1) unit = std::floor(unit);
  for (const std::size_t axis : axes) {
    chunk[axis] = static_cast<std::uint64_t>(unit * static_cast<double>(ratios[axis]));
  }
  return chunk;
}

Shape chosen_chunk_shape(const NewArray& array, std::uint64_t item_size,
                         const CreationOptions& options) {
  const Shape shape = with_elements(array.shape);
  double elements = options.is_given("CHUNK_ELEMENTS")
                        ? static_cast<double>(options.integer("CHUNK_ELEMENTS"))
                        : static_cast<double>(kChunkBytes) / static_cast<double>(item_size);
  if (const auto ratios = given_lengths(array, options, "CHUNK_ASPECT_RATIO")) {
    return proportional_chunk_shape(shape, *ratios, elements);
  }
  const AxisRoles roles = axis_roles(array);
  Shape chunk(shape.size(), 1);
  elements = lengthen(chunk, shape, roles.whole, elements);
  if (options.is("ACCESS", "VOLUME")) {
    Axes axes = roles.plane;
    axes.insert(axes.end(), roles.others.begin(), roles.others.end());
    lengthen(chunk, shape, axes, elements);
  } else if (options.is("ACCESS", "SERIES")) {
    elements = lengthen(chunk, shape, roles.others, elements);
    lengthen(chunk, shape, roles.plane, elements);
  } else {
    elements = lengthen(chunk, shape, roles.plane, elements);
    lengthen(chunk, shape, roles.others, elements);
  }
  return chunk;
}

// Fills up rows of inner chunks first, then planes and so on: writing an array in the order of its
// elements then completes one shard after the other.
Shape chosen_shard_shape(const NewArray& array, const Shape& inner, std::uint64_t item_size) {
  const Shape shape = with_elements(array.shape);
  std::uint64_t inner_bytes = item_size;
  for (const std::uint64_t length : inner) {
    inner_bytes = zarrcore::checked_multiply(inner_bytes, length).value_or(UINT64_MAX);
  }
  std::uint64_t budget = std::max<std::uint64_t>(1, kShardBytes / inner_bytes);
  Shape shard = inner;
  for (std::size_t i = shape.size(); i-- > 0;) {
    const std::uint64_t count = std::min(zarrcore::ceil_divide(shape[i], inner[i]), budget);
    shard[i] *= count;
    budget /= count;
  }
  return shard;
}

void refuse_both(bool is_wrong, const char* a, const char* b) {
  if (is_wrong) {
    throw Error("creation options " + std::string(a) + " and " + b + " contradict each other");
  }
}

void check_divides(const Shape& inner, const Shape& shard) {
  for (std::size_t i = 0; i < inner.size(); ++i) {
    if (shard[i] % inner[i] != 0) {
      throw Error("creation option BLOCKSIZE is " + zarrcore::shape_text(shard, ",") +
                  ", not a multiple of SHARD_CHUNK_SHAPE in every dimension: " +
                  zarrcore::shape_text(inner, ","));
    }
  }
}

}  // namespace

std::optional<Shape> multiples_of(const Shape& inner, Shape shape) {
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const auto length =
        zarrcore::checked_multiply(zarrcore::ceil_divide(shape[i], inner[i]), inner[i]);
    if (!length) return std::nullopt;
    shape[i] = *length;
  }
  return shape;
}

ChunkLayout make_chunk_layout(const NewArray& array, std::uint64_t item_size,
                              const CreationOptions& options) {
  const auto block_size = given_lengths(array, options, "BLOCKSIZE");
  const auto inner = given_lengths(array, options, "SHARD_CHUNK_SHAPE");
  const bool has_ratio = options.is_given("CHUNK_ASPECT_RATIO");
  const bool chooses_chunks = options.is("CHUNKS", "AUTO") || has_ratio;
  const bool chooses_shards = options.is("SHARDING", "AUTO");
  const char* chooser = has_ratio ? "CHUNK_ASPECT_RATIO" : "CHUNKS=AUTO";
  refuse_both(chooses_chunks && block_size, chooser, "BLOCKSIZE");
  refuse_both(chooses_chunks && inner, chooser, "SHARD_CHUNK_SHAPE");
  refuse_both(has_ratio && options.is_given("ACCESS"), chooser, "ACCESS");
  refuse_both(chooses_shards && block_size, "SHARDING=AUTO", "BLOCKSIZE");
  if ((chooses_shards || inner) && !array.format->new_array_rules()->has_shards) {
    throw Error(std::string(array.format->name()) + " has no shards: creation option " +
                (inner ? "SHARD_CHUNK_SHAPE" : "SHARDING=AUTO") + " needs them");
  }
  if (chooses_shards) {
    Shape chunk = inner ? *inner : chosen_chunk_shape(array, item_size, options);
    Shape shard = chosen_shard_shape(array, chunk, item_size);
    // A shard of one inner chunk would only add an index.
    if (shard == chunk) return {std::move(chunk), {}};
    return {std::move(shard), std::move(chunk)};
  }
  if (inner) {
    if (!block_size) {
      auto shape = multiples_of(*inner, default_chunk_shape(array));
      if (shape) return {*std::move(shape), inner};
      throw Error("creation option SHARD_CHUNK_SHAPE is " + zarrcore::shape_text(*inner, ","));
    }
    check_divides(*inner, *block_size);
    return {*block_size, inner};
  }
  if (block_size) return {*block_size, {}};
  return {
      chooses_chunks ? chosen_chunk_shape(array, item_size, options) : default_chunk_shape(array),
      {}};
}

}  // namespace gdal_zarr
