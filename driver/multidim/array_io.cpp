// Reading and writing the elements of an array, and the debug messages about the cost of reading.
#include <cpl_string.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <span>
#include <utility>

#include "driver/gdal/messages.h"
#include "driver/gdal/worker_scope.h"
#include "driver/multidim/array.h"
#include "driver/multidim/copied_array.h"
#include "driver/multidim/session.h"
#include "driver/types/type_mapping.h"
#include "zarrcore/array/array_writer.h"
#include "zarrcore/base/buffer.h"

namespace gdal_zarr {
namespace {

using zarrcore::ReadStatistics;
using zarrcore::RequestStatistics;

// Reports the messages of background writer threads at the end of its scope.
class EmitAtEnd {
 public:
  explicit EmitAtEnd(WorkerMessages& messages) : messages_(messages) {}
  ~EmitAtEnd() { messages_.emit(); }
  EmitAtEnd(const EmitAtEnd&) = delete;
  EmitAtEnd& operator=(const EmitAtEnd&) = delete;

 private:
  WorkerMessages& messages_;
};

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

std::string text_of(const ReadStatistics& statistics) {
  constexpr double kNanoseconds = 1e-9;
  return CPLOPrintf(
      "chunks: %llu fetched, %llu decoded, %llu from the cache, %llu missing; "
      "seconds of all threads: %.3f fetching, %.3f decoding",
      static_cast<unsigned long long>(statistics.fetched_chunks),
      static_cast<unsigned long long>(statistics.decoded_chunks),
      static_cast<unsigned long long>(statistics.cached_chunks),
      static_cast<unsigned long long>(statistics.missing_chunks),
      static_cast<double>(statistics.fetch_nanoseconds) * kNanoseconds,
      static_cast<double>(statistics.decode_nanoseconds) * kNanoseconds);
}

// Empty for stores that do not count.
std::string text_of(const RequestStatistics* now, const RequestStatistics::Counts& before) {
  if (now == nullptr) return {};
  const RequestStatistics::Counts counts = now->counts();
  return CPLOPrintf("; requests: %llu in %llu round trips, %llu bytes",
                    static_cast<unsigned long long>(counts.requests - before.requests),
                    static_cast<unsigned long long>(counts.round_trips - before.round_trips),
                    static_cast<unsigned long long>(counts.bytes - before.bytes));
}

std::string text_of(const zarrcore::Selection& selection) {
  std::string text;
  for (std::size_t i = 0; i < selection.start.size(); ++i) {
    const std::string start = std::to_string(selection.start[i]);
    const std::string count = std::to_string(selection.count[i]);
    if (i > 0) text += ", ";
    text.append(start).append("+").append(count);
    const auto step = i < selection.step.size() ? selection.step[i] : 1;
    if (step != 1) text.append("*").append(std::to_string(step));
  }
  return text;
}

}  // namespace

Array::Region Array::region(const GUInt64* start, const size_t* count, const GInt64* step,
                            const GPtrDiff_t* stride,
                            const GDALExtendedDataType& buffer_type) const {
  known_dimensions();  // by which GDAL has sized its arguments
  Region region;
  const auto item_size = static_cast<GPtrDiff_t>(buffer_type.GetSize());
  for (std::size_t i = 0; i < rank(); ++i) {
    region.selection.start.push_back(start[i]);
    region.selection.count.push_back(count[i]);
    region.selection.step.push_back(step[i]);
    region.strides.push_back(stride[i] * item_size);
  }
  return region;
}

void Array::read(const zarrcore::Selection& selection, const GDALExtendedDataType& buffer_type,
                 void* buffer, zarrcore::Strides strides) const {
  check_exists();
  const auto converter = make_converter(element_type_, buffer_type);
  CallerState caller;
  const zarrcore::Destination destination{static_cast<std::byte*>(buffer), std::move(strides),
                                          converter.get()};
  zarrcore::ReadOptions options = session_->read_options(caller);
  options.missing_chunks_are_errors = session_->missing_chunks_are_errors();
  session_->allow_read_ahead(options);
  session_->report_read("read", GetFullName(), selection, options, [&] {
    if (const auto writer = writer_if_any()) {
      writer->read(selection, destination, options);
    } else {
      array_->read(selection, destination, options);
    }
  });
}

void Array::write(const zarrcore::Selection& selection, const GDALExtendedDataType& buffer_type,
                  const void* buffer, zarrcore::Strides strides) {
  try {
    check_exists();
    // The metadata needed to read a chunk is stored before the first chunk.
    session_->writable_hierarchy().flush_node(node_path());
    is_new_ = false;
    drop_statistics();
    const auto encoder = make_element_encoder(buffer_type, element_type_);
    const EmitAtEnd messages(*writer_messages_);
    CallerState caller;
    zarrcore::WriteOptions options = session_->write_options(caller);
    options.background_scope = caller.scope_for(writer_messages_);
    writer()->write(selection,
                    {static_cast<const std::byte*>(buffer), std::move(strides), encoder.get()},
                    options);
    session_->limit_pending_bytes(*this);
  } catch (...) {
    session_->set_failed();
    throw;
  }
}

void Array::drop_statistics() {
  if (!session_->has_pam()) return;
  const std::lock_guard lock(session_->pam_mutex());
  double min = 0;
  const bool has_statistics =
      GDALPamMDArray::GetStatistics(true, false, &min, nullptr, nullptr, nullptr, nullptr, nullptr,
                                    nullptr) == CE_None;
  if (has_statistics) ClearStatistics();
}

bool Array::transfer(GDALRWFlag flag, const zarrcore::Selection& selection,
                     const GDALExtendedDataType& buffer_type, void* buffer,
                     zarrcore::Strides strides) {
  return guarded(false, [&] {
    if (flag == GF_Read) {
      read(selection, buffer_type, buffer, std::move(strides));
    } else {
      write(selection, buffer_type, buffer, std::move(strides));
    }
  });
}

bool Array::IRead(const GUInt64* start, const size_t* count, const GInt64* step,
                  const GPtrDiff_t* stride, const GDALExtendedDataType& buffer_type,
                  void* buffer) const {
  return guarded(false, [&] {
    Region wanted = region(start, count, step, stride, buffer_type);
    note_read(*this, wanted.selection);
    read(wanted.selection, buffer_type, buffer, std::move(wanted.strides));
  });
}

bool Array::IWrite(const GUInt64* start, const size_t* count, const GInt64* step,
                   const GPtrDiff_t* stride, const GDALExtendedDataType& buffer_type,
                   const void* buffer) {
  return guarded(false, [&] {
    Region wanted = region(start, count, step, stride, buffer_type);
    write(wanted.selection, buffer_type, buffer, std::move(wanted.strides));
  });
}

bool Array::read_coordinates(std::uint64_t start, std::size_t count,
                             const GDALExtendedDataType& buffer_type, void* buffer) const {
  return guarded(false, [&] {
    try {
      zarrcore::Shape starts(core().shape().size(), 0);
      zarrcore::Shape counts = core().shape();
      starts.front() = start;
      counts.front() = count;
      const auto strides = zarrcore::c_strides(counts, buffer_type.GetSize());
      read({starts, counts, {}}, buffer_type, buffer, strides);
      return true;
    } catch (const std::exception& exception) {
      session_->warn_unreadable(node_path(), exception.what());
      return false;
    }
  });
}

std::vector<std::byte> Array::stored_element(const void* element) const {
  const zarrcore::DataType& type = element_type_;
  std::vector<std::byte> stored(type.item_size);
  const auto* from = static_cast<const std::byte*>(element);
  if (const auto encoder = make_element_encoder(type_, type)) {
    encoder->convert(from, 0, stored.data(), 0, 1);
  } else {
    std::copy(from, from + stored.size(), stored.begin());
  }
  if (!type.is_variable()) return stored;
  zarrcore::VariableElement variable;
  std::memcpy(&variable, stored.data(), sizeof(variable));
  const auto bytes = std::as_bytes(std::span(variable.text()));
  return {bytes.begin(), bytes.end()};
}

void Array::gdal_element(const std::vector<std::byte>& stored, void* element) const {
  const zarrcore::DataType& type = element_type_;
  auto* to = static_cast<std::byte*>(element);
  const zarrcore::VariableElement variable{reinterpret_cast<const char*>(stored.data()),
                                           stored.size()};
  const std::byte* from =
      type.is_variable() ? reinterpret_cast<const std::byte*>(&variable) : stored.data();
  if (const auto converter = make_converter(type, type_)) {
    converter->convert(from, 0, to, 0, 1);
  } else {
    std::copy(stored.begin(), stored.end(), to);
  }
}

std::shared_ptr<zarrcore::ArrayWriter> Array::writer() {
  const std::lock_guard lock(writer_mutex_);
  if (!writer_) {
    zarrcore::WriterOptions options = session_->writer_options();
    options.stores_empty_chunks = options.stores_empty_chunks || stores_empty_chunks_;
    writer_ = std::make_shared<zarrcore::ArrayWriter>(array_, std::move(options));
  }
  return writer_;
}

std::shared_ptr<zarrcore::ArrayWriter> Array::writer_if_any() const {
  const std::lock_guard lock(writer_mutex_);
  return writer_;
}

void Array::flush() const {
  const auto writer = writer_if_any();
  if (!writer) return;
  const EmitAtEnd messages(*writer_messages_);
  CallerState caller;
  writer->flush(session_->write_options(caller));
}

void Array::stop_writing() {
  const auto writer = writer_if_any();
  if (writer) writer->stop();
}

std::uint64_t Array::pending_bytes() const {
  const auto writer = writer_if_any();
  return writer ? writer->pending_bytes() : 0;
}

void Array::set_shape(const zarrcore::Shape& shape) {
  flush();
  if (shape == array_->shape()) return;
  const auto old = array_;
  change([&](zarrcore::ArrayMetadata& metadata) { metadata.shape = shape; });
  session_->writable_hierarchy().flush_node(node_path());
  array_ = session_->reopen_array(node_path());
  {
    const std::lock_guard lock(writer_mutex_);
    writer_.reset();
  }
  CallerState caller;
  zarrcore::resize(*old, shape, session_->write_options(caller));
}

std::unique_ptr<ReadReports> ReadReports::make() {
  return debugs() ? std::make_unique<ReadReports>() : nullptr;
}

void ReadReports::report_sum(const std::string& path, const zarrcore::Store* store) const noexcept {
  try {
    debug("closing " + path + ": " + std::to_string(reads_) + " reads; " + text_of(sum_) +
          text_of(store != nullptr ? store->traits().request_statistics : nullptr, {}) +
          CPLOPrintf("; open for %.3f s", seconds_since(began_)));
  } catch (const std::exception&) {
    debug("closing");
  }
}

void ReadReports::propose_listing(const zarrcore::Store& store) {
  constexpr std::uint64_t kFewRequests = 100;
  if (store.traits().request_statistics == nullptr) return;
  const RequestStatistics::Counts counts = store.traits().request_statistics->counts();
  if (counts.requests < kFewRequests || counts.missing_chunks <= counts.requests / 2) return;
  if (proposed_listing_.exchange(true)) return;
  debug(store.description() + ": " + std::to_string(counts.missing_chunks) + " of " +
        std::to_string(counts.requests) +
        " requests were for missing chunks. With the open option CACHE_TILE_PRESENCE=YES, folders "
        "are listed instead.");
}

void ReadReports::run(const zarrcore::Store& store, const char* verb, const std::string& array,
                      const zarrcore::Selection& selection, zarrcore::ReadOptions& options,
                      const std::function<void()>& read) {
  ReadStatistics statistics;
  options.statistics = &statistics;
  const RequestStatistics* requests = store.traits().request_statistics;
  const auto before = requests != nullptr ? requests->counts() : RequestStatistics::Counts();
  const Clock::time_point began = Clock::now();
  const auto finish = [&]() noexcept {
    ++reads_;
    for (const auto count :
         {&ReadStatistics::fetched_chunks, &ReadStatistics::decoded_chunks,
          &ReadStatistics::cached_chunks, &ReadStatistics::missing_chunks,
          &ReadStatistics::fetch_nanoseconds, &ReadStatistics::decode_nanoseconds}) {
      sum_.*count += statistics.*count;
    }
    try {
      debug(std::string(verb) + ' ' + array + " [" + text_of(selection) +
            CPLOPrintf("] in %.3f s; ", seconds_since(began)) + text_of(statistics) +
            text_of(requests, before));
      propose_listing(store);
    } catch (const std::exception&) {
      debug(verb);
    }
  };
  try {
    read();
  } catch (...) {
    finish();
    throw;
  }
  finish();
}

}  // namespace gdal_zarr
