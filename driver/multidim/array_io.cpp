// Reading and writing the elements of an array.
#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "driver/gdal/error_guard.h"
#include "driver/gdal/partial_progress.h"
#include "driver/gdal/worker_scope.h"
#include "driver/multidim/array.h"
#include "driver/multidim/copied_array.h"
#include "driver/multidim/copy_values.h"
#include "driver/multidim/read_report.h"
#include "driver/types/element_encoder.h"
#include "driver/types/type_mapping.h"
#include "zarrcore/array/resize.h"
#include "zarrcore/base/buffer.h"

namespace gdal_zarr {
namespace {

zarrcore::ReadOptions read_options(const Session& session, CallerState& caller) {
  zarrcore::ReadOptions options;
  options.threads = session.thread_count();
  options.waits_for_others = session.may_wait_for_threads();
  options.worker_scope = caller.scope();
  return options;
}

zarrcore::WriteOptions write_options(const Session& session, CallerState& caller) {
  zarrcore::WriteOptions options;
  options.threads = session.thread_count();
  options.worker_scope = caller.scope();
  return options;
}

// Reports the messages of threads that write behind the program, at the end of its scope.
class MessagesBehind {
 public:
  explicit MessagesBehind(WorkerMessages& messages) : messages_(messages) {}
  ~MessagesBehind() { messages_.emit(); }
  MessagesBehind(const MessagesBehind&) = delete;
  MessagesBehind& operator=(const MessagesBehind&) = delete;

 private:
  WorkerMessages& messages_;
};

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
  zarrcore::ReadOptions options = read_options(*session_, caller);
  options.missing_chunks_are_errors = session_->missing_chunks_are_errors();
  if (session_->can_cancel_requests()) allow_read_ahead(options);
  const ReadReport report(session_->read_reports(), *session_->hierarchy().store(), "read",
                          GetFullName(), selection, options);
  if (const auto writer = writer_if_any()) {
    writer->read(selection, destination, options);
  } else {
    array_->read(selection, destination, options);
  }
}

void Array::write(const zarrcore::Selection& selection, const GDALExtendedDataType& buffer_type,
                  const void* buffer, zarrcore::Strides strides) {
  check_exists();
  // The metadata needed to read a chunk is stored before the first chunk.
  session_->writable_hierarchy().flush_node(node_path());
  is_new_ = false;
  drop_statistics();
  const auto encoder = make_element_encoder(buffer_type, element_type_);
  const MessagesBehind messages(*messages_behind_);
  CallerState caller;
  zarrcore::WriteOptions options = write_options(*session_, caller);
  options.scope_behind = caller.scope_for(messages_behind_);
  writer()->write(selection,
                  {static_cast<const std::byte*>(buffer), std::move(strides), encoder.get()},
                  options);
  session_->limit_pending_bytes(*this);
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
    return true;
  });
}

bool Array::IRead(const GUInt64* start, const size_t* count, const GInt64* step,
                  const GPtrDiff_t* stride, const GDALExtendedDataType& buffer_type,
                  void* buffer) const {
  return guarded(false, [&] {
    Region wanted = region(start, count, step, stride, buffer_type);
    note_read(*this, wanted.selection);
    read(wanted.selection, buffer_type, buffer, std::move(wanted.strides));
    return true;
  });
}

bool Array::IWrite(const GUInt64* start, const size_t* count, const GInt64* step,
                   const GPtrDiff_t* stride, const GDALExtendedDataType& buffer_type,
                   const void* buffer) {
  return guarded(false, [&] {
    Region wanted = region(start, count, step, stride, buffer_type);
    write(wanted.selection, buffer_type, buffer, std::move(wanted.strides));
    return true;
  });
}

bool Array::CopyFrom(GDALDataset* source_dataset, const GDALMDArray* source, bool is_strict,
                     GUInt64& cost, GUInt64 total_cost, GDALProgressFunc progress,
                     void* progress_data) {
  return guarded(false, [&] {
    if (!can_copy_values(*source, *this)) {
      return GDALPamMDArray::CopyFrom(source_dataset, source, is_strict, cost, total_cost, progress,
                                      progress_data);
    }
    if (progress == nullptr) progress = GDALDummyProgress;
    cost += COPY_COST;
    const auto original = is_new_ && creation_ ? find_original(*source) : nullptr;
    if (!copy_metadata(source_dataset, *source, original.get(), is_strict, cost, total_cost,
                       progress, progress_data)) {
      return false;
    }
    const double total = std::max(1.0, static_cast<double>(total_cost));
    const auto before = static_cast<double>(cost);
    cost += source->GetTotalElementsCount() * source->GetDataType().GetSize();
    const PartialProgress part(before / total, std::min(1.0, static_cast<double>(cost) / total),
                               progress, progress_data);
    return copy_values(*source, *this, part.function(), part.data());
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
  const MessagesBehind messages(*messages_behind_);
  CallerState caller;
  writer->flush(write_options(*session_, caller));
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
  zarrcore::resize(*old, shape, write_options(*session_, caller));
}

}  // namespace gdal_zarr
