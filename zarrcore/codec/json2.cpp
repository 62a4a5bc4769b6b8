// The object codec `json2` of numcodecs, and its predecessor `json`: the list of object_list.h as
// JSON.
#include <algorithm>
#include <array>

#include "zarrcore/base/error.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/configuration.h"
#include "zarrcore/codec/object_list.h"

namespace zarrcore {
namespace {

class Json2Codec final : public ObjectListCodec {
 public:
  Json2Codec(std::string name, const ChunkSpec& spec) : ObjectListCodec(std::move(name), spec) {}

 private:
  Json parse(ByteSpan encoded) const override {
    return parse_json({reinterpret_cast<const char*>(encoded.data()), encoded.size()});
  }

  Buffer write(const Json& list) const override {
    // ASCII only, like numcodecs: its bytes are the same in all encodings.
    return Buffer::copy_of(list.dump(-1, ' ', true));
  }
};

void check_encoding(const Json& configuration) {
  static constexpr std::array<std::string_view, 5> kEncodings{"utf-8", "utf8", "UTF-8", "ascii",
                                                              "us-ascii"};
  const auto encoding = text_option(configuration, "encoding");
  if (encoding && std::find(kEncodings.begin(), kEncodings.end(), *encoding) == kEncodings.end()) {
    throw Error("\"encoding\" is \"" + *encoding + "\", which is not supported");
  }
}

}  // namespace

Codec make_json(const Json& configuration, const ChunkSpec& spec) {
  check_encoding(configuration);
  return std::make_unique<Json2Codec>("json", spec);
}

Codec make_json2(const Json& configuration, const ChunkSpec& spec) {
  check_encoding(configuration);
  return std::make_unique<Json2Codec>("json2", spec);
}

}  // namespace zarrcore
