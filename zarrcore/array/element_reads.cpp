// Reading the selected elements of a chunk without the rest, where elements stand alone
// (CodecChain::elements_stand_alone).

#include "zarrcore/array/chunk_reader.h"
#include "zarrcore/codec/configuration.h"

namespace zarrcore {

// The ranges of a chunk that contain the selected elements, if its elements stand alone. Nullopt
// when fetching the whole chunk is better.
std::optional<std::vector<ByteRange>> ChunkReader::ranges_of_elements(
    const StoredPart& part) const {
  const CodecChain& chain = *part.chain;
  if (part.bytes || !chain.elements_stand_alone() || is_whole(part.axes) ||
      part.destination == nullptr) {
    return std::nullopt;
  }
  const std::uint64_t size = chain.decoded_size();
  const std::uint64_t bytes_per_range = store_.traits().bytes_per_range;
  std::vector<ByteRange> ranges;
  std::uint64_t bytes = 0;
  for_each_run(part.axes, chain.stored_spec().shape, decoder_.item_size(), bytes_per_range,
               [&](std::uint64_t offset, std::uint64_t length) {
                 if (bytes > size) return;
                 const std::uint64_t reach =
                     ranges.empty() ? 0 : ranges.back().offset + ranges.back().length;
                 if (ranges.empty() || offset - reach > bytes_per_range) {
                   ranges.push_back(ByteRange::at(offset, length).of_value(size));
                   bytes += length;
                 } else {
                   ranges.back().length += offset + length - reach;
                   bytes += offset + length - reach;
                 }
               });
  // Reads of a chunk in parts, those before this one and those that are expected, must not cost
  // more than fetching the chunk once, which is then cached.
  const std::uint64_t cost = ranges.size() * bytes_per_range;
  if (bytes > size || cost + bytes > size / decoder_.requests_per_chunk()) return std::nullopt;
  const bool is_worth_it = decoder_.cache().spend_on_parts(decoder_.cached(), part.key,
                                                           part.place(), cost, size - bytes);
  if (!is_worth_it) return std::nullopt;
  return ranges;
}

// Fetches the ranges at once, also where a store would request them one after the other.
std::optional<std::vector<Buffer>> ChunkReader::fetch_ranges(const StoredPart& part,
                                                             std::span<const ByteRange> ranges) {
  if (ranges.size() < 2 || !store_.traits().ranges_are_requests) {
    return part.value ? ShardReader::fetch_ranges(part, ranges)
                      : store_.get_ranges(*part.key, ranges);
  }
  const auto value = part.value ? part.value : store_.open(*part.key);
  std::vector<std::optional<std::vector<Buffer>>> fetched(ranges.size());
  parallel_for(ranges.size(), [&](std::size_t i) {
    fetched[i] = part.value ? ShardReader::fetch_ranges(part, ranges.subspan(i, 1))
                            : value->get_ranges(ranges.subspan(i, 1));
  });
  std::vector<Buffer> parts;
  for (auto& one : fetched) {
    if (one) parts.push_back(std::move(one->front()));
  }
  if (parts.empty()) return std::nullopt;
  if (parts.size() < ranges.size()) throw ValueChanged();
  return parts;
}

// Reads the selected elements of a chunk without the rest; false when that is impossible or not
// worth it.
bool ChunkReader::read_elements(const StoredPart& part) {
  const auto ranges = ranges_of_elements(part);
  if (!ranges) return false;
  const CodecChain& chain = *part.chain;
  std::vector<ByteRange> in_value = *ranges;
  if (!part.is_whole_value()) {
    check_size("the chunk has ", part.length, chain.decoded_size());
    for (ByteRange& range : in_value) {
      range = ByteRange::at(part.offset + range.offset, range.length);
    }
  }
  auto parts = [&] {
    const MeasuredStage fetching = measure(&ReadStatistics::fetch_nanoseconds);
    return fetch_ranges(part, in_value);
  }();
  if (!parts && !part.is_whole_value()) throw shard_removed();
  if (!parts) {
    fill_missing(part, [] { return std::string("it"); });
    return true;
  }
  count_chunks(options_.statistics, &ReadStatistics::fetched_chunks);
  const MeasuredStage decoding = measure(&ReadStatistics::decode_nanoseconds);
  decoder_.place_elements(part, *ranges, *parts);
  count_chunks(options_.statistics, &ReadStatistics::decoded_chunks);
  return true;
}

}  // namespace zarrcore
