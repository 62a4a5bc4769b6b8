// The `lzma` codec of numcodecs and of v1. Its configuration is the same as in Python's module
// lzma:
//   format   1: .xz (the default); 2: .lzma ("alone"); 3: raw, described by `filters`
//   check    of .xz: 0 none, 1 CRC32, 4 CRC64, 10 SHA-256; -1 or absent: CRC64
//   preset   0 to 9, plus 2^31 for "extreme"; absent: 6
//   filters  instead of a preset: a list of {"id": number, options…}
#include <lzma.h>

#include <array>
#include <optional>
#include <utility>

#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/decoder_codec.h"

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

// The filters of a configuration, as liblzma takes them.
class LzmaFilters {
 public:
  // `list` is null or a list of specifications.
  explicit LzmaFilters(const Json& list) {
    if (!list.is_null() && !list.is_array()) throw Error("\"filters\" is neither a list nor null");
    if (list.size() > LZMA_FILTERS_MAX) {
      throw Error("\"filters\" has " + std::to_string(list.size()) + " filters; at most " +
                  std::to_string(LZMA_FILTERS_MAX) + " are possible");
    }
    for (std::size_t i = 0; i < list.size(); ++i) filters_[i] = read_filter(list[i], options_[i]);
    filters_[list.size()].id = LZMA_VLI_UNKNOWN;
  }
  LzmaFilters(const LzmaFilters&) = delete;
  LzmaFilters& operator=(const LzmaFilters&) = delete;

  bool is_empty() const { return filters_[0].id == LZMA_VLI_UNKNOWN; }
  // Returns true if LZMA1 is the only one.
  bool is_plain() const {
    return filters_[0].id == LZMA_FILTER_LZMA1 && filters_[1].id == LZMA_VLI_UNKNOWN;
  }
  const lzma_filter* data() const { return filters_.data(); }

 private:
  // Of one filter, which uses one of them.
  struct Options {
    lzma_options_lzma lzma;
    lzma_options_delta delta;
    lzma_options_bcj bcj;
  };

  // The filter points to `options`.
  static lzma_filter read_filter(const Json& specification, Options& options) {
    const Json* member = find_member(specification, "id");
    const lzma_vli id =
        member == nullptr ? LZMA_VLI_UNKNOWN : as_unsigned(*member, "the \"id\" of a filter");
    switch (id) {
      case LZMA_FILTER_LZMA1:
      case LZMA_FILTER_LZMA2:
        read_lzma_options(specification, options.lzma);
        return {id, &options.lzma};
      case LZMA_FILTER_DELTA:
        options.delta.type = LZMA_DELTA_TYPE_BYTE;
        read(specification, "dist", options.delta.dist, LZMA_DELTA_DIST_MIN);
        return {id, &options.delta};
      case LZMA_FILTER_X86:
      case LZMA_FILTER_POWERPC:
      case LZMA_FILTER_IA64:
      case LZMA_FILTER_ARM:
      case LZMA_FILTER_ARMTHUMB:
      case LZMA_FILTER_SPARC:
        read(specification, "start_offset", options.bcj.start_offset, 0);
        return {id, &options.bcj};
      default:
        throw Error("the filter " + excerpt(specification) + " has no \"id\" of an lzma filter");
    }
  }

  static void read(const Json& specification, std::string_view key, std::uint32_t& option,
                   std::uint32_t fallback) {
    option =
        static_cast<std::uint32_t>(integer_option(specification, key, fallback, 0, UINT32_MAX));
  }

  static void read_lzma_options(const Json& specification, lzma_options_lzma& options) {
    std::uint32_t preset = 0;
    read(specification, "preset", preset, LZMA_PRESET_DEFAULT);
    if (lzma_lzma_preset(&options, preset) != 0) {
      throw Error("\"preset\" is " + std::to_string(preset) + ", which is not valid");
    }
    read(specification, "dict_size", options.dict_size, options.dict_size);
    read(specification, "lc", options.lc, options.lc);
    read(specification, "lp", options.lp, options.lp);
    read(specification, "pb", options.pb, options.pb);
    read(specification, "nice_len", options.nice_len, options.nice_len);
    read(specification, "depth", options.depth, options.depth);
    options.mode =
        read_choice(specification, "mode", options.mode, {LZMA_MODE_FAST, LZMA_MODE_NORMAL});
    options.mf = read_choice(specification, "mf", options.mf,
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

  std::array<Options, LZMA_FILTERS_MAX> options_{};
  std::array<lzma_filter, LZMA_FILTERS_MAX + 1> filters_{};
};

class LzmaStream final : public StreamDecoder {
 public:
  LzmaStream() = default;
  ~LzmaStream() override { lzma_end(&stream_); }
  LzmaStream(const LzmaStream&) = delete;
  LzmaStream& operator=(const LzmaStream&) = delete;

  lzma_stream* get() { return &stream_; }

  // Works from the front of `input` to the front of `output`, and removes the used bytes from both.
  // Returns true if the stream has ended.
  bool run(ByteSpan& input, MutableByteSpan& output, lzma_action action) {
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(input.data());
    stream_.avail_in = input.size();
    stream_.next_out = reinterpret_cast<std::uint8_t*>(output.data());
    stream_.avail_out = output.size();
    const lzma_ret result = check(lzma_code(&stream_, action));
    input = input.last(stream_.avail_in);
    output = output.last(stream_.avail_out);
    return result == LZMA_STREAM_END;
  }

  bool advance(ByteSpan& encoded, MutableByteSpan& decoded) override {
    return run(encoded, decoded, LZMA_RUN);
  }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
};

class LzmaCodec final : public StreamCodec {
 public:
  LzmaCodec(LzmaFormat format, std::int64_t check_id, std::optional<std::int64_t> preset,
            const Json& filters)
      : StreamCodec("lzma", kMaxLzmaExpansion),
        format_(format),
        check_id_(check_id),
        preset_(preset),
        filters_(filters) {
    if (format == LzmaFormat::raw && filters_.is_empty()) {
      throw Error("\"filters\" is missing, which format 3 needs");
    }
  }

  // Errors that do not matter for decoding are thrown here.
  Buffer encode(ByteSpan decoded) const override {
    if (preset_ && !filters_.is_empty()) {
      throw Error("lzma: both \"preset\" and \"filters\" are given");
    }
    lzma_options_lzma options = preset_options();
    const lzma_filter by_preset[] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, nullptr}};
    const lzma_filter* filters = filters_.is_empty() ? by_preset : filters_.data();
    LzmaStream stream;
    switch (format_) {
      case LzmaFormat::xz:
        check(lzma_stream_encoder(stream.get(), filters, encoding_check()));
        break;
      case LzmaFormat::alone:
        if (!filters_.is_empty() && !filters_.is_plain()) {
          throw Error("lzma: format 2 takes only one filter, LZMA1");
        }
        check(lzma_alone_encoder(stream.get(),
                                 static_cast<const lzma_options_lzma*>(filters->options)));
        break;
      case LzmaFormat::raw:
        check(lzma_raw_encoder(stream.get(), filters));
    }
    return run(stream, decoded);
  }

 private:
  std::unique_ptr<StreamDecoder> make_decoder(std::uint64_t size) const override {
    const std::uint64_t memory = checked_add(size, kSpareMemory).value_or(UINT64_MAX);
    auto stream = std::make_unique<LzmaStream>();
    switch (format_) {
      case LzmaFormat::xz:
        check(lzma_stream_decoder(stream->get(), memory, 0));
        break;
      case LzmaFormat::alone:
        check(lzma_alone_decoder(stream->get(), memory));
        break;
      case LzmaFormat::raw:
        if (lzma_raw_decoder_memusage(filters_.data()) > memory) check(LZMA_MEMLIMIT_ERROR);
        check(lzma_raw_decoder(stream->get(), filters_.data()));
    }
    return stream;
  }

  lzma_options_lzma preset_options() const {
    const std::int64_t preset = preset_.value_or(LZMA_PRESET_DEFAULT);
    lzma_options_lzma options{};
    if (!std::in_range<std::uint32_t>(preset) ||
        lzma_lzma_preset(&options, static_cast<std::uint32_t>(preset)) != 0) {
      throw Error("lzma: \"preset\" is " + std::to_string(preset) + ", which is not valid");
    }
    return options;
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
      const bool is_done = stream.run(decoded, rest, LZMA_FINISH);
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
  LzmaFilters filters_;
};

LzmaFormat parse_format(const Json& configuration) {
  const std::int64_t format = integer_option(configuration, "format", 1);
  if (format < 1 || format > 3) {
    throw Error("\"format\" is " + std::to_string(format) + " where 1, 2 or 3 is expected");
  }
  return static_cast<LzmaFormat>(format);
}

std::optional<std::int64_t> parse_preset(const Json& configuration) {
  const Json* preset = find_value(configuration, "preset");
  if (preset == nullptr) return std::nullopt;
  return integer_option(configuration, "preset", 0);
}

}  // namespace

Codec make_lzma(const Json& configuration, const ChunkSpec& /*spec*/) {
  const LzmaFormat format = parse_format(configuration);
  const Json* filters = find_member(configuration, "filters");
  return std::make_unique<LzmaCodec>(format, integer_option(configuration, "check", -1),
                                     parse_preset(configuration),
                                     filters == nullptr ? Json() : *filters);
}

}  // namespace zarrcore
