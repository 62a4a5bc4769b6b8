// The `lzma` codec of numcodecs and of v1. Its configuration is the same as in Python's module
// lzma:
//   format   1: .xz (the default); 2: .lzma ("alone"); 3: raw, described by `filters`
//   check    of .xz: 0 none, 1 CRC32, 4 CRC64, 10 SHA-256; -1 or absent: CRC64
//   preset   0 to 9, plus 2^31 for "extreme"; absent: 6
//   filters  instead of a preset: a list of {"id": number, options…}
#include <lzma.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/configuration.h"
#include "zarrcore/codec/stream_codec.h"

namespace zarrcore {
namespace {

enum class LzmaFormat : std::uint8_t { xz = 1, alone = 2, raw = 3 };

// The longest match has 273 bytes and costs no less than 14 bits of the range coder, each at least
// log2(2048 / 2017) bits of the data: 7,090 bytes per byte.
constexpr std::uint64_t kMaxLzmaExpansion = 8192;

// Memory that a decoder may use beyond the size of the data: a dictionary larger than the data is
// useless, but dictionaries of presets have up to 64 MiB.
constexpr std::uint64_t kSpareMemory = std::uint64_t{128} << 20;

lzma_ret check(lzma_ret result) {
  switch (result) {
    case LZMA_OK:
    case LZMA_STREAM_END:
    case LZMA_BUF_ERROR:  // no progress without more input or output
      return result;
    case LZMA_MEM_ERROR:
      throw std::bad_alloc();
    case LZMA_MEMLIMIT_ERROR:
      throw Error("lzma: the dictionary is much larger than the data");
    case LZMA_OPTIONS_ERROR:
    case LZMA_UNSUPPORTED_CHECK:
      throw Error("lzma: these options are not supported");
    case LZMA_PROG_ERROR:
      throw Error("lzma: the options are invalid");
    default:
      throw Error("lzma: the data is corrupt");
  }
}

// A filter of liblzma with its options, to which an lzma_filter points.
class LzmaFilter {
 public:
  explicit LzmaFilter(const Json& specification) {
    const Json* id = find_member(specification, "id");
    id_ = id == nullptr ? LZMA_VLI_UNKNOWN : as_unsigned(*id, "the \"id\" of a filter");
    switch (id_) {
      case LZMA_FILTER_LZMA1:
      case LZMA_FILTER_LZMA2:
        read_lzma_options(specification);
        break;
      case LZMA_FILTER_DELTA:
        delta_.type = LZMA_DELTA_TYPE_BYTE;
        read(specification, "dist", delta_.dist, LZMA_DELTA_DIST_MIN);
        break;
      case LZMA_FILTER_X86:
      case LZMA_FILTER_POWERPC:
      case LZMA_FILTER_IA64:
      case LZMA_FILTER_ARM:
      case LZMA_FILTER_ARMTHUMB:
      case LZMA_FILTER_SPARC:
        read(specification, "start_offset", bcj_.start_offset, 0);
        break;
      default:
        throw Error("the filter " + excerpt(specification) + " has no \"id\" of an lzma filter");
    }
  }

  // LZMA2 or LZMA1 with the options of a preset.
  LzmaFilter(lzma_vli id, std::uint32_t preset) : id_(id) {
    if (lzma_lzma_preset(&lzma_, preset) != 0) {
      throw Error("lzma: \"preset\" is " + std::to_string(preset) + ", which is not valid");
    }
  }

  lzma_vli id() const { return id_; }
  const lzma_options_lzma& lzma_options() const { return lzma_; }

  // Points into this object.
  lzma_filter view() {
    switch (id_) {
      case LZMA_FILTER_LZMA1:
      case LZMA_FILTER_LZMA2:
        return {id_, &lzma_};
      case LZMA_FILTER_DELTA:
        return {id_, &delta_};
      default:
        return {id_, &bcj_};
    }
  }

 private:
  static void read(const Json& specification, std::string_view key, std::uint32_t& option,
                   std::uint32_t fallback) {
    const std::int64_t value = integer_option(specification, key, fallback);
    if (!std::in_range<std::uint32_t>(value)) {
      throw Error("\"" + std::string(key) + "\" is " + std::to_string(value) + ", out of range");
    }
    option = static_cast<std::uint32_t>(value);
  }

  void read_lzma_options(const Json& specification) {
    std::uint32_t preset = 0;
    read(specification, "preset", preset, LZMA_PRESET_DEFAULT);
    if (lzma_lzma_preset(&lzma_, preset) != 0) {
      throw Error("\"preset\" is " + std::to_string(preset) + ", which is not valid");
    }
    read(specification, "dict_size", lzma_.dict_size, lzma_.dict_size);
    read(specification, "lc", lzma_.lc, lzma_.lc);
    read(specification, "lp", lzma_.lp, lzma_.lp);
    read(specification, "pb", lzma_.pb, lzma_.pb);
    read(specification, "nice_len", lzma_.nice_len, lzma_.nice_len);
    read(specification, "depth", lzma_.depth, lzma_.depth);
    lzma_.mode = read_choice(specification, "mode", lzma_.mode, {LZMA_MODE_FAST, LZMA_MODE_NORMAL});
    lzma_.mf = read_choice(specification, "mf", lzma_.mf,
                           {LZMA_MF_HC3, LZMA_MF_HC4, LZMA_MF_BT2, LZMA_MF_BT3, LZMA_MF_BT4});
  }

  template <typename Choice>
  static Choice read_choice(const Json& specification, std::string_view key, Choice fallback,
                            std::initializer_list<Choice> choices) {
    const std::int64_t value = integer_option(specification, key, fallback);
    for (const Choice choice : choices) {
      if (value == static_cast<std::int64_t>(choice)) return choice;
    }
    throw Error("\"" + std::string(key) + "\" is " + std::to_string(value) +
                ", which is not valid");
  }

  lzma_vli id_ = LZMA_VLI_UNKNOWN;
  lzma_options_lzma lzma_{};
  lzma_options_delta delta_{};
  lzma_options_bcj bcj_{};
};

// A chain of filters as liblzma takes it.
class LzmaFilterChain {
 public:
  explicit LzmaFilterChain(std::vector<LzmaFilter> filters) : filters_(std::move(filters)) {
    std::transform(filters_.begin(), filters_.end(), views_.begin(),
                   [](LzmaFilter& filter) { return filter.view(); });
    views_[filters_.size()].id = LZMA_VLI_UNKNOWN;
  }

  const lzma_filter* data() const { return views_.data(); }

 private:
  std::vector<LzmaFilter> filters_;
  std::array<lzma_filter, LZMA_FILTERS_MAX + 1> views_{};
};

class LzmaStream {
 public:
  LzmaStream() = default;
  ~LzmaStream() { lzma_end(&stream_); }
  LzmaStream(const LzmaStream&) = delete;
  LzmaStream& operator=(const LzmaStream&) = delete;

  lzma_stream* get() { return &stream_; }

  // Works from the front of `input` to the front of `output`, and removes the used bytes from both.
  // Returns true if the stream has ended.
  bool advance(ByteSpan& input, MutableByteSpan& output, lzma_action action) {
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(input.data());
    stream_.avail_in = input.size();
    stream_.next_out = reinterpret_cast<std::uint8_t*>(output.data());
    stream_.avail_out = output.size();
    const lzma_ret result = check(lzma_code(&stream_, action));
    input = input.last(stream_.avail_in);
    output = output.last(stream_.avail_out);
    return result == LZMA_STREAM_END;
  }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
};

class LzmaDecoder final : public StreamDecoder {
 public:
  LzmaDecoder(LzmaFormat format, const LzmaFilterChain& filters, std::uint64_t memory) {
    switch (format) {
      case LzmaFormat::xz:
        check(lzma_stream_decoder(stream_.get(), memory, 0));
        break;
      case LzmaFormat::alone:
        check(lzma_alone_decoder(stream_.get(), memory));
        break;
      case LzmaFormat::raw:
        if (lzma_raw_decoder_memusage(filters.data()) > memory) check(LZMA_MEMLIMIT_ERROR);
        check(lzma_raw_decoder(stream_.get(), filters.data()));
    }
  }

  bool advance(ByteSpan& encoded, MutableByteSpan& decoded) override {
    return stream_.advance(encoded, decoded, LZMA_RUN);
  }

 private:
  LzmaStream stream_;
};

class LzmaCodec final : public StreamCodec {
 public:
  LzmaCodec(LzmaFormat format, std::int64_t check_id, std::optional<std::int64_t> preset,
            std::vector<LzmaFilter> filters)
      : StreamCodec("lzma", kMaxLzmaExpansion),
        format_(format),
        check_id_(check_id),
        preset_(preset),
        filters_(std::move(filters)) {}

  Buffer encode(ByteSpan decoded) const override {
    LzmaStream stream;
    const std::vector<LzmaFilter> filters = encoding_filters();
    const LzmaFilterChain chain(filters);
    switch (format_) {
      case LzmaFormat::xz:
        check(lzma_stream_encoder(stream.get(), chain.data(), encoding_check()));
        break;
      case LzmaFormat::alone:
        check(lzma_alone_encoder(stream.get(), &filters.front().lzma_options()));
        break;
      case LzmaFormat::raw:
        check(lzma_raw_encoder(stream.get(), chain.data()));
    }
    return run(stream, decoded);
  }

 private:
  std::unique_ptr<StreamDecoder> make_decoder(std::uint64_t size) const override {
    const std::uint64_t memory = checked_add(size, kSpareMemory).value_or(UINT64_MAX);
    return std::make_unique<LzmaDecoder>(format_, LzmaFilterChain(filters_), memory);
  }

  // The filters that the configuration means. Errors that do not matter for decoding are thrown
  // here.
  std::vector<LzmaFilter> encoding_filters() const {
    if (!filters_.empty()) {
      if (preset_) throw Error("lzma: both \"preset\" and \"filters\" are given");
      const bool is_plain = filters_.size() == 1 && filters_.front().id() == LZMA_FILTER_LZMA1;
      if (format_ == LzmaFormat::alone && !is_plain) {
        throw Error("lzma: format 2 takes only one filter, LZMA1");
      }
      return filters_;
    }
    const std::int64_t preset = preset_.value_or(LZMA_PRESET_DEFAULT);
    if (!std::in_range<std::uint32_t>(preset)) {
      throw Error("lzma: \"preset\" is " + std::to_string(preset) + ", which is not valid");
    }
    const lzma_vli id = format_ == LzmaFormat::alone ? LZMA_FILTER_LZMA1 : LZMA_FILTER_LZMA2;
    return {LzmaFilter(id, static_cast<std::uint32_t>(preset))};
  }

  lzma_check encoding_check() const {
    if (check_id_ == -1) return LZMA_CHECK_CRC64;
    for (const lzma_check known :
         {LZMA_CHECK_NONE, LZMA_CHECK_CRC32, LZMA_CHECK_CRC64, LZMA_CHECK_SHA256}) {
      if (check_id_ == static_cast<std::int64_t>(known)) return known;
    }
    throw Error("lzma: \"check\" is " + std::to_string(check_id_) + ", which is not valid");
  }

  static Buffer run(LzmaStream& stream, ByteSpan decoded) {
    // Enough for .xz, and nearly always for the other formats.
    Buffer encoded(lzma_stream_buffer_bound(decoded.size()));
    for (std::size_t size = 0;;) {
      MutableByteSpan rest = encoded.span().subspan(size);
      const bool is_done = stream.advance(decoded, rest, LZMA_FINISH);
      size = encoded.size() - rest.size();
      if (is_done) {
        encoded.truncate(size);
        return encoded;
      }
      Buffer larger(encoded.size() * 2);
      std::memcpy(larger.data(), encoded.data(), size);
      encoded = std::move(larger);
    }
  }

  LzmaFormat format_;
  std::int64_t check_id_;
  std::optional<std::int64_t> preset_;
  std::vector<LzmaFilter> filters_;
};

LzmaFormat parse_format(const Json& configuration) {
  const std::int64_t format = integer_option(configuration, "format", 1);
  if (format < 1 || format > 3) {
    throw Error("\"format\" is " + std::to_string(format) + " where 1, 2 or 3 is expected");
  }
  return static_cast<LzmaFormat>(format);
}

std::optional<std::int64_t> parse_preset(const Json& configuration) {
  const Json* preset = find_member(configuration, "preset");
  if (preset == nullptr || preset->is_null()) return std::nullopt;
  return integer_option(configuration, "preset", 0);
}

std::vector<LzmaFilter> parse_filters(const Json& configuration) {
  const Json* list = find_member(configuration, "filters");
  if (list == nullptr || list->is_null()) return {};
  if (!list->is_array()) throw Error("\"filters\" is neither a list nor null");
  if (list->size() > LZMA_FILTERS_MAX) {
    throw Error("\"filters\" has " + std::to_string(list->size()) + " filters; at most " +
                std::to_string(LZMA_FILTERS_MAX) + " are possible");
  }
  std::vector<LzmaFilter> filters;
  for (const Json& specification : *list) filters.emplace_back(specification);
  return filters;
}

}  // namespace

Codec make_lzma(const Json& configuration, const ChunkSpec& /*spec*/) {
  const LzmaFormat format = parse_format(configuration);
  std::vector<LzmaFilter> filters = parse_filters(configuration);
  if (format == LzmaFormat::raw && filters.empty()) {
    throw Error("\"filters\" is missing, which format 3 needs");
  }
  return std::make_unique<LzmaCodec>(format, integer_option(configuration, "check", -1),
                                     parse_preset(configuration), std::move(filters));
}

}  // namespace zarrcore
