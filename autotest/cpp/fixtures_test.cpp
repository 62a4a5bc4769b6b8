// Stores that other implementations wrote (autotest/fixtures) read back as their writers meant.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "autotest/cpp/support/expect_error.h"
#include "autotest/cpp/support/npy.h"
#include "autotest/cpp/support/stored_array.h"
#include "zarrcore/zarrcore.h"

namespace zarrcore::test {
namespace {

namespace fs = std::filesystem;

fs::path fixtures() {
  return FIXTURES_FOLDER;
}

struct Fixture {
  std::string label;
  Json entry;
};

void PrintTo(const Fixture& fixture, std::ostream* stream) {
  *stream << fixture.label;
}

// What zarrcore does not read yet: beginnings of a feature of the fixture.
constexpr std::string_view kNotYet[] = {
    "v1",
    "v3 2020 draft",
    "filter:",
    "compressor:bz2",
    "compressor:lzma",
    "compressor:lz4",
    "z2_F_filters",
    "numcodecs.bz2",
    "numcodecs.lzma",
    "numcodecs.lz4",
    "numcodecs.crc32",
    "numcodecs.adler32",
    "numcodecs.fletcher32",
    "numcodecs.shuffle",
    "numcodecs.delta",
    "numcodecs.fixedscaleoffset",
    "numcodecs.packbits",
    "scale_offset",
    "cast_value",
    "reshape",
    "rectilinear chunk grid",
    "datetime",
    "variable-length string",
    "structured dtype",
    "kerchunk",
    "zip store",
};

bool is_readable(const Fixture& fixture) {
  for (const Json& feature : fixture.entry["features"]) {
    for (const std::string_view prefix : kNotYet) {
      if (feature.get_ref<const std::string&>().starts_with(prefix)) return false;
    }
  }
  return true;
}

std::vector<Fixture> load_fixtures() {
  std::vector<Fixture> all;
  for (const Json& entry : parse_json(read_file(fixtures() / "manifest.json"))) {
    const fs::path store = entry["store"].get<std::string>();
    std::string label = store.stem().string() + entry["array"].get<std::string>();
    for (char& c : label) {
      if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
    }
    all.push_back({std::move(label), entry});
  }
  return all;
}

// The text of an element of a fixed-length string.
std::string text_of(ByteSpan element, const DataType& type) {
  std::string text;
  for (std::size_t i = 0; i < element.size(); i += type.swap_unit()) {
    std::uint32_t code_point = 0;
    if (type.kind == TypeKind::fixed_utf32) {
      std::memcpy(&code_point, element.data() + i, sizeof(code_point));
    } else {
      code_point = std::to_integer<std::uint32_t>(element[i]);
    }
    if (code_point == 0) break;
    // JSON knows how to write any code point.
    const std::uint32_t offset = code_point - 0x10000;
    char escape[16];
    if (code_point < 0x10000) {
      std::snprintf(escape, sizeof(escape), "\\u%04x", code_point);
    } else {
      std::snprintf(escape, sizeof(escape), "\\u%04x\\u%04x", 0xd800 + (offset >> 10),
                    0xdc00 + (offset & 0x3ff));
    }
    text += escape;
  }
  return parse_json('"' + text + '"').get<std::string>();
}

class Fixtures : public testing::TestWithParam<Fixture> {
 protected:
  std::shared_ptr<const Array> open() const {
    const Json& entry = GetParam().entry;
    const auto store =
        std::make_shared<FileSystemStore>(fixtures() / entry["store"].get<std::string>());
    const Hierarchy hierarchy(store);
    return hierarchy.open_array(entry["array"].get<std::string>(), std::make_shared<Context>());
  }

  static void expect_values(const Array& array, const NpyArray& expected) {
    ASSERT_EQ(array.shape(), expected.shape);
    for (const std::size_t threads : {1, 2}) {
      const Bytes values = read(array, everything(array.shape()), {.threads = threads});
      EXPECT_TRUE(values == expected.elements);
    }
    // Some parts, which come through the cache.
    Random random(36);
    const bool is_empty = expected.elements.empty();
    for (int i = 0; i < (is_empty ? 0 : 10); ++i) {
      const Selection selection = random_selection(random, array.shape());
      EXPECT_TRUE(read(array, selection) == selected(expected.elements, array.shape(),
                                                     array.data_type().item_size, selection));
    }
  }

  static void expect_texts(const Array& array, const Json& expected) {
    const Bytes values = read(array, everything(array.shape()));
    const std::size_t item_size = array.data_type().item_size;
    Json texts = Json::array();
    for (std::size_t i = 0; i < values.size(); i += item_size) {
      texts.push_back(text_of(std::span(values).subspan(i, item_size), array.data_type()));
    }
    EXPECT_EQ(texts, expected);
  }
};

INSTANTIATE_TEST_SUITE_P(All, Fixtures, testing::ValuesIn(load_fixtures()),
                         [](const auto& test) { return test.param.label; });

TEST_P(Fixtures, ReadAsTheirWritersMeant) {
  const Json& entry = GetParam().entry;
  if (!is_readable(GetParam())) {
    // An error that says so: nothing crashes, and nothing is read wrongly.
    EXPECT_ERROR(open(), "");
    return;
  }
  const auto array = open();
  if (const Json* expected = find_member(entry, "expected")) {
    expect_values(*array, read_npy(fixtures() / expected->get<std::string>()));
  } else if (const Json* texts = find_member(entry, "expected_json")) {
    expect_texts(*array, parse_json(read_file(fixtures() / texts->get<std::string>())));
  } else {
    EXPECT_NO_THROW(read(*array, everything(array->shape())));
  }
}

TEST(FixtureStores, MostAreReadable) {
  const auto all = load_fixtures();
  EXPECT_EQ(all.size(), 183);
  EXPECT_GE(std::count_if(all.begin(), all.end(), is_readable), 120);
}

}  // namespace
}  // namespace zarrcore::test
