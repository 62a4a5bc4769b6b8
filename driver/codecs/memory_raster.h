// Chunks that are a file of another format, which one of GDAL's drivers decodes from memory: the
// base of such codecs, and the file. Whatever the bytes are, no other driver opens them, and GDAL
// reads nothing else for them: no sidecar files, no auxiliary files, no network.
#pragma once

#include <cpl_conv.h>
#include <gdal_priv.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "driver/gdal/messages.h"
#include "zarrcore/base/error.h"
#include "zarrcore/codec/codec.h"

namespace gdal_zarr {

// The drivers that may open a file, best first, and their open options.
struct MemoryFormat {
  std::array<const char*, 4> drivers{};  // as many as are not null
  const char* noun;                      // in messages: "JPEG image"
  const char* extension;                 // of the file, by which some drivers know their format
  std::array<const char*, 4> open_options{};
};

// A file in memory that GDAL has opened. GDAL's messages are silenced while it lives; the last one
// becomes part of the exception.
class MemoryRaster {
 public:
  // Throws Error, which names the driver, if GDAL does not have it or it cannot read the bytes.
  // `bytes` must outlive the object. The four colours of a JPEG image are not converted to RGB.
  MemoryRaster(std::string_view codec, const MemoryFormat& format, zarrcore::ByteSpan bytes,
               bool has_four_colors = false);
  ~MemoryRaster();
  MemoryRaster(const MemoryRaster&) = delete;
  MemoryRaster& operator=(const MemoryRaster&) = delete;

  GDALDataset& dataset() const { return *dataset_; }

  // Throws Error with GDAL's last message.
  [[noreturn]] void fail(const std::string& problem) const;

 private:
  QuietErrors quiet_;
  std::array<CPLConfigOptionSetter, 8> options_;
  std::string codec_;
  std::string path_;
  std::unique_ptr<GDALDataset> dataset_;
};

// A codec that only decodes, and whose result are the elements of a chunk.
class MemoryFileCodec : public zarrcore::BytesToBytesCodec {
 public:
  zarrcore::Buffer encode(zarrcore::ByteSpan decoded) const final;
  bool can_encode() const final { return false; }
  zarrcore::Buffer decode(zarrcore::ByteSpan encoded, std::uint64_t max_size) const final;
  using BytesToBytesCodec::decode;
  bool makes_elements() const final { return true; }

 protected:
  // `files` describes the chunks in messages: "TIFF files".
  MemoryFileCodec(std::string name, std::string files, const zarrcore::ChunkSpec& spec);

  const zarrcore::ChunkSpec& spec() const { return spec_; }
  std::uint64_t byte_count() const { return byte_count_; }
  std::uint64_t element_count() const { return byte_count_ / spec_.data_type.item_size; }
  std::string name() const final { return name_; }
  zarrcore::Error error(const std::string& problem) const;
  // The shape of the chunk in messages: "4 x 6".
  std::string chunk_text() const;

 private:
  std::string name_;
  std::string files_;
  zarrcore::ChunkSpec spec_;
  std::uint64_t byte_count_;
};

}  // namespace gdal_zarr
