// New arrays whose chunks are blocks of other files.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "driver/gdal/messages.h"
#include "driver/gdal/partial_progress.h"
#include "driver/multidim/array.h"
#include "driver/multidim/copied_array.h"
#include "driver/multidim/session.h"
#include "driver/multidim/structural_info.h"
#include "driver/stores/icechunk/virtual_chunks.h"
#include "driver/virtual/cube.h"
#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/text.h"

namespace gdal_zarr {

// Nullopt if the elements of `source` are to be copied.
std::optional<ArrayBlocks> find_blocks_for_copy(const GDALMDArray& source, const Session& session) {
  // Of HDF5, for values that are stored with the description of the array.
  constexpr std::uint64_t kMaxInlineBytes = 64 << 10;
  // Coordinates that a program has computed are in no file.
  const bool copies_others =
      session.copies_blocks() ||
      (source.GetDimensionCount() == 1 && source.GetFilename().empty()) ||
      source.GetDataType().GetClass() != GEDTC_NUMERIC ||
      source.GetTotalElementsCount() <= kMaxInlineBytes / source.GetDataType().GetSize();
  try {
    auto cube = find_cube_blocks(source);
    ArrayBlocks found = cube ? std::move(*cube) : find_array_blocks(source, copies_others);
    if (session.icechunk() != nullptr) {
      found.visit([](std::span<const std::uint64_t> /*index*/, const auto& block) {
        const bool is_in_file = block && !block->target.empty();
        if (is_in_file) virtual_chunk_url(block->target);
        return !is_in_file;
      });
    }
    return found;
  } catch (const zarrcore::Error& problem) {
    if (copies_others) return std::nullopt;
    throw zarrcore::Error("array " + source.GetFullName() + ": " + problem.what() +
                          "; VIRTUAL=AUTO copies such arrays");
  }
}

void Array::set_blocks(const BlockLayout& layout) {
  if (layout.data_type != metadata_->data_type) {
    throw zarrcore::Error("array " + GetFullName() +
                          ": its data type differs from the blocks of the source");
  }
  session_->writable_hierarchy().update_node(
      node_path(),
      [&](zarrcore::NodeMetadata& node) {
        auto& metadata = std::get<zarrcore::ArrayMetadata>(node);
        metadata.chunk_shape = layout.chunk_shape;
        metadata.chunk_runs.clear();
        metadata.codecs = layout.codecs;
      },
      zarrcore::NodeKind::array);
  // In a repository, references are for chunks of the array as its document describes it.
  session_->writable_hierarchy().flush_node(node_path());
  array_ = session_->reopen_array(node_path());
  load_metadata();
  structural_info_ =
      structural_info(session_->hierarchy().format(), array_->metadata(), node_path());
}

void Array::put_block(std::span<const std::uint64_t> chunk, Reference reference) {
  const zarrcore::ArrayMetadata& metadata = array_->metadata();
  session_->reference_target()->put_reference(
      metadata.chunk_key_encoding.encode(chunk, metadata.chunk_prefix), std::move(reference));
}

bool Array::refer_to(const GDALMDArray& source, const ArrayBlocks& blocks,
                     const PartialProgress& progress) {
  const zarrcore::Shape& lengths = blocks.layout.chunk_shape;
  double count = 1;
  for (std::size_t i = 0; i < rank(); ++i) {
    count *= static_cast<double>(zarrcore::ceil_divide(array_->shape()[i], lengths[i]));
  }
  zarrcore::Buffer buffer;
  std::uint64_t done = 0;
  bool is_stopped = false;
  const auto take = [&](std::span<const std::uint64_t> position, std::optional<Reference> block) {
    if (block && block->length) {
      put_block(position, *std::move(block));
    } else {
      zarrcore::Box box{zarrcore::Shape(position.begin(), position.end()), lengths};
      for (std::size_t k = 0; k < rank(); ++k) {
        box.start[k] *= lengths[k];
        box.count[k] = std::min(lengths[k], array_->shape()[k] - box.start[k]);
      }
      if (!copy_box(source, box, block.has_value(), buffer)) return false;
    }
    if (done++ % 256 != 0) return true;
    const double share = static_cast<double>(done) / count;
    is_stopped = !progress(std::min(1.0, share));
    return !is_stopped;
  };
  bool goes_on = true;
  zarrcore::with_context({"array ", source.GetFullName()}, [&] {
    blocks.visit([&](std::span<const std::uint64_t> position, std::optional<Reference> block) {
      return goes_on = take(position, std::move(block));
    });
  });
  if (is_stopped) {
    report(CE_Failure, CPLE_UserInterrupt, "Zarr: array %s: stopped by the user",
           GetFullName().c_str());
  }
  return goes_on && progress(1);
}

// With `may_be_missing`, all elements are equal; nothing is stored if missing chunks read so.
bool Array::copy_box(const GDALMDArray& source, const zarrcore::Box& box, bool may_be_missing,
                     zarrcore::Buffer& buffer) {
  const std::vector<GUInt64> start(box.start.begin(), box.start.end());
  const std::vector<std::size_t> lengths(box.count.begin(), box.count.end());
  const std::uint64_t bytes = box.size() * type_.GetSize();
  if (buffer.size() < bytes) buffer = zarrcore::Buffer(bytes);
  if (!source.Read(start.data(), lengths.data(), nullptr, nullptr, type_, buffer.data(),
                   buffer.data(), bytes)) {
    return false;
  }
  if (may_be_missing) {
    const auto* missing = static_cast<const std::byte*>(GetRawNoDataValue());
    const std::vector<std::byte> zero(type_.GetSize());
    if (std::memcmp(buffer.data(), missing != nullptr ? missing : zero.data(), zero.size()) == 0) {
      return true;
    }
  }
  if (!array_->can_encode()) {
    throw zarrcore::Error("a block at " + zarrcore::shape_text(box.start, ",") +
                          " is not encoded as the others, or missing, and its codecs are for "
                          "reading only");
  }
  return transfer(GF_Write, {box.start, box.count, std::vector<std::int64_t>(rank(), 1)}, type_,
                  buffer.data(), zarrcore::c_strides(box.count, type_.GetSize()));
}

}  // namespace gdal_zarr
