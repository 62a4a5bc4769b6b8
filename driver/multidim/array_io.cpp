// Reading and writing the elements of an array.
#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "driver/gdal/error_guard.h"
#include "driver/gdal/worker_scope.h"
#include "driver/multidim/array.h"
#include "driver/multidim/copied_array.h"
#include "driver/types/type_mapping.h"
#include "zarrcore/array/array_writer.h"
#include "zarrcore/base/buffer.h"

namespace gdal_zarr {
namespace {

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
    write_values(selection, buffer_type, buffer, std::move(strides));
  } catch (...) {
    session_->set_failed();
    throw;
  }
}

void Array::write_values(const zarrcore::Selection& selection,
                         const GDALExtendedDataType& buffer_type, const void* buffer,
                         zarrcore::Strides strides) {
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

}  // namespace gdal_zarr
