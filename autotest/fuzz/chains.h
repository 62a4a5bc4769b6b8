// Arrays of one chunk whose chains of codecs use, together, every codec of the registry in every
// place where it may stand.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "zarrcore/base/json.h"
#include "zarrcore/codec/codec_chain.h"

namespace zarrcore::fuzz {

struct TestChain {
  std::string data_type;  // JSON, as are all
  std::string fill_value;
  std::string codecs;
  bool keeps_values = true;  // what it decodes to can be encoded, and decodes to the same
  // The hexadecimal digits of a chunk, for a chain that does not encode; without them, the chunk is
  // its elements.
  std::string chunk = "";
};

#ifdef ZARRCORE_WITHOUT_ZFP
inline constexpr bool kHasZfp = false;
#else
inline constexpr bool kHasZfp = true;
#endif

// Inputs choose one by its number: new ones go to the end, and without zfp, the first one stands in
// place of those with it.
std::span<const TestChain> test_chains();

// An array with such chunks. Its only chunk with elements, all inside the array, has the key
// kChunkKey.
class ChainArray {
 public:
  explicit ChainArray(const TestChain& test_chain);
  ChainArray(const ChainArray&) = delete;
  ChainArray& operator=(const ChainArray&) = delete;

  const Json& document() const { return document_; }  // `zarr.json`
  const CodecChain& chain() const { return *chain_; }
  bool keeps_values() const { return keeps_values_; }

 private:
  Json document_;
  std::vector<std::byte> fill_value_;  // which an element of variable length points to
  std::unique_ptr<const CodecChain> chain_;
  bool keeps_values_;
};

inline constexpr const char* kChunkKey = "c/0/0";

}  // namespace zarrcore::fuzz
