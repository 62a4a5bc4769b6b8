// A store maps keys to values (bytes). It is all that zarrcore asks of a file system, an object
// store or an archive; whoever has such a thing implements this interface and hands it to
// open_hierarchy. Keys are '/'-separated paths without a leading or trailing '/'; no segment is
// empty, "." or "..".
//
// All functions may be called from several threads at once. They throw Error when something went
// wrong, which includes a value that exists but cannot be read: only what is certainly absent is
// reported as absent, since an absent chunk reads as the fill value.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "zarrcore/base/buffer.h"
#include "zarrcore/base/directory_listing.h"
#include "zarrcore/base/error.h"
#include "zarrcore/store/value_version.h"

namespace zarrcore {

// Some consecutive bytes of a value.
struct ByteRange {
  // `length` bytes from `offset` on, counted from the start.
  static ByteRange at(std::uint64_t offset, std::uint64_t length) {
    return {offset, length, false, {}};
  }
  // The last `length` bytes.
  static ByteRange suffix(std::uint64_t length) { return {0, length, true, {}}; }

  // The size that is known of the value, of which any other is an error.
  ByteRange of_value(std::uint64_t size) const { return {offset, length, from_end, size}; }

  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  bool from_end = false;
  std::optional<std::uint64_t> value_size = {};
};

// How the names of files end that become values by being renamed; they are never listed.
inline constexpr std::string_view kTemporarySuffix = ".zarr-partial";

// A part of a value that is put: bytes, or a function that gets them when it is their turn, so that
// a large value need not be in memory as a whole. It is called at most once and may read from the
// store; when it throws, nothing is put.
struct ValuePart {
  ByteSpan bytes = {};
  std::function<Buffer()> fetch = {};
};

inline constexpr std::uint64_t kNoSizeLimit = UINT64_MAX;

// Another program has replaced a value between two reads that must be of the same state of it.
class ValueChanged : public Error {
 public:
  ValueChanged() : Error("another program replaced the value while it was read") {}
};

// One state of a value: whatever is read through it is of this state. It may be used from several
// threads at once. The functions are those of Store, for one key; they throw ValueChanged when the
// store no longer has this state.
class OpenValue {
 public:
  virtual ~OpenValue() = default;

  virtual std::optional<Buffer> get(std::uint64_t max_size) = 0;
  virtual std::optional<std::vector<Buffer>> get_ranges(std::span<const ByteRange> ranges) = 0;

  // Of the state; unknown as long as nothing has been read, and where the store cannot tell.
  virtual ValueVersion version() const = 0;
};

// Held until it goes.
class StoreLock {
 public:
  virtual ~StoreLock() = default;
};

class Store {
 public:
  virtual ~Store() = default;

  // The whole value, or nothing when the key is absent. A value of more than `max_size` bytes is
  // an error, found before memory is asked for.
  virtual std::optional<Buffer> get(std::string_view key,
                                    std::uint64_t max_size = kNoSizeLimit) = 0;

  // Several ranges of one value, one buffer for each, or nothing when the key is absent. A range
  // that is not wholly inside the value is an error.
  virtual std::optional<std::vector<Buffer>> get_ranges(std::string_view key,
                                                        std::span<const ByteRange> ranges) = 0;

  // The state of a value from now on, or from the first read on where that saves a request. What
  // the store cannot hold on to, or tell from another state, is read as it is. The store must live
  // as long.
  virtual std::shared_ptr<OpenValue> open(std::string_view key);

  // The version that a value has now; unknown where it would take a request to find out.
  virtual ValueVersion current_version(std::string_view /*key*/) { return {}; }

  // Whether it is known of every value.
  virtual bool knows_versions() const { return false; }

  // Drops what the store remembers of values, so that later reads see what others have put.
  virtual void refresh() {}

  // How many values may be open at once.
  virtual std::size_t max_open_values() const { return SIZE_MAX; }

  // Whether there is a value of this key.
  virtual bool has(std::string_view key) { return get_ranges(key, {}).has_value(); }

  // Makes `value` the value of `key`: wholly, or not at all when it throws.
  void put(std::string_view key, ByteSpan value) {
    const ValuePart whole{value};
    put_parts(key, {&whole, 1});
  }
  // The same with the parts of the value, one after the other.
  virtual void put_parts(std::string_view key, std::span<const ValuePart> parts) = 0;

  // put_parts(), unless the value has another version than `expected` by then: false, and nothing
  // is put. What `expected` cannot be told from is replaced; an unknown version expects nothing. In
  // a store with locks, the lock of the folder that the value is in is taken for the look and the
  // put, so that no other put_if() or erase_if() comes in between; the thread must not hold it.
  virtual bool put_if(std::string_view key, const ValueVersion& expected,
                      std::span<const ValuePart> parts);
  // The same for erase(), which succeeds when there is no value.
  virtual bool erase_if(std::string_view key, const ValueVersion& expected);

  // Removes what killed writers have left, as far as it is found quickly. Never throws.
  virtual void remove_leftovers() {}

  // Keeps others that ask for the same lock, in this process and in others, waiting: for who reads
  // values directly below `prefix` and puts what follows from them. A thread must not hold two.
  // Null where the store has no locks.
  virtual std::unique_ptr<StoreLock> lock(std::string_view /*prefix*/) { return nullptr; }

  // Removes a value; false when there was none.
  virtual bool erase(std::string_view key) = 0;

  // What stands directly below `prefix` ("" for the root), sorted by name. A prefix below which
  // nothing stands gives an empty listing.
  virtual DirectoryListing list(std::string_view prefix) = 0;

  // Removes all values below `prefix`, which is not empty.
  virtual void erase_prefix(std::string_view prefix);

  // Gives the values below `from` keys below `to` instead; below that nothing stands. Where it is
  // not one step, values are copied before they are removed.
  virtual void rename_prefix(std::string_view from, std::string_view to);

  // Why nothing can be put or erased; empty when it can be tried.
  virtual std::string read_only_reason() const { return {}; }

  // About as many bytes as can be had in the time that one more range takes: smaller gaps between
  // ranges are better fetched with them.
  virtual std::uint64_t bytes_per_range() const { return std::uint64_t{16} << 10; }

  // How many requests are best under way at once, beside what the threads of a reader make of them:
  // more than one where each waits long for its answer.
  virtual std::size_t parallel_requests() const { return 1; }

  // The store of the folder that this one is in, and the name that it has there. Nothing where that
  // cannot be told.
  struct Parent;
  virtual std::optional<Parent> parent() const;

  // How a person knows this store (a path, a URL), for messages.
  virtual std::string description() const = 0;
};

struct Store::Parent {
  std::shared_ptr<Store> store;
  std::string name;
};

}  // namespace zarrcore
