// The object codec `json2` of numcodecs: the list of object_list.h as JSON.
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
  explicit Json2Codec(const ChunkSpec& spec) : ObjectListCodec("json2", spec) {}

 private:
  Json parse(ByteSpan encoded) const override {
    return parse_json({reinterpret_cast<const char*>(encoded.data()), encoded.size()});
  }

  Buffer write(const Json& list) const override {
    // Only ASCII, like numcodecs: that gives the same bytes in all encodings.
    return Buffer::copy_of(list.dump(-1, ' ', true));
  }
};

}  // namespace

Codec make_json2(const Json& configuration, const ChunkSpec& spec) {
  static constexpr std::array<std::string_view, 5> kEncodings{"utf-8", "utf8", "UTF-8", "ascii",
                                                              "us-ascii"};
  const auto encoding = text_option(configuration, "encoding");
  if (encoding && std::find(kEncodings.begin(), kEncodings.end(), *encoding) == kEncodings.end()) {
    throw Error("\"encoding\" is \"" + *encoding + "\", which is not supported");
  }
  return std::make_unique<Json2Codec>(spec);
}

}  // namespace zarrcore
