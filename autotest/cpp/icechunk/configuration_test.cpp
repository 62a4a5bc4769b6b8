// The configuration that Icechunk 2.2.2 has written, in both of its formats.
#include "zarrcore/icechunk/configuration.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "autotest/cpp/support/expect_error.h"
#include "zarrcore/base/text.h"
#include "zarrcore/icechunk/flexbuffers.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::test::icechunk_configuration {
namespace {

using icechunk::Configuration;
using Sizes = std::vector<std::uint64_t>;

constexpr std::string_view kYaml = R"(inline_chunk_threshold_bytes: 100
compression: null
storage:
  concurrency:
    ideal_concurrent_request_size: 4096
  unsafe_use_conditional_update: false
virtual_chunk_containers: null
manifest:
  preload: null
  splitting:
    split_sizes:
    - - !and
        - !path_matches
          regex: ^/a.*
        - !or
          - !name_matches
            regex: b
          - any_array
      - - condition: !DimensionName y
          num_chunks: 2
        - condition: !Axis 1
          num_chunks: 3
    - - any_array
      - - condition: Any
          num_chunks: 1000
previous_file: null
)";

constexpr std::string_view kFlexBuffer =
    "aW5saW5lX2NodW5rX3RocmVzaG9sZF9ieXRlcwBnZXRfcGFydGlhbF92YWx1ZXNfY29uY3VycmVuY3kAY29tcHJl"
    "c3Npb24AbWF4X2NvbmN1cnJlbnRfcmVxdWVzdHMAbWF4X2NvbmN1cnJlbnRfZGVjb2RlcwBjYWNoaW5nAHN0b3Jh"
    "Z2UAY29uY3VycmVuY3kAbWF4X2NvbmN1cnJlbnRfcmVxdWVzdHNfZm9yX29iamVjdABpZGVhbF9jb25jdXJyZW50"
    "X3JlcXVlc3Rfc2l6ZQACH0MAAwABAAIAABAFAAkJcmV0cmllcwBtYXhfdHJpZXMAaW5pdGlhbF9iYWNrb2ZmX21z"
    "AG1heF9iYWNrb2ZmX21zAAMjES8DAQMAAAEICAh0aW1lb3V0cwB1bnNhZmVfdXNlX2NvbmRpdGlvbmFsX3VwZGF0"
    "ZQB1bnNhZmVfdXNlX2NvbmRpdGlvbmFsX2NyZWF0ZQB1bnNhZmVfdXNlX21ldGFkYXRhAHN0b3JhZ2VfY2xhc3MA"
    "bWV0YWRhdGFfc3RvcmFnZV9jbGFzcwBjaHVua3Nfc3RvcmFnZV9jbGFzcwBtaW5pbXVtX3NpemVfZm9yX211bHRp"
    "cGFydF91cGxvYWQACgA5AFcBVAAqAAABaADDAJ4AvgCEABQAAgAKAAAAGgEAAAAA3wAAAAAAAAAAAAAAASUBASQB"
    "AQFpaXZpcnR1YWxfY2h1bmtfY29udGFpbmVycwBtYW5pZmVzdABwcmVsb2FkAHNwbGl0dGluZwBzcGxpdF9zaXpl"
    "cwBhbmQAcGF0aF9tYXRjaGVzAHJlZ2V4AAVeL2EuKgABDgEBAQsUASIBAQEHJG9yAG5hbWVfbWF0Y2hlcwABYgAB"
    "LwEBAQcUARgBAQEHJAlhbnlfYXJyYXkAAg4MJBQBMgEBAQkoAjsEJCQBagEBAQkoY29uZGl0aW9uAERpbWVuc2lv"
    "bk5hbWUAAXkAARIBAQEHFG51bV9jaHVua3MAAi4NAgECEwIkCEF4aXMAAQYBAQEBCAJEIwIBAggDJAgCGwYkJAJV"
    "BiQoCWFueV9hcnJheQADQW55AAJoRwIAAQACAA0A6AMUCQEHJQIiBBQoAiwGKCgAAQACAQICAQwodmlydHVhbF9j"
    "aHVua19sb2NhdGlvbl9jb21wcmVzc2lvbgBtYXhfY29uY3VycmVudF9tYW5pZmVzdF9mZXRjaGVzX2R1cmluZ19j"
    "b21taXQABAAwAHABagFZAAgCBAAAYgAAACQAcHJldmlvdXNfZmlsZQByZXBvX3VwZGF0ZV9yZXRyaWVzAG51bV91"
    "cGRhdGVzX3Blcl9yZXBvX2luZm9fZmlsZQAMAIMDwAPhAwAE1QGkA74DLwBTAEcAjwP8ARgAAgAMAAAAAAAAAGQA"
    "cQAAAAAAAAAAAAAANgIAAAEBAQkkAQEBAQElASQlAQ==";

void expect_both(const Configuration& configuration) {
  EXPECT_EQ(configuration.inline_threshold(), 100);
  EXPECT_EQ(configuration.split_sizes("a/b", {"y", {}, "y"}, 3), (Sizes{2, 3, 2}));
  EXPECT_EQ(configuration.split_sizes("a", {}, 3), (Sizes{UINT64_MAX, 3, UINT64_MAX}));
  EXPECT_EQ(configuration.split_sizes("b/a", {"y"}, 2), (Sizes{1000, 1000}));
}

TEST(IcechunkConfiguration, IsReadFromYaml) {
  expect_both(Configuration(icechunk::parse_yaml(kYaml)));
}

TEST(IcechunkConfiguration, IsReadFromFlexBuffers) {
  const auto bytes = decode_base64(kFlexBuffer);
  ASSERT_TRUE(bytes);
  expect_both(Configuration(icechunk::read_flex_buffer(*bytes)));
}

TEST(IcechunkConfiguration, IsWrittenAsFlexBuffers) {
  const auto bytes = decode_base64(kFlexBuffer);
  ASSERT_TRUE(bytes);
  const auto copy_of = [](const Json& json) {
    const std::string written = icechunk::write_flex_buffer(json);
    return icechunk::read_flex_buffer(std::as_bytes(std::span(written)));
  };
  const Json configuration = icechunk::read_flex_buffer(*bytes);
  EXPECT_EQ(dump_json(copy_of(configuration)), dump_json(configuration));
  for (const char* text :
       {"null", "true", "-7", "18446744073709551615", "0.1", "\"\"", "[]", "{}",
        R"({"a":[1,[false,{"b":"c","d":null}],-9223372036854775808],"b":"text","c":{"":1.5}})"}) {
    EXPECT_EQ(dump_json(copy_of(parse_json(text))), text);
  }
}

TEST(IcechunkConfiguration, HasDefaults) {
  const Configuration configuration(icechunk::parse_yaml("manifest: null"));
  EXPECT_EQ(configuration.inline_threshold(), 512);
  EXPECT_EQ(configuration.split_sizes("a", {}, 1), Sizes{UINT64_MAX});
}

// An error or another value, but no crash and no endless work.
TEST(IcechunkConfiguration, DamagedFlexBuffersAreErrorsOrOthers) {
  auto bytes = decode_base64(kFlexBuffer).value();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (const std::byte flip : {std::byte{1}, std::byte{0x80}, std::byte{0xff}}) {
      bytes[i] ^= flip;
      try {
        const Configuration configuration(icechunk::read_flex_buffer(bytes));
        configuration.split_sizes("a", {}, 2);
      } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()), "");
      } catch (const Json::exception& error) {
        ADD_FAILURE() << error.what();
      }
      bytes[i] ^= flip;
    }
  }
}

// Repeated repetitions, which a search that goes back takes 2^n steps for.
TEST(IcechunkConfiguration, ExpressionsTakeBoundedTime) {
  const auto has_split = [](const std::string& expression) {
    const Configuration configuration(
        parse_json(R"({"manifest":{"splitting":{"split_sizes":[[{"name_matches":{"regex":")" +
                   expression + R"("}},[{"condition":"Any","num_chunks":3}]]]}}})"));
    return configuration.split_sizes(std::string(400, 'a'), {}, 1).at(0) == 3;
  };
  EXPECT_FALSE(has_split("^(a*)*b"));
  EXPECT_TRUE(has_split("^(a|aa)+$"));
  EXPECT_FALSE(has_split("(?:a?){700}z"));
  EXPECT_TRUE(has_split("a{3,5}$"));
  EXPECT_FALSE(has_split("^b|b$"));
  EXPECT_FALSE(has_split("^S2[AB]_[0-9]{8}T[0-9]{6}_N[0-9]{4}_R[0-9]{3}_T[0-9A-Z]{5}$"));
  EXPECT_TRUE(has_split("[0-9a-f]{8}[0-9a-f]{4}[0-9a-f]{4}[0-9a-f]{4}[0-9a-f]{12}"));
  EXPECT_ERROR(has_split(std::string(100000, '(')), "not supported");
  for (const char* expression : {"(?:a?){9000}z", "(?:(?:(?:a?){30}){30}){30}z", "(?:a?){1,9000}z",
                                 "(?:a?){99999999999999999999}z", "(?=a*(?=a*))"}) {
    EXPECT_ERROR(has_split(expression), "not supported");
  }
}

TEST(IcechunkConfiguration, ContainersAreAddedUnlessOthersContainThem) {
  MemoryStore files;
  const auto added = [&](const std::string& yaml, const std::string& prefix) {
    files.put("config.yaml", std::as_bytes(std::span(yaml)));
    icechunk::add_containers(files, 1, {prefix});
    const auto stored = files.get("config.yaml", kNoSizeLimit);
    const std::string text(stored->text());
    EXPECT_EQ(icechunk::parse_yaml(text)["virtual_chunk_containers"].size(), 1) << text;
    return text != yaml;
  };
  EXPECT_TRUE(added("manifest: null\n", "s3://b/"));
  EXPECT_FALSE(added("virtual_chunk_containers:\n  s3://b/:\n    name: null\n", "s3://b/c/"));
  EXPECT_TRUE(added("", "file:///C:/"));
  EXPECT_NE(files.get("config.yaml", kNoSizeLimit)->text().find(" \"/C:\"\n"), std::string::npos);
  EXPECT_ERROR(added("virtual_chunk_containers: {c1: {name: null}}\n", "s3://b/"),
               "YAML that Icechunk does not write");
}

TEST(IcechunkConfiguration, UnknownConditionsAreErrors) {
  const auto sizes_of = [](const std::string& condition) {
    return Configuration(parse_json(R"({"manifest":{"splitting":{"split_sizes":[[)" + condition +
                                    R"(,[{"condition":"Any","num_chunks":0}]]]}}})"))
        .split_sizes("a", {}, 1);
  };
  EXPECT_ERROR(sizes_of(R"("half_of_them")"), "half_of_them");
  EXPECT_ERROR(sizes_of(R"({"name_matches":{"regex":"("}})"), "not supported");
  EXPECT_ERROR(sizes_of(R"("any_array")"), "0 chunks");
}

}  // namespace
}  // namespace zarrcore::test::icechunk_configuration
