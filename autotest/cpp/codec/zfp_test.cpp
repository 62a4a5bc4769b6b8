#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "autotest/cpp/support/array_codecs.h"
#include "autotest/cpp/support/expect_error.h"
#include "autotest/cpp/support/layout.h"

namespace zarrcore::test::zfp_test {
namespace {

// a = (np.arange(35) ** 2 / 7).reshape(5, 7)
template <typename T>
std::vector<T> sample() {
  std::vector<T> values;
  for (int i = 0; i < 35; ++i) values.push_back(static_cast<T>(i * i / 7.0));
  return values;
}
const Shape kShape{5, 7};

auto make_zfp(std::string_view configuration, const Shape& shape, const DataType& type) {
  return make_array_to_bytes("zfp", configuration, spec_of(shape, type));
}
auto make_zfpy(std::string_view configuration, const Shape& shape, const DataType& type) {
  return make_array_to_bytes("numcodecs.zfpy", configuration, spec_of(shape, type));
}

constexpr const char* kReversible = R"({"mode": "reversible"})";

// numcodecs.zfpy.ZFPY(mode=4, tolerance=1e-3).encode(a), after zfp's header of 12 bytes.
constexpr const char* kHeader = "7a66700567000040000090ca";
constexpr const char* kAccurate =
    "0d482a24d220151a4024020044009108001001a40149851483aeb2890651058994000680440000114122048001"
    "201100404490080f68011764200990240090004902f0805689620410041109148040134914c0001201109144010c"
    "2011";

template <typename T>
double largest_error(const ArrayToBytesCodec& codec, const Bytes& encoded,
                     const std::vector<T>& expected) {
  const auto values = values_of<T>(decoded_by(codec, encoded, expected.size() * sizeof(T)));
  double error = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    error = std::max(error, std::abs(static_cast<double>(values[i] - expected[i])));
  }
  return error;
}

TEST(Zfp, ReadsAndWritesWhatZfpyWrites) {
  // zfpy.compress_numpy(a, tolerance=1e-3, write_header=False)
  const auto accurate =
      make_zfp(R"({"mode": "fixed_accuracy", "tolerance": 1e-3})", kShape, kFloat64);
  EXPECT_EQ(encoded_by(*accurate, elements(sample<double>())), from_hex(kAccurate));
  EXPECT_LT(largest_error(*accurate, from_hex(kAccurate), sample<double>()), 1e-3);
  // zfpy.compress_numpy(a.astype('f4'), rate=8, write_header=False)
  const Bytes rate = from_hex(
      "0d4985441aa4420388440080082012010d49851483aeb28906510589940006800f2de0820c240192040012204900"
      "20"
      "010fad12c5082008221228008126922880");
  const auto fixed = make_zfp(R"({"mode": "fixed_rate", "rate": 8})", kShape, kFloat32);
  EXPECT_EQ(encoded_by(*fixed, elements(sample<float>())), rate);
  EXPECT_NEAR(largest_error(*fixed, rate, sample<float>()), 0.087055, 1e-5);
  // zfpy.compress_numpy(a, precision=20, write_header=False)
  const Bytes precision = from_hex(
      "0d482a24d220151a4024020044009108000d482aa41874954d34882a48a404300024020088081221000c0089f080"
      "16"
      "7041069200490200090f6895284600411091400108349144010c2011001101");
  const auto precise =
      make_zfp(R"({"mode": "fixed_precision", "precision": 20})", kShape, kFloat64);
  EXPECT_EQ(encoded_by(*precise, elements(sample<double>())), precision);
  EXPECT_NEAR(largest_error(*precise, precision, sample<double>()), 0.0010812, 1e-6);
  // zfpy.compress_numpy(np.arange(5, dtype='i8'), write_header=False)
  const Bytes integers = from_hex("3f00000000000000a07a0000000000000030");
  const std::vector<std::int64_t> range{0, 1, 2, 3, 4};
  EXPECT_EQ(decoded_by(*make_zfp(kReversible, {5}, kInt64), integers, 40), elements(range));
}

TEST(Zfp, ZfpyStandsBehindAHeader) {
  const auto codec =
      make_zfpy(R"({"mode": 4, "tolerance": 1e-3, "rate": -1, "precision": -1})", kShape, kFloat64);
  const Bytes encoded = encoded_by(*codec, elements(sample<double>()));
  const Bytes header = from_hex(kHeader);
  EXPECT_EQ(Bytes(encoded.begin(), encoded.begin() + 12), header);
  EXPECT_LT(largest_error(*codec, encoded, sample<double>()), 1e-3);
  // ZFPY(mode=4, tolerance=-1).encode(a.astype('i4')), which zfpy makes without loss
  const Bytes lossless = from_hex(
      "7a66700564000040000000881f00000099080816913e00000032019912524bb2001f0000b0e80410e80300001602"
      "1a"
      "408080029200");
  const auto plain = make_zfpy(R"({"mode": 4, "tolerance": -1})", kShape, kInt32);
  EXPECT_EQ(decoded_by(*plain, lossless, 140), elements(sample<std::int32_t>()));
  EXPECT_EQ(encoded_by(*plain, elements(sample<std::int32_t>())), lossless);
}

TEST(Zfp, TheHeaderSaysHowToDecode) {
  const auto writer = make_zfpy(R"({"mode": 3, "precision": 20})", kShape, kFloat64);
  const auto reader = make_zfpy(R"({"mode": 2, "rate": 4})", kShape, kFloat64);
  const Bytes encoded = encoded_by(*writer, elements(sample<double>()));
  EXPECT_EQ(decoded_by(*reader, encoded, 280), decoded_by(*writer, encoded, 280));
}

TEST(Zfp, TheHeaderMustFitTheChunk) {
  const Bytes encoded =
      encoded_by(*make_zfpy(R"({"mode": 5})", kShape, kFloat64), elements(sample<double>()));
  EXPECT_ERROR(decoded_by(*make_zfpy("{}", {7, 5}, kFloat64), encoded, 280),
               "another type or shape, [5,7]");
  EXPECT_ERROR(decoded_by(*make_zfpy("{}", kShape, kInt64), encoded, 280), "another type or shape");
  EXPECT_ERROR(decoded_by(*make_zfpy("{}", kShape, kFloat64), from_hex(kAccurate), 280),
               "does not start with a header of zfp");
  EXPECT_ERROR(decoded_by(*make_zfpy("{}", kShape, kFloat64), {}, 280), "header of zfp");
  const Bytes flat =
      encoded_by(*make_zfpy(R"({"mode": 5})", {35}, kFloat64), elements(sample<double>()));
  EXPECT_EQ(decoded_by(*make_zfpy("{}", kShape, kFloat64), flat, 280), elements(sample<double>()));
}

template <typename T>
void expect_lossless(const DataType& type, const Shape& shape) {
  Random random(24);
  std::vector<T> values(element_count(shape));
  for (T& value : values) value = static_cast<T>(random());
  const auto codec = make_zfp(kReversible, shape, type);
  const Bytes encoded = encoded_by(*codec, elements(values));
  EXPECT_LE(encoded.size(), codec->max_encoded_size());
  EXPECT_EQ(decoded_by(*codec, encoded, values.size() * sizeof(T)), elements(values));
  const auto with_header = make_zfpy(R"({"mode": 5})", shape, type);
  EXPECT_EQ(decoded_by(*with_header, encoded_by(*with_header, elements(values)),
                       values.size() * sizeof(T)),
            elements(values));
}

TEST(Zfp, RoundTripsAllSizesTypesAndRanks) {
  for (const Shape& shape :
       {Shape{}, Shape{0}, Shape{1}, Shape{5}, Shape{100003}, Shape{3, 0}, Shape{1, 1},
        Shape{61, 7}, Shape{3, 4, 5}, Shape{1, 1, 1, 99}, Shape{7, 6, 5, 3}}) {
    expect_lossless<std::int32_t>(kInt32, shape);
    expect_lossless<std::int64_t>(kInt64, shape);
    expect_lossless<float>(kFloat32, shape);
    expect_lossless<double>(kFloat64, shape);
  }
}

TEST(Zfp, ExpertParametersAreThoseOfTheOtherModes) {
  const auto expert = make_zfp(
      R"({"mode": "expert", "minbits": 1, "maxbits": 16658, "maxprec": 64, "minexp": -10})", kShape,
      kFloat64);
  EXPECT_EQ(encoded_by(*expert, elements(sample<double>())), from_hex(kAccurate));
  const auto padded = make_zfp(
      R"({"mode": "expert", "minbits": 4000, "maxbits": 4000, "maxprec": 64, "minexp": -1074})",
      kShape, kFloat64);
  const Bytes encoded = encoded_by(*padded, elements(sample<double>()));
  EXPECT_EQ(encoded.size(), 4 * 4000 / 8);
  EXPECT_LT(largest_error(*padded, encoded, sample<double>()), 1e-10);
}

TEST(Zfp, ReversibleKeepsWhatIsNotFinite) {
  const std::vector<double> values{NAN, INFINITY, -INFINITY, -0.0, 1};
  const auto codec = make_zfp(kReversible, {5}, kFloat64);
  EXPECT_EQ(decoded_by(*codec, encoded_by(*codec, elements(values)), 40), elements(values));
}

TEST(Zfp, WhatALossyModeWouldRuinIsRefused) {
  const auto floats = make_zfp(R"({"mode": "fixed_accuracy", "tolerance": 1})", {2}, kFloat32);
  EXPECT_ERROR(encoded_by(*floats, elements<float>({1, NAN})), "has a NaN or an infinity");
  const auto integers = make_zfp(R"({"mode": "fixed_precision", "precision": 32})", {2}, kInt32);
  EXPECT_NO_THROW(encoded_by(*integers, elements<std::int32_t>({(1 << 30) - 1, 1 - (1 << 30)})));
  EXPECT_ERROR(encoded_by(*integers, elements<std::int32_t>({0, 1 << 30})),
               "integers that take all");
  EXPECT_ERROR(encoded_by(*integers, elements<std::int32_t>({0, INT32_MIN})), "integers that take");
}

TEST(Zfp, OtherSizesAreErrors) {
  const auto codec = make_zfp(R"({"mode": "fixed_accuracy", "tolerance": 1e-3})", kShape, kFloat64);
  const Bytes whole = from_hex(kAccurate);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_ERROR(decoded_by(*codec, {whole.begin(), whole.begin() + size}, 280),
                 "zfp: the chunk has ");
  }
  // Writers with larger words than ours end with zeros.
  Bytes longer = whole;
  longer.resize(whole.size() + 7);
  EXPECT_NO_THROW(decoded_by(*codec, longer, 280));
  longer.back() = std::byte{1};
  EXPECT_ERROR(decoded_by(*codec, longer, 280), "zfp: the chunk has ");
  longer.back() = std::byte{0};
  longer.push_back(std::byte{0});
  EXPECT_ERROR(decoded_by(*codec, longer, 280),
               "zfp: the chunk has " + std::to_string(longer.size()) + " bytes where ");
  EXPECT_ERROR(decoded_by(*make_zfp(kReversible, {0}, kFloat64), whole, 0),
               "has bytes, but no elements");
}

TEST(Zfp, AFewBytesCannotDemandALotOfMemory) {
  const std::uint64_t length = std::uint64_t{1} << (sizeof(std::size_t) == 8 ? 50 : 27);
  const auto codec = make_zfp(kReversible, {length}, kFloat64);
  Arena arena;
  EXPECT_ERROR(codec->decode(Bytes(100), {}, arena),
               "100 bytes, too few for " + std::to_string(length / 4) + " blocks");
  if (sizeof(std::size_t) < 8) return;
  EXPECT_EQ(make_zfp(kReversible, {1, 1, 1, std::uint64_t{1} << 59}, kFloat64)->max_encoded_size(),
            UINT64_MAX);
}

TEST(Zfp, NoiseNeverReachesOutsideTheChunk) {
  Random random(25);
  for (const char* configuration :
       {kReversible, R"({"mode": "fixed_precision", "precision": 64})",
        R"({"mode": "expert", "minbits": 100, "maxbits": 2000, "maxprec": 64, "minexp": -1075})"}) {
    for (const DataType& type : {kInt32, kInt64, kFloat32, kFloat64}) {
      const auto codec = make_zfp(configuration, {5, 6, 7}, type);
      for (int round = 0; round < 300; ++round) {
        const Bytes noise = random_bytes(random, random_number(random, 0, 3000));
        try {
          decoded_by(*codec, noise, 210 * type.item_size);
        } catch (const Error&) {
        }
      }
    }
  }
  const auto codec = make_zfpy("{}", kShape, kFloat64);
  const Bytes encoded =
      encoded_by(*make_zfpy(R"({"mode": 5})", kShape, kFloat64), elements(sample<double>()));
  for (int round = 0; round < 5000; ++round) {
    Bytes corrupt = encoded;
    for (std::uint64_t i = random_number(random, 1, 4); i > 0; --i) {
      const std::size_t limit = random() % 2 == 0 ? 24 : corrupt.size();
      corrupt[random_number(random, 4, limit - 1)] = std::byte(random() & 0xff);
    }
    try {
      decoded_by(*codec, corrupt, 280);
    } catch (const Error&) {
    }
  }
}

TEST(Zfp, RefusesConfigurationsThatAreNone) {
  const auto refused = [](std::string_view configuration) {
    return make_zfp(configuration, kShape, kFloat64);
  };
  EXPECT_ERROR(refused("{}"), "\"mode\" is missing");
  EXPECT_ERROR(refused(R"({"mode": "lossless"})"), "\"mode\" is \"lossless\"");
  EXPECT_ERROR(refused(R"({"mode": "fixed_accuracy"})"), "\"tolerance\" is missing");
  EXPECT_ERROR(refused(R"({"mode": "fixed_accuracy", "tolerance": -1})"),
               "\"tolerance\" is negative");
  EXPECT_ERROR(refused(R"({"mode": "fixed_accuracy", "tolerance": NaN})"), "\"tolerance\" is NaN");
  EXPECT_ERROR(refused(R"({"mode": "fixed_rate", "rate": 0})"), "\"rate\" is 0");
  EXPECT_ERROR(refused(R"({"mode": "fixed_rate", "rate": 1e300})"), "\"rate\" is 1e+300");
  EXPECT_ERROR(refused(R"({"mode": "fixed_precision", "precision": 65})"), "\"precision\" is 65");
  EXPECT_ERROR(refused(R"({"mode": "fixed_precision", "precision": 1.5})"), "\"precision\" is 1.5");
  EXPECT_ERROR(
      refused(R"({"mode": "expert", "minbits": 9, "maxbits": 8, "maxprec": 64, "minexp": 0})"),
      "\"minbits\" is more than \"maxbits\"");
  EXPECT_ERROR(refused(R"({"mode": "expert", "minbits": 1, "maxbits": 4294967296, "maxprec": 64,
                           "minexp": 0})"),
               "\"maxbits\" is 4294967296");
  EXPECT_ERROR(make_zfpy(R"({"mode": 1})", kShape, kFloat64), "\"mode\" is 1");
  EXPECT_ERROR(make_zfpy("{}", kShape, kInt16), "int16 are none that zfp compresses");
  EXPECT_ERROR(make_zfp(kReversible, {1, 1, 1, 1, 1}, kInt32), "5 dimensions, zfp is for up to 4");
}

// Elements with the values of `carriers`, as they are promoted.
template <typename Element, typename Carrier>
void expect_carried(const DataType& type, const DataType& carrier,
                    const std::vector<Element>& values, const std::vector<Carrier>& carriers) {
  const auto own = make_zfp(kReversible, {values.size()}, type);
  const auto other = make_zfp(kReversible, {values.size()}, carrier);
  const Bytes encoded = encoded_by(*other, elements(carriers));
  EXPECT_EQ(encoded_by(*own, elements(values)), encoded);
  EXPECT_EQ(decoded_by(*own, encoded, values.size() * sizeof(Element)), elements(values));
}

TEST(Zfp, OtherIntegersAndSmallFloatsAreCarriedByThoseThatItCompresses) {
  using I4 = std::vector<std::int32_t>;
  expect_carried<std::int8_t>(kInt8, kInt32, {-128, -1, 0, 127},
                              I4{-128 << 23, -1 << 23, 0, 127 << 23});
  expect_carried<std::uint8_t>(kUint8, kInt32, {0, 128, 255}, I4{-128 << 23, 0, 127 << 23});
  expect_carried<std::int16_t>(kInt16, kInt32, {-32768, -3, 32767},
                               I4{-32768 << 15, -3 << 15, 32767 << 15});
  expect_carried<std::uint16_t>(kUint16, kInt32, {0, 32769, 65535},
                                I4{-32768 << 15, 1 << 15, 32767 << 15});
  expect_carried<std::uint32_t>({TypeKind::unsigned_integer, 4}, kInt32, {0, 5, 2147483647},
                                I4{0, 5, 2147483647});
  expect_carried<std::uint64_t>(kUint64, kInt64, {0, 7, INT64_MAX},
                                std::vector<std::int64_t>{0, 7, INT64_MAX});
  // 1.5 and -2 in float16 and bfloat16.
  expect_carried<std::uint16_t>(kFloat16, kFloat32, {0x3e00, 0xc000}, std::vector<float>{1.5, -2});
  expect_carried<std::uint16_t>({TypeKind::floating, 2, 0, FloatFormat::bfloat16}, kFloat32,
                                {0x3fc0, 0xc000}, std::vector<float>{1.5, -2});
}

TEST(Zfp, CarriedIntegersStayInTheirRange) {
  const auto narrow = make_zfp(kReversible, {2}, kUint8);
  const auto carrier = make_zfp(kReversible, {2}, kInt32);
  const Bytes beyond = encoded_by(*carrier, elements<std::int32_t>({INT32_MIN, INT32_MAX}));
  EXPECT_EQ(decoded_by(*narrow, beyond, 2), bytes_of({0, 255}));
  const auto unsigned_ = make_zfp(kReversible, {1}, kUint64);
  EXPECT_ERROR(encoded_by(*unsigned_, elements<std::uint64_t>({UINT64_MAX})),
               "a number with a sign and does not fit");
  EXPECT_ERROR(make_zfp(kReversible, {1}, {TypeKind::complex, 8}), "none that zfp compresses");
  EXPECT_ERROR(make_zfp(kReversible, {1}, {TypeKind::signed_integer, 1, 4}), "none that zfp");
}

}  // namespace
}  // namespace zarrcore::test::zfp_test
