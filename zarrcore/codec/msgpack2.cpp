// The object codec `msgpack2` of numcodecs, and its predecessor `msgpack`: the list of
// object_list.h as MessagePack.
#include "zarrcore/base/error.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/object_list.h"

namespace zarrcore {
namespace {

// Reads a document without keeping it, and stops where it is nested too deeply: the JSON library is
// recursive.
class DepthCheck final : public nlohmann::json_sax<Json> {
 public:
  bool is_too_deep() const { return depth_ > kMaxJsonDepth; }

  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(number_integer_t /*value*/) override { return true; }
  bool number_unsigned(number_unsigned_t /*value*/) override { return true; }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return true; }
  bool string(string_t& /*value*/) override { return true; }
  bool binary(binary_t& /*value*/) override { return true; }
  bool key(string_t& /*value*/) override { return true; }
  bool start_object(std::size_t /*size*/) override { return enter(); }
  bool end_object() override { return leave(); }
  bool start_array(std::size_t /*size*/) override { return enter(); }
  bool end_array() override { return leave(); }
  // The second reading reports it.
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*exception*/) override {
    return false;
  }

 private:
  bool enter() {
    ++depth_;
    return !is_too_deep();
  }
  bool leave() {
    --depth_;
    return true;
  }

  std::size_t depth_ = 0;
};

class Msgpack2Codec final : public ObjectListCodec {
 public:
  Msgpack2Codec(std::string name, const ChunkSpec& spec) : ObjectListCodec(std::move(name), spec) {}

 private:
  Json parse(ByteSpan encoded) const override {
    const auto* begin = reinterpret_cast<const std::uint8_t*>(encoded.data());
    const auto* end = begin + encoded.size();
    DepthCheck check;
    Json::sax_parse(begin, end, &check, Json::input_format_t::msgpack);
    if (check.is_too_deep()) {
      throw Error("nested deeper than " + std::to_string(kMaxJsonDepth) + " levels");
    }
    try {
      return Json::from_msgpack(begin, end);
    } catch (const Json::exception& exception) {
      // The library's text starts with its own exception number in brackets.
      std::string_view reason = exception.what();
      if (const auto number = reason.find("] "); number != std::string_view::npos) {
        reason.remove_prefix(number + 2);
      }
      throw Error("not valid MessagePack: " + std::string(reason));
    }
  }

  Buffer write(const Json& list) const override {
    const std::vector<std::uint8_t> bytes = Json::to_msgpack(list);
    return Buffer::copy_of(std::as_bytes(std::span(bytes)));
  }
};

}  // namespace

Codec make_msgpack(const Json& /*configuration*/, const ChunkSpec& spec) {
  return std::make_unique<Msgpack2Codec>("msgpack", spec);
}

Codec make_msgpack2(const Json& /*configuration*/, const ChunkSpec& spec) {
  return std::make_unique<Msgpack2Codec>("msgpack2", spec);
}

}  // namespace zarrcore
