// Copies of arrays of Zarr stores that preserve what GDAL's API does not express: the stored type,
// the fill value, chunks, shards and codecs, and attributes with the types and spellings they have.
//
// GDAL's CopyFrom() creates the new array first, as GDAL's types and block sizes say, and fills it
// then. So Array::CopyFrom() replaces the layout of the array, of which no element is written yet.
//
// The values are copied in slabs, boxes of whole target chunks, that meet few source chunks twice.
#pragma once

#include <gdal_priv.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "driver/multidim/array.h"
#include "zarrcore/array/selection.h"

namespace gdal_zarr {

// Called by each read of GDAL: it shows which array another driver's array reads.
void note_read(const Array& array, const zarrcore::Selection& selection);

// The blocks of `source` that become the chunks of its copy in a virtual store; nullopt if the
// elements are copied: of small arrays without blocks, or of all if the session says so. Throws
// zarrcore::Error, which says why there are none.
std::optional<ArrayBlocks> find_blocks_for_copy(const GDALMDArray& source, const Session& session);

// How far a copy has come, so that another process can continue it: the first parts of it are
// stored, in the order in which they are copied.
struct CopyRecord {
  std::string plan;  // what the parts are
  std::uint64_t complete = 0;
  std::function<void()> save;  // called when a member has changed
};

// Copies all elements between arrays of one shape. Reads each chunk of the source once, or nearly
// so, and writes each chunk or shard of the target once. At most ZARR_COPY_MEMORY bytes of values,
// by default half of GDAL's block cache, are in memory at a time. If that is too little, values are
// stored in a temporary file between reading and writing. The next part is read while the previous
// one is written. `progress` gets 0 to 1. Returns false after a CE_Failure, also when `progress`
// stops it; throws zarrcore::Error. With `is_new`, nothing is stored in the target but the parts
// that the record counts: what the source does not store is then not copied.
bool copy_values(const GDALMDArray& source, Array& target, bool is_new, GDALProgressFunc progress,
                 void* data, CopyRecord* record = nullptr);

struct CopyPlan {
  zarrcore::Shape slab;  // slabs at the ends are shorter
  // How often a source chunk is read, on average.
  double reads = 1;
};

// The slabs for an array of `shape`, which has no dimension of length 0. `target` is the shape that
// is written at once; `source` the shape that is read at once, with 0 along dimensions where any
// part can be read alone. Among the plans that read the least, returns one whose slabs have about
// `wanted_elements`; no slab has more than `max_elements`. Nullopt if even one target chunk has
// more.
std::optional<CopyPlan> plan_copy(std::span<const std::uint64_t> shape,
                                  std::span<const std::uint64_t> source,
                                  std::span<const std::uint64_t> target,
                                  std::uint64_t wanted_elements, std::uint64_t max_elements);

// The boxes that slabs of one shape divide a box into, in C order.
class Slabs {
 public:
  Slabs(zarrcore::Box whole, zarrcore::Shape slab);

  std::size_t size() const { return has_all_ ? size_ : kept_.size(); }
  zarrcore::Box operator[](std::size_t i) const;

  // Without those that have no element in common with any box that `visit_boxes` passes on.
  using VisitBox = std::function<void(const zarrcore::Box&)>;
  void keep(const std::function<void(const VisitBox&)>& visit_boxes);

 private:
  zarrcore::Box whole_;
  zarrcore::Shape slab_;
  std::size_t size_ = 1;
  bool has_all_ = true;
  std::vector<std::size_t> kept_;  // otherwise
};

// A box of an array, and a plan for copying it.
struct CopyRegion {
  zarrcore::Box box;
  zarrcore::Shape unit;  // slabs consist of boxes of this shape
  CopyPlan plan;
};

// The regions of an array that are copied one after the other: all of it if the memory is enough
// for its chunks (or shards); otherwise chunk by chunk, each in slabs of inner chunks, or of any
// shape if even these are too large. Calls `visit` with each, and the share of the regions that are
// complete after it, until it returns false. For the other parameters see plan_copy().
bool for_each_region(std::span<const std::uint64_t> shape, std::span<const std::uint64_t> source,
                     const zarrcore::Shape& chunk, const zarrcore::Shape& inner_chunk,
                     std::uint64_t wanted_elements, std::uint64_t max_elements,
                     const std::function<bool(const CopyRegion&, double share)>& visit);

}  // namespace gdal_zarr
