#include "driver/multidim/copy_values.h"

#include <cpl_conv.h>
#include <cpl_vsi.h>

#include <algorithm>
#include <functional>
#include <future>
#include <memory>

#include "driver/gdal/messages.h"
#include "driver/gdal/worker_scope.h"
#include "driver/multidim/copy_plan.h"
#include "driver/stores/references/target_path.h"
#include "driver/stores/vsi/vsi_file.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;

// Source chunks that are read more often than this are kept in a file instead, which costs about as
// much as to decode them twice more.
constexpr double kMaxReads = 3;
// On the network, where reading twice costs twice the requests.
constexpr double kMaxNetworkReads = 1.5;

using Bytes = std::vector<std::byte>;

// A file that is removed when it is closed, or when the program dies.
class TemporaryFile {
 public:
  TemporaryFile() : path_(CPLGenerateTempFilename("zarr_copy")) {
    file_.reset(VSIFOpenL(path_.c_str(), "w+b"));
    if (!file_) throw Error("the temporary file " + path_ + " cannot be written");
#ifndef _WIN32
    VSIUnlink(path_.c_str());
#endif
  }
  ~TemporaryFile() {
#ifdef _WIN32
    file_.reset();
    VSIUnlink(path_.c_str());
#endif
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  // Returns where the bytes begin.
  std::uint64_t append(std::span<const std::byte> bytes) {
    if (VSIFSeekL(file_.get(), end_, SEEK_SET) != 0 ||
        VSIFWriteL(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) {
      throw Error("writing " + std::to_string(bytes.size()) + " bytes to the temporary file " +
                  path_ + " failed: is its disk full? CPL_TMPDIR names another folder");
    }
    const std::uint64_t start = end_;
    end_ += bytes.size();
    return start;
  }

  void read(std::uint64_t start, std::span<std::byte> bytes) {
    if (VSIFSeekL(file_.get(), start, SEEK_SET) != 0 ||
        VSIFReadL(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) {
      throw Error("reading the temporary file " + path_ + " failed");
    }
  }

  // Whether the disk has room for so much, as far as it says.
  static bool has_room(std::uint64_t bytes) {
    const GIntBig room = VSIGetDiskFreeSpace(CPLGetPath(CPLGenerateTempFilename("zarr_copy")));
    return room < 0 || static_cast<std::uint64_t>(room) > bytes + bytes / 16;
  }

 private:
  std::string path_;
  File file_;
  std::uint64_t end_ = 0;
};

class ValueCopy {
 public:
  ValueCopy(const GDALMDArray& source, Array& target, GDALProgressFunc progress, void* data)
      : source_(source),
        target_(target),
        type_(source.GetDataType()),
        progress_(progress),
        progress_data_(data),
        shape_(target.core().shape()),
        // Two are in memory, and a part of one.
        max_elements_(std::max<std::uint64_t>(
            1, static_cast<std::uint64_t>(std::max<GIntBig>(GDALGetCacheMax64(), 0)) / 5 /
                   type_.GetSize())) {
    for (const GUInt64 length : source.GetBlockSize()) source_chunk_.push_back(length);
    source_chunk_.resize(shape_.size(), 0);
  }

  bool run() {
    const auto plan = plan_for_target();
    if (plan.reads > max_reads()) {
      const auto reading = plan_copy(shape_, source_chunk_, readable_unit(), max_elements_);
      const std::uint64_t bytes = Box{{}, shape_}.size() * type_.GetSize();
      if (reading && reading->reads < plan.reads && TemporaryFile::has_room(bytes)) {
        return copy_through_file(*reading, plan);
      }
    }
    const std::vector<Box> slabs = divide(shape_, plan.slab);
    return for_each_slab(
        slabs, 0, 1, [&](std::size_t i, Bytes& bytes) { return read_source(slabs[i], bytes); },
        [&](std::size_t i, const Bytes& bytes) { return write_target(slabs[i], bytes); });
  }

 private:
  // Whole chunks or shards; inner chunks where those are too large.
  CopyPlan plan_for_target() const {
    for (const zarrcore::Shape& unit :
         {target_.core().state().grid.max_chunk_shape(), target_.core().inner_chunk_shape(),
          zarrcore::Shape(shape_.size(), 1)}) {
      const auto plan = plan_copy(shape_, source_chunk_, unit, max_elements_);
      if (plan) return *plan;
    }
    return {zarrcore::Shape(shape_.size(), 1), 1};
  }

  double max_reads() const {
    const std::string path = source_.GetFilename();
    return is_network_path(path) ? kMaxNetworkReads : kMaxReads;
  }

  // A source chunk, or a single element along dimensions that have none.
  zarrcore::Shape readable_unit() const {
    zarrcore::Shape unit = source_chunk_;
    for (std::uint64_t& length : unit) length = std::max<std::uint64_t>(length, 1);
    return unit;
  }

  // Loads slab after slab, each while the one before is consumed. `from` to `to` is their part of
  // the progress.
  bool for_each_slab(const std::vector<Box>& slabs, double from, double to,
                     const std::function<bool(std::size_t, Bytes&)>& load,
                     const std::function<bool(std::size_t, const Bytes&)>& consume) {
    CallerState caller;
    const zarrcore::WorkerScope scope = caller.scope();
    Bytes current;
    Bytes next;
    const auto start_loading = [&](std::size_t i) {
      return std::async(std::launch::async, [&, i] {
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
    std::future<bool> loading = start_loading(0);
    for (std::size_t i = 0; i < slabs.size(); ++i) {
      if (!loading.get()) return false;
      std::swap(current, next);
      if (i + 1 < slabs.size()) loading = start_loading(i + 1);
      const bool is_consumed = consume(i, current);
      const double share = static_cast<double>(i + 1) / static_cast<double>(slabs.size());
      if (!is_consumed || !report_progress(from + (to - from) * share)) {
        if (loading.valid()) loading.wait();
        return false;
      }
    }
    return true;
  }

  bool report_progress(double share) {
    if (progress_(share, "", progress_data_)) return true;
    report(CE_Failure, CPLE_UserInterrupt, "Zarr: array %s: stopped by the user",
           target_.GetFullName().c_str());
    return false;
  }

  bool read_source(const Box& box, Bytes& bytes) const {
    bytes.resize(box.size() * type_.GetSize());
    const std::vector<std::size_t> count(box.count.begin(), box.count.end());
    const std::vector<GUInt64> start(box.start.begin(), box.start.end());
    return source_.Read(start.data(), count.data(), nullptr, nullptr, type_, bytes.data(),
                        bytes.data(), bytes.size());
  }

  bool write_target(const Box& box, const Bytes& bytes) {
    const std::vector<std::size_t> count(box.count.begin(), box.count.end());
    const std::vector<GUInt64> start(box.start.begin(), box.start.end());
    return target_.Write(start.data(), count.data(), nullptr, nullptr, type_, bytes.data(),
                         bytes.data(), bytes.size());
  }

  // The parts of one target slab that each reading has put into the file.
  struct Piece {
    Box box;
    std::uint64_t position = 0;
  };

  bool copy_through_file(const CopyPlan& reading, const CopyPlan& writing) {
    TemporaryFile file;
    const std::vector<Box> sources = divide(shape_, reading.slab);
    const std::vector<Box> targets = divide(shape_, writing.slab);
    std::vector<std::vector<Piece>> pieces(targets.size());
    Bytes part;
    const bool is_kept = for_each_slab(
        sources, 0, 0.5,
        [&](std::size_t i, Bytes& bytes) { return read_source(sources[i], bytes); },
        [&](std::size_t i, const Bytes& bytes) {
          for (std::size_t j = 0; j < targets.size(); ++j) {
            const auto common = intersection(sources[i], targets[j]);
            if (!common) continue;
            part.resize(common->size() * type_.GetSize());
            copy_box(*common, bytes.data(), sources[i], part.data(), *common);
            pieces[j].push_back({*common, file.append(part)});
          }
          return true;
        });
    if (!is_kept) return false;
    return for_each_slab(
        targets, 0.5, 1,
        [&](std::size_t i, Bytes& bytes) {
          bytes.resize(targets[i].size() * type_.GetSize());
          for (const Piece& piece : pieces[i]) {
            part.resize(piece.box.size() * type_.GetSize());
            file.read(piece.position, part);
            copy_box(piece.box, part.data(), piece.box, bytes.data(), targets[i]);
          }
          return true;
        },
        [&](std::size_t i, const Bytes& bytes) { return write_target(targets[i], bytes); });
  }

  // Copies the elements of `box` between dense memory of two boxes that contain it.
  void copy_box(const Box& box, const std::byte* from, const Box& from_box, std::byte* to,
                const Box& to_box) const {
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
  const GDALExtendedDataType& type_;
  GDALProgressFunc progress_;
  void* progress_data_;
  const zarrcore::Shape shape_;
  const std::uint64_t max_elements_;
  zarrcore::Shape source_chunk_;
};

}  // namespace

bool can_copy_values(const GDALMDArray& source, const Array& target) {
  const zarrcore::Shape& shape = target.core().shape();
  const auto& dimensions = source.GetDimensions();
  if (shape.empty() || dimensions.size() != shape.size() ||
      source.GetDataType().NeedsFreeDynamicMemory() || !target.core().state().grid.is_regular()) {
    return false;
  }
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 || dimensions[i]->GetSize() != shape[i]) return false;
  }
  return true;
}

bool copy_values(const GDALMDArray& source, Array& target, GDALProgressFunc progress, void* data) {
  return ValueCopy(source, target, progress, data).run();
}

}  // namespace gdal_zarr
