// Copying the values of any array of GDAL into an array of ours.
#include <cpl_conv.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <functional>
#include <future>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "driver/gdal/config_options.h"
#include "driver/gdal/messages.h"
#include "driver/gdal/worker_scope.h"
#include "driver/multidim/copied_array.h"
#include "driver/stores/vsi/vsi_file.h"
#include "driver/stores/vsi/vsi_path.h"
#include "zarrcore/array/stored_chunks.h"
#include "zarrcore/base/buffer.h"
#include "zarrcore/base/checked_math.h"

namespace gdal_zarr {
namespace {

// Source chunks that would be read more often go through a file instead, which costs about as much
// as decoding them twice more.
constexpr double kMaxReads = 3;
// Over the network, each further time is a request.
constexpr double kMaxNetworkReads = 1.5;
// Slabs should have enough chunks for all threads, but no more, if that saves no reads.
constexpr std::uint64_t kWantedBytes = std::uint64_t{32} << 20;
constexpr std::uint64_t kLeastMemory = std::uint64_t{1} << 20;
// The bytes assumed for an element that points to allocated memory, such as a string.
constexpr std::uint64_t kDynamicElement = 64;
// Smaller parts of a chunk are not worth a separate request.
constexpr std::uint64_t kLeastPart = std::uint64_t{32} << 10;
// More slabs are worth a listing that shows which of them have values.
constexpr std::size_t kManySlabs = 1000;

std::uint64_t memory_limit() {
  const char* text = config_option(ConfigOption::copy_memory);
  const GIntBig bytes = text != nullptr ? CPLAtoGIntBig(text) : GDALGetCacheMax64() / 2;
  return std::max(kLeastMemory, static_cast<std::uint64_t>(std::max<GIntBig>(bytes, 0)));
}

// Elements of one of GDAL's types, and the memory that they point to.
class Elements {
 public:
  explicit Elements(const GDALExtendedDataType& type) : type_(&type) {}
  ~Elements() { clear(); }
  Elements(const Elements&) = delete;
  Elements& operator=(const Elements&) = delete;

  // Room for so many elements. Their values are undefined, but those that point to memory are null.
  void prepare(std::uint64_t count) {
    clear();
    size_ = count * type_->GetSize();
    if (buffer_.size() < size_) {
      buffer_ = {};
      buffer_ = zarrcore::Buffer(size_);
    }
    if (type_->NeedsFreeDynamicMemory()) std::memset(buffer_.data(), 0, size_);
  }
  // After a failed read, it is unknown what the elements point to.
  void forget() { size_ = 0; }
  void swap(Elements& other) noexcept {
    std::swap(buffer_, other.buffer_);
    std::swap(size_, other.size_);
  }
  std::byte* data() { return buffer_.data(); }
  const std::byte* data() const { return buffer_.data(); }
  std::uint64_t size() const { return size_; }  // bytes
  std::span<std::byte> span() { return buffer_.span().first(size_); }

 private:
  void clear() {
    if (type_->NeedsFreeDynamicMemory()) {
      for (std::uint64_t at = 0; at < size_; at += type_->GetSize()) {
        type_->FreeDynamicMemory(buffer_.data() + at);
      }
    }
    size_ = 0;
  }

  const GDALExtendedDataType* type_;
  zarrcore::Buffer buffer_;
  std::uint64_t size_ = 0;
};

class ValueCopy {
 public:
  ValueCopy(const GDALMDArray& source, Array& target, bool is_new, GDALProgressFunc progress,
            void* data, CopyRecord* record)
      : source_(source),
        target_(target),
        is_new_(is_new),
        record_(record),
        type_(source.GetDataType()),
        progress_(progress),
        progress_data_(data),
        shape_(target.core().shape()),
        source_part_(readable_part(source, shape_.size())),
        memory_(memory_limit() / bytes_per_element()) {}

  bool run() {
    if (std::ranges::find(shape_, 0) != shape_.end()) return report_progress(1);
    return for_each_region(
        shape_, source_part_, target_.core().state().grid.max_chunk_shape(),
        target_.core().inner_chunk_shape(), wanted_elements(), memory_ / kSlabsInMemory,
        [&](const CopyRegion& region, double share) { return copy(region, share); });
  }

 private:
  // One slab is read while another is written.
  static constexpr std::uint64_t kSlabsInMemory = 2;
  // And a third is copied to or from the temporary file.
  static constexpr std::uint64_t kSlabsWithFile = 3;

  std::uint64_t bytes_per_element() const {
    const std::uint64_t size = std::max<std::uint64_t>(1, type_.GetSize());
    return type_.NeedsFreeDynamicMemory() ? std::max(size, kDynamicElement) : size;
  }

  // The part of the source that is read at once: its block, with 0 where GDAL does not know it; for
  // a local chunk that is not compressed, some rows.
  static zarrcore::Shape readable_part(const GDALMDArray& source, std::size_t rank) {
    zarrcore::Shape part;
    for (const GUInt64 length : source.GetBlockSize()) part.push_back(length);
    part.resize(rank, 0);
    const auto* ours = dynamic_cast<const Array*>(&source);
    if (ours == nullptr || is_network_path(source.GetFilename()) ||
        !ours->core().state().first_chain->elements_stand_alone()) {
      return part;
    }
    std::uint64_t row = ours->core().data_type().item_size;
    for (std::size_t i = rank; i-- > 0;) {
      if (row >= kLeastPart) part[i] = 1;
      part[i] = std::min(part[i], zarrcore::ceil_divide(kLeastPart, row));
      row *= std::max<std::uint64_t>(1, part[i]);
    }
    return part;
  }

  // As many as possible if it is unknown how much is read at once.
  std::uint64_t wanted_elements() const {
    const bool is_known =
        std::ranges::any_of(source_part_, [](std::uint64_t length) { return length != 0; });
    return is_known ? kWantedBytes / bytes_per_element() : memory_ / kSlabsInMemory;
  }

  // `to` is the progress at the end.
  bool copy(const CopyRegion& region, double to) {
    const auto& [box, unit, plan] = region;
    const bool is_remote = is_network_path(source_.GetFilename());
    if (plan.reads > (is_remote ? kMaxNetworkReads : kMaxReads) &&
        !type_.NeedsFreeDynamicMemory()) {
      zarrcore::Shape part = source_part_;
      for (std::uint64_t& length : part) length = std::max<std::uint64_t>(1, length);
      const std::uint64_t most = memory_ / kSlabsWithFile;
      const auto reading = plan_copy(box.count, source_part_, part, most, most);
      const auto writing =
          plan_copy(box.count, zarrcore::Shape(shape_.size(), 0), unit, most, most);
      if (reading && writing && reading->reads < plan.reads) {
        try {
          return copy_through_file(region, *reading, *writing, to);
        } catch (const NoTemporaryFile& problem) {
          report(CE_Warning, CPLE_FileIO,
                 "Zarr: array %s: chunks of the source are read %.1f times: %s",
                 target_.GetFullName().c_str(), plan.reads, problem.what());
        }
      }
    }
    Slabs slabs(box, plan.slab);
    if (slabs.size() > kManySlabs && is_new_ && leaves_fill_values()) {
      try {
        slabs.keep([&](const Slabs::VisitBox& visit) { visit_stored_chunks(visit); });
      } catch (const zarrcore::Error&) {
        // The store does not list its keys, so all of it is read.
      }
    }
    return for_each_slab(
        slabs, to, begin_record(region, slabs, plan.slab),
        [&](std::size_t i, Elements& elements) { return read(slabs[i], elements); },
        [&](std::size_t i, const Elements& elements) {
          return write(slabs[i], elements) && note_written(region);
        });
  }

  // Returns true if elements that the source does not store are the same in an empty target.
  bool leaves_fill_values() const {
    const auto* ours = dynamic_cast<const Array*>(&source_);
    if (ours == nullptr || ours->pending_bytes() != 0 || target_.stores_empty_chunks() ||
        ours->session()->missing_chunks_are_errors()) {
      return false;
    }
    const zarrcore::ArrayMetadata& from = ours->metadata();
    const zarrcore::ArrayMetadata& to = target_.metadata();
    return from.data_type == to.data_type && from.fill_value == to.fill_value;
  }

  void visit_stored_chunks(const Slabs::VisitBox& visit) const {
    const auto& ours = dynamic_cast<const Array&>(source_);
    zarrcore::visit_stored_chunks(ours.core(), [&](const std::vector<std::uint64_t>& chunk, auto) {
      auto selection = zarrcore::selection_of(ours.core().state().grid, chunk);
      visit({std::move(selection.start), std::move(selection.count)});
    });
  }

  // The record counts slabs of one region alone, which is then the whole array, and of whole
  // chunks: parts of a chunk are put again and again.
  bool is_recorded(const CopyRegion& region) const {
    return record_ != nullptr && region.box.count == shape_ &&
           region.unit == target_.core().state().grid.max_chunk_shape();
  }

  // Returns the number of slabs that an earlier process has written.
  std::size_t begin_record(const CopyRegion& region, const Slabs& slabs,
                           const zarrcore::Shape& slab) {
    if (!is_recorded(region)) return 0;
    std::string plan = std::to_string(slabs.size()) + ": ";
    for (const std::uint64_t length : slab) plan += std::to_string(length) + ' ';
    if (record_->plan != plan) {
      record_->plan = std::move(plan);
      record_->complete = 0;
      record_->save();
    }
    return record_->complete;
  }

  bool note_written(const CopyRegion& region) {
    if (!is_recorded(region)) return true;
    target_.flush();
    ++record_->complete;
    record_->save();
    return true;
  }

  // Loads slab after slab, each while the previous one is consumed, from the one numbered `first`
  // on. `to` is the progress at the end.
  bool for_each_slab(const Slabs& slabs, double to, std::size_t first,
                     const std::function<bool(std::size_t, Elements&)>& load,
                     const std::function<bool(std::size_t, const Elements&)>& consume) {
    CallerState caller;
    const zarrcore::WorkerScope scope = caller.scope();
    Elements current(type_);
    Elements next(type_);
    // Not on a thread of the pool, whose tasks must not fork: GDAL starts programs for some
    // drivers. Without a new thread, get() loads.
    const bool has_threads =
        target_.session()->thread_count() > 1 && !has_foreign_file_system(source_.GetFilename());
    const std::launch policy =
        has_threads ? std::launch::async | std::launch::deferred : std::launch::deferred;
    const auto start_loading = [&](std::size_t i) {
      return std::async(policy, [&, i] {
        bool is_loaded = false;
        std::exception_ptr error;
        scope([&] {
          try {
            is_loaded = load(i, next);
          } catch (...) {
            error = std::current_exception();
          }
        });
        if (error) std::rethrow_exception(error);
        return is_loaded;
      });
    };
    const double from = done_;
    if (first >= slabs.size()) return report_progress(to);
    std::future<bool> loading = start_loading(first);  // its destructor waits for it
    for (std::size_t i = first; i < slabs.size(); ++i) {
      if (!loading.get()) return false;
      current.swap(next);
      if (i + 1 < slabs.size()) loading = start_loading(i + 1);
      const double share = static_cast<double>(i + 1) / static_cast<double>(slabs.size());
      if (!consume(i, current) || !report_progress(from + (to - from) * share)) return false;
    }
    return true;
  }

  bool report_progress(double share) {
    done_ = share;
    if (progress_(share, "", progress_data_) != FALSE) return true;
    report_stop("array " + target_.GetFullName());
    return false;
  }

  bool read(const zarrcore::Box& box, Elements& elements) const {
    elements.prepare(box.size());
    const std::vector<std::size_t> count(box.count.begin(), box.count.end());
    const std::vector<GUInt64> start(box.start.begin(), box.start.end());
    if (source_.Read(start.data(), count.data(), nullptr, nullptr, type_, elements.data(),
                     elements.data(), elements.size())) {
      return true;
    }
    elements.forget();
    return false;
  }

  bool write(const zarrcore::Box& box, const Elements& elements) {
    const std::vector<std::size_t> count(box.count.begin(), box.count.end());
    const std::vector<GUInt64> start(box.start.begin(), box.start.end());
    return target_.Write(start.data(), count.data(), nullptr, nullptr, type_, elements.data(),
                         elements.data(), elements.size());
  }

  bool copy_through_file(const CopyRegion& region, const CopyPlan& read_plan,
                         const CopyPlan& write_plan, double to) {
    const zarrcore::Box& whole = region.box;
    const Slabs reading(whole, read_plan.slab);
    const Slabs writing(whole, write_plan.slab);
    const std::size_t first = begin_record(region, writing, write_plan.slab);
    const std::string& store = target_.session()->path();
    TemporaryFile file(STARTS_WITH(store.c_str(), "/vsi") ? "" : CPLGetPath(store.c_str()),
                       whole.size() * type_.GetSize());
    // Where the elements of each slab of the target are.
    struct Piece {
      zarrcore::Box box;
      std::uint64_t offset;
    };
    std::vector<std::vector<Piece>> pieces(writing.size());
    Elements part(type_);
    const bool is_read = for_each_slab(
        reading, (done_ + to) / 2, 0,
        [&](std::size_t i, Elements& elements) { return read(reading[i], elements); },
        [&](std::size_t i, const Elements& elements) {
          const zarrcore::Box box = reading[i];
          for (std::size_t j = first; j < writing.size(); ++j) {
            const auto common = intersection(box, writing[j]);
            if (!common) continue;
            part.prepare(common->size());
            copy_elements(*common, elements.data(), box, part.data(), *common);
            pieces[j].push_back({*common, file.append(part.span())});
          }
          return true;
        });
    if (!is_read) return false;
    return for_each_slab(
        writing, to, first,
        [&](std::size_t i, Elements& elements) {
          const zarrcore::Box box = writing[i];
          elements.prepare(box.size());
          for (const Piece& piece : pieces[i]) {
            part.prepare(piece.box.size());
            file.read(piece.offset, part.span());
            copy_elements(piece.box, part.data(), piece.box, elements.data(), box);
          }
          return true;
        },
        [&](std::size_t i, const Elements& elements) {
          return write(writing[i], elements) && note_written(region);
        });
  }

  // Copies the elements of `box` between dense memory of two boxes that contain it.
  void copy_elements(const zarrcore::Box& box, const std::byte* from, const zarrcore::Box& from_box,
                     std::byte* to, const zarrcore::Box& to_box) const {
    const std::size_t size = type_.GetSize();
    const zarrcore::Strides from_strides = zarrcore::c_strides(from_box.count, size);
    const zarrcore::Strides to_strides = zarrcore::c_strides(to_box.count, size);
    for (std::size_t i = 0; i < box.start.size(); ++i) {
      from += static_cast<std::ptrdiff_t>(box.start[i] - from_box.start[i]) * from_strides[i];
      to += static_cast<std::ptrdiff_t>(box.start[i] - to_box.start[i]) * to_strides[i];
    }
    zarrcore::copy_strided(box.count, size, from, from_strides, to, to_strides);
  }

  const GDALMDArray& source_;
  Array& target_;
  const bool is_new_;
  CopyRecord* const record_;
  const GDALExtendedDataType& type_;
  GDALProgressFunc progress_;
  void* progress_data_;
  double done_ = 0;  // the progress that has been reported
  const zarrcore::Shape shape_;
  const zarrcore::Shape source_part_;
  const std::uint64_t memory_;  // in elements
};

}  // namespace

bool copy_values(const GDALMDArray& source, Array& target, bool is_new, GDALProgressFunc progress,
                 void* data, CopyRecord* record) {
  return ValueCopy(source, target, is_new, progress, data, record).run();
}

}  // namespace gdal_zarr
