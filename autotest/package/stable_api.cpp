// A program that uses every part of the stable API: it must compile and link against an installed
// zarrcore, static or shared. Prints its version.
#include <zarrcore/zarrcore.h>

#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {

void check(bool condition, const char* what) {
  if (condition) return;
  std::cerr << what << '\n';
  std::exit(1);
}

// The three functions that reading needs, on top of another store.
class ReadOnly final : public zarrcore::Store {
 public:
  explicit ReadOnly(std::shared_ptr<Store> store) : store_(std::move(store)) {}
  std::optional<zarrcore::Buffer> get(std::string_view key, std::uint64_t max_size) override {
    return store_->get(key, max_size);
  }
  zarrcore::DirectoryListing list(std::string_view prefix,
                                  const zarrcore::ListOptions& options) override {
    return store_->list(prefix, options);
  }
  std::string description() const override { return "read-only"; }

 private:
  std::shared_ptr<Store> store_;
};

template <typename Function>
std::string message_of(const Function& function) {
  try {
    function();
  } catch (const zarrcore::Error& error) {
    return error.what();
  }
  return "no error";
}

void write(const std::shared_ptr<zarrcore::Store>& store) {
  const auto context = std::make_shared<zarrcore::Context>(std::uint64_t{1} << 20);
  const auto hierarchy =
      zarrcore::Hierarchy::create(store, zarrcore::v3_format(), zarrcore::GroupMetadata{});
  hierarchy->create_node("group", zarrcore::GroupMetadata{});
  auto array = zarrcore::create_array(*hierarchy, "group/numbers",
                                      {.shape = {4, 6},
                                       .data_type = zarrcore::data_type_of<std::int16_t>(),
                                       .chunk_shape = {2, 3},
                                       .shard_shape = {4, 6},
                                       .compression = {{"gzip", {{"level", 5}}}, {"crc32c"}},
                                       .fill_value = -1,
                                       .dimension_names = {"y", "x"},
                                       .attributes = {{"unit", "m"}}},
                                      context);
  std::vector<double> values(24);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i) + 0.4;
  zarrcore::ArrayWriter writer(array, {.stores_empty_chunks = true});
  zarrcore::write_values<double>(writer, {{0, 0}, {4, 6}}, values);
  writer.flush({.threads = 2});
  array = zarrcore::resize_array(*hierarchy, "group/numbers", {5, 2}, context);
  const auto read = zarrcore::read_values<float>(*array, {{3, 0}, {2, 2}});
  check(read == std::vector<float>{18, 19, -1, -1}, "wrong numbers after resizing");
  check(message_of([&] {
          zarrcore::resize_array(*hierarchy, "group/numbers", {5}, context);
        }).find("2 dimensions") != std::string::npos,
        "a shape of another rank");

  auto texts = zarrcore::create_array(
      *hierarchy, "texts", {.shape = {2}, .data_type = zarrcore::data_type_of<std::string>()},
      context);
  zarrcore::ArrayWriter text_writer(texts);
  const std::vector<std::string> words{"Zürich", ""};
  zarrcore::write_values<std::string>(text_writer, {{0}, {2}}, words);
  text_writer.flush();
  check(zarrcore::read_values<std::string>(*texts, {{0}, {2}}) == words, "wrong texts");
  check(message_of([&] {
          zarrcore::read_values<float>(*texts, {{0}, {2}});
        }).find("are not numbers") != std::string::npos,
        "texts are not numbers");

  hierarchy->update_node("group", [](zarrcore::NodeMetadata& node) {
    std::get<zarrcore::GroupMetadata>(node).attributes["title"] = "a group";
  });
  hierarchy->rename_node("group", "renamed");
  hierarchy->erase_node("texts");
  hierarchy->flush();
}

void read(const std::shared_ptr<zarrcore::Store>& store) {
  const zarrcore::Hierarchy hierarchy(
      std::make_shared<ReadOnly>(std::make_shared<zarrcore::ForwardingStore>(store)));
  std::string names;
  for (const zarrcore::Child& child : hierarchy.children("")) names += child.name + ' ';
  check(names == "renamed ", "wrong names");
  const auto array = hierarchy.open_array("renamed/numbers", std::make_shared<zarrcore::Context>());
  check(zarrcore::type_name(array->data_type()) == "int16", "wrong type");
  check(zarrcore::dump_json(array->metadata().attributes) == R"({"unit":"m"})", "attributes");

  // A transposed part in another type, with the functions below read_values().
  const zarrcore::DataType type = zarrcore::data_type_of<std::int64_t>();
  const auto converter = zarrcore::make_numeric_converter(array->data_type(), type);
  std::vector<std::int64_t> columns(4);
  array->read({{0, 0}, {2, 2}, {2, 1}},
              {reinterpret_cast<std::byte*>(columns.data()), {8, 16}, converter.get()});
  check(columns == std::vector<std::int64_t>{0, 12, 1, 13}, "wrong columns");

  zarrcore::ArrayWriter writer(array);
  check(message_of([&] {
          zarrcore::write_values<float>(writer, {{0, 0}, {1, 1}}, std::vector<float>{1});
          writer.flush();
        }).find("read-only") != std::string::npos,
        "a store that cannot be written");
}

}  // namespace

int main(int argc, char** argv) {
  const auto memory = std::make_shared<zarrcore::MemoryStore>();
  write(memory);
  read(memory);
  check(argc == 2, "usage: stable_api NEW_STORE");
  const auto files = std::make_shared<zarrcore::FileSystemStore>(argv[1]);
  write(files);
  read(files);
  check(zarrcore::formats().size() >= 3, "formats");
  check(zarrcore::parse_json("[1, 2]").size() == 2, "JSON");
  std::cout << "zarrcore " << zarrcore::version() << '\n';
}
