// A byte that chooses a chain of codecs, and the bytes of a chunk: they decode to the same elements
// in every way, or to an error; what they decode to can be encoded, and written in part.
#include "autotest/cpp/support/layout.h"
#include "autotest/cpp/support/stored_array.h"
#include "autotest/fuzz/array_checks.h"
#include "autotest/fuzz/chains.h"
#include "autotest/fuzz/input.h"
#include "zarrcore/array/array_writer.h"
#include "zarrcore/base/buffer.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::fuzz {
namespace {

const ChainArray& chain_array(std::size_t number) {
  static const std::vector<std::unique_ptr<const ChainArray>> arrays = [] {
    std::vector<std::unique_ptr<const ChainArray>> all;
    for (const TestChain& chain : test_chains()) all.push_back(std::make_unique<ChainArray>(chain));
    return all;
  }();
  return *arrays[number % arrays.size()];
}

// The elements of a decoded chunk, in the order of the array.
Elements elements_of(const CodecChain& chain, ByteSpan decoded) {
  const ChunkSpec& stored = chain.stored_spec();
  const std::size_t item_size = stored.data_type.item_size;
  const Strides strides = c_strides(chain.spec().shape, 1);
  Elements elements(test::element_count(stored.shape));
  const std::byte* source = decoded.data();
  test::for_each_index(stored.shape, [&](const Shape& index) {
    Shape position(index.size());
    for (std::size_t i = 0; i < index.size(); ++i) position[chain.axis_order()[i]] = index[i];
    std::string& element = elements[static_cast<std::size_t>(test::offset_of(position, strides))];
    if (stored.data_type.is_variable()) {
      VariableElement variable;
      std::memcpy(&variable, source, sizeof(variable));
      element = variable.text();
    } else {
      element.assign(reinterpret_cast<const char*>(source), item_size);
    }
    source += item_size;
  });
  return elements;
}

// The decoded chunk; empty when `encoded` is an error.
std::optional<DecodedChunk> decode(const CodecChain& chain, ByteSpan encoded) {
  std::optional<DecodedChunk> decoded;
  succeeds([&] { decoded = chain.decode(encoded); });
  return decoded;
}

void check_encoding(const CodecChain& chain, ByteSpan decoded) {
  std::optional<Buffer> encoded;
  if (!succeeds([&] { encoded = chain.encode(decoded); })) return;
  const auto again = decode(chain, encoded->span());
  check(again.has_value(), "what is encoded can be decoded");
  check(elements_of(chain, again->elements.span()) == elements_of(chain, decoded),
        "what is encoded decodes to the same");
}

// Writes an element that the chunk has already.
void check_writing(std::shared_ptr<const Array> array, const Elements& whole) {
  const std::uint64_t columns = array->shape()[1];
  const std::string& element = whole[8];
  const VariableElement variable{element.data(), element.size()};
  const auto* bytes = array->data_type().is_variable()
                          ? reinterpret_cast<const std::byte*>(&variable)
                          : reinterpret_cast<const std::byte*>(element.data());
  const Selection place{{8 / columns, 8 % columns}, {1, 1}, {}};
  ArrayWriter writer(std::move(array));
  succeeds([&] {
    writer.write(place, {bytes, {0, 0}, nullptr});
    writer.flush();
  });
}

void test_chunk(const ChainArray& test, ByteSpan encoded) {
  const auto store = std::make_shared<MemoryStore>();
  test::put_document(*store, "", test.document());
  store->put(kChunkKey, encoded);
  const auto array = test::open_array(store);
  const Shape& chunk = test.chain().spec().shape;
  const auto whole = read_elements(*array, test::everything(chunk));
  const auto decoded = decode(test.chain(), encoded);
  check(whole.has_value() == decoded.has_value(), "a chunk that can be decoded can be read");
  if (!whole) {
    // Parts of it may still be right.
    test::Random random(1);
    read_elements(*array, test::random_selection(random, chunk));
    return;
  }
  check(*whole == elements_of(test.chain(), decoded->elements.span()),
        "a chunk has the elements that it decodes to");
  check_parts(*array, chunk, *whole);
  const auto without_cache =
      test::open_array(store, "", std::make_shared<Context>(std::uint64_t{0}, std::uint64_t{0}));
  check_parts(*without_cache, chunk, *whole);
  if (!test.keeps_values()) return;
  if (test.chain().round_trips()) check_encoding(test.chain(), decoded->elements.span());
  check_writing(array, *whole);
  const auto after = read_elements(*test::open_array(store), test::everything(chunk));
  check(after == whole, "what is written leaves the others");
}

}  // namespace
}  // namespace zarrcore::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  zarrcore::fuzz::Input input(data, size);
  const auto& array = zarrcore::fuzz::chain_array(input.byte());
  zarrcore::fuzz::test_chunk(array, input.bytes());
  return 0;
}
