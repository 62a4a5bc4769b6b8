// Stores that other implementations wrote (autotest/fixtures) read back as their writers meant.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "autotest/cpp/support/expect_error.h"
#include "autotest/cpp/support/npy.h"
#include "autotest/cpp/support/stored_array.h"
#include "zarrcore/zarrcore.h"

namespace zarrcore::test::fixtures_test {
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
  for (std::size_t i = 0; i < element.size(); i += type.kind == TypeKind::fixed_utf32 ? 4 : 1) {
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

// Copies elements of variable length into strings.
class TextConverter final : public ElementConverter {
 public:
  void convert(const std::byte* source, std::ptrdiff_t source_stride, std::byte* destination,
               std::ptrdiff_t destination_stride, std::size_t count) const override {
    for (std::size_t i = 0; i < count; ++i) {
      VariableElement element;
      std::memcpy(&element, source, sizeof(element));
      *reinterpret_cast<std::string*>(destination) = element.text();
      source += source_stride;
      destination += destination_stride;
    }
  }
};

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
    Json texts = Json::array();
    if (array.data_type().is_variable()) {
      std::vector<std::string> elements(expected.size());
      const TextConverter converter;
      array.read(everything(array.shape()),
                 {reinterpret_cast<std::byte*>(elements.data()),
                  c_strides(array.shape(), sizeof(std::string)), &converter});
      for (const std::string& text : elements) texts.push_back(text);
    } else {
      const Bytes values = read(array, everything(array.shape()));
      const std::size_t item_size = array.data_type().item_size;
      for (std::size_t i = 0; i < values.size(); i += item_size) {
        texts.push_back(text_of(std::span(values).subspan(i, item_size), array.data_type()));
      }
    }
    EXPECT_EQ(texts, expected);
  }

  static void expect_structures(const Array& array, const Json& expected) {
    const Bytes values = read(array, everything(array.shape()));
    const DataType float64{TypeKind::floating, 8};
    for (std::size_t i = 0; i < expected.size(); ++i) {
      for (const Field& field : *array.data_type().fields) {
        double value = 0;
        auto* bytes = reinterpret_cast<std::byte*>(&value);
        const std::byte* element = values.data() + i * array.data_type().item_size + field.offset;
        if (const auto converter = make_numeric_converter(field.type, float64)) {
          converter->convert(element, 0, bytes, 0, 1);
        } else {
          std::memcpy(bytes, element, sizeof(value));
        }
        EXPECT_EQ(value, expected[i][field.name].get<double>()) << field.name << " of " << i;
      }
    }
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
  } else if (const Json* file = find_member(entry, "expected_json")) {
    const Json elements = parse_json(read_file(fixtures() / file->get<std::string>()));
    if (array->data_type().kind == TypeKind::structure) {
      expect_structures(*array, elements);
    } else {
      expect_texts(*array, elements);
    }
  } else {
    EXPECT_NO_THROW(read(*array, everything(array->shape())));
  }
}

TEST(FixtureStores, MostAreReadable) {
  const auto all = load_fixtures();
  EXPECT_EQ(all.size(), 183);
  EXPECT_GE(std::count_if(all.begin(), all.end(), is_readable), 179);
}

}  // namespace
}  // namespace zarrcore::test::fixtures_test
