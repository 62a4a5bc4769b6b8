#include <cpl_compressor.h>
#include <cpl_minixml.h>
#include <cpl_string.h>
#include <cpl_vsi.h>

#include <cstring>
#include <memory>

#include "driver/codecs/gdal_codecs.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/json.h"
#include "zarrcore/codec/codec.h"

namespace gdal_zarr {
namespace {

using zarrcore::Buffer;
using zarrcore::ByteSpan;
using zarrcore::Error;
using zarrcore::Json;
using zarrcore::MutableByteSpan;

constexpr std::string_view kNumcodecsPrefix = "numcodecs.";

struct FreeVsi {
  void operator()(void* memory) const { VSIFree(memory); }
};
using VsiMemory = std::unique_ptr<void, FreeVsi>;

struct DestroyXml {
  void operator()(CPLXMLNode* node) const { CPLDestroyXMLNode(node); }
};

std::vector<CompressorOption> declared_options(CSLConstList metadata) {
  std::vector<CompressorOption> options;
  const char* xml = CSLFetchNameValue(metadata, "OPTIONS");
  if (xml == nullptr) return options;
  const std::unique_ptr<CPLXMLNode, DestroyXml> root(CPLParseXMLString(xml));
  const CPLXMLNode* list = CPLGetXMLNode(root.get(), "=Options");
  for (const CPLXMLNode* node = list != nullptr ? list->psChild : nullptr; node != nullptr;
       node = node->psNext) {
    if (node->eType != CXT_Element || !EQUAL(node->pszValue, "Option")) continue;
    const std::string name = CPLGetXMLValue(node, "name", "");
    if (name.empty()) continue;
    options.push_back({name, CPLGetXMLValue(node, "type", "string"),
                       CPLGetXMLValue(node, "default", ""),
                       CPLGetXMLValue(node, "description", "")});
  }
  return options;
}

std::string option_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

class RegisteredCodec final : public zarrcore::BytesToBytesCodec {
 public:
  RegisteredCodec(std::string id, const Json& configuration)
      : id_(std::move(id)),
        compressor_(CPLGetCompressor(id_.c_str())),
        decompressor_(CPLGetDecompressor(id_.c_str())) {
    options_.SetNameValue("id", id_.c_str());
    for (const auto& [key, value] : configuration.items()) {
      if (!value.is_null()) options_.SetNameValue(key.c_str(), option_text(value).c_str());
    }
  }

  Buffer encode(ByteSpan decoded) const override {
    if (compressor_ == nullptr) throw failed("no compressor is registered for it");
    // Some functions only write to memory that they get, others only make it themselves.
    constexpr std::size_t kSlack = 1024;
    Buffer encoded(decoded.size() + decoded.size() / 2 + kSlack);
    void* memory = encoded.data();
    std::size_t size = encoded.size();
    if (call(*compressor_, decoded, &memory, &size)) {
      if (memory != encoded.data() || size > encoded.size()) throw failed("it broke its contract");
      encoded.truncate(size);
      return encoded;
    }
    const VsiMemory made = make(*compressor_, decoded, size, "the chunk cannot be encoded");
    return copy_of(made, size);
  }

  void decode(ByteSpan encoded, MutableByteSpan decoded) const override {
    void* memory = decoded.data();
    std::size_t size = decoded.size();
    if (!call(decompressor(), encoded, &memory, &size)) {
      throw failed("the chunk cannot be decoded to " + std::to_string(decoded.size()) + " bytes");
    }
    if (memory != decoded.data()) throw failed("it broke its contract");
    zarrcore::check_size(id_ + ": ", size, decoded.size());
  }

  Buffer decode(ByteSpan encoded, std::uint64_t max_size) const override {
    std::size_t size = 0;
    const VsiMemory memory = make(decompressor(), encoded, size, "the chunk cannot be decoded");
    zarrcore::check_max_size(id_ + ": ", size, max_size);
    return copy_of(memory, size);
  }

 private:
  bool call(const CPLCompressor& function, ByteSpan input, void** memory, std::size_t* size) const {
    return function.pfnFunc(input.data(), input.size(), memory, size, options_.List(),
                            function.user_data);
  }

  // Lets the function allocate its result.
  VsiMemory make(const CPLCompressor& function, ByteSpan input, std::size_t& size,
                 const char* problem) const {
    void* memory = nullptr;
    size = 0;
    const bool is_done = call(function, input, &memory, &size);
    VsiMemory owned(memory);
    if (!is_done || (memory == nullptr && size > 0)) throw failed(problem);
    return owned;
  }

  static Buffer copy_of(const VsiMemory& memory, std::size_t size) {
    Buffer copy(size);
    if (size > 0) std::memcpy(copy.data(), memory.get(), size);
    return copy;
  }

  const CPLCompressor& decompressor() const {
    if (decompressor_ == nullptr) throw failed("no decompressor is registered for it");
    return *decompressor_;
  }

  Error failed(const std::string& problem) const {
    return Error("registered codec " + id_ + ": " + problem);
  }

  std::string id_;
  const CPLCompressor* compressor_;
  const CPLCompressor* decompressor_;
  CPLStringList options_;
};

}  // namespace

std::vector<RegisteredCompressor> registered_compressors() {
  std::vector<RegisteredCompressor> found;
  const CPLStringList ids(CPLGetCompressors());
  for (int i = 0; i < ids.size(); ++i) {
    const CPLCompressor* compressor = CPLGetCompressor(ids[i]);
    if (compressor == nullptr || compressor->eType != CCT_COMPRESSOR) continue;
    std::string id = ids[i];
    if (zarrcore::is_core_codec(std::string(kNumcodecsPrefix) + id)) continue;
    found.push_back({std::move(id), declared_options(compressor->papszMetadata)});
  }
  return found;
}

zarrcore::CodecFactory find_registered_codec(std::string_view name) {
  if (name.starts_with(kNumcodecsPrefix)) name.remove_prefix(kNumcodecsPrefix.size());
  const std::string id(name);
  if (CPLGetCompressor(id.c_str()) == nullptr && CPLGetDecompressor(id.c_str()) == nullptr) {
    return nullptr;
  }
  return [id](const Json& configuration, const zarrcore::ChunkSpec& /*spec*/) -> zarrcore::Codec {
    return std::make_unique<RegisteredCodec>(id, configuration);
  };
}

}  // namespace gdal_zarr
