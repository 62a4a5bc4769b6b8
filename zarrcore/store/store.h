// A store maps keys to values (bytes). It is all that zarrcore needs of a file system, an object
// store or an archive: implement this interface and pass it to Hierarchy. Keys are '/'-separated
// paths without a leading or trailing '/'; no segment is empty, "." or "..".
//
// get(), list() and description() are enough for reading; add get_ranges() if parts of values can
// be read, put_parts() and erase() for writing. The other functions have implementations that are
// correct for every store. What distinguishes one request from another of the same kind is in its
// options, and what distinguishes stores is in traits(): both can grow without new functions.
//
// All functions may be called from several threads at once. They throw Error on failure, also when
// a value exists but cannot be read: a value is only reported as absent if it certainly is, because
// an absent chunk reads as the fill value. AccessFailure is for values that the store cannot reach
// now; other errors are faults of what it holds.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "zarrcore/base/api.h"
#include "zarrcore/base/buffer.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/store/requests.h"

namespace zarrcore {

// Some consecutive bytes of a value.
struct ByteRange {
  // `length` bytes from `offset` on, counted from the start.
  static ByteRange at(std::uint64_t offset, std::uint64_t length) {
    return {offset, length, false, {}};
  }
  // The last `length` bytes.
  static ByteRange suffix(std::uint64_t length) { return {0, length, true, {}}; }

  // The same range of a value that must have `size` bytes: another size is an error.
  ByteRange of_value(std::uint64_t size) const { return {offset, length, from_end, size}; }

  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  bool from_end = false;
  std::optional<std::uint64_t> value_size = {};
};

// Size checks that every store makes before it allocates memory: throws Error when a value of
// `size` bytes is larger than the caller allows.
ZARRCORE_API void check_value_size(std::uint64_t size, std::uint64_t max_size);
// The offset of `range` in a value of `size` bytes. Throws Error when the range is outside, or
// expects another size.
ZARRCORE_API std::uint64_t resolve_range(const ByteRange& range, std::uint64_t size);

// The suffix of files that become values when they are renamed. They are never listed.
inline constexpr std::string_view kTemporarySuffix = ".zarr-partial";

// Consecutive bytes of a value to put: the bytes, or a function that is called for them when they
// are written, so that a large value need not be in memory as a whole. The function is called at
// most once and may read from the store; when it throws, nothing is put.
struct ValuePart {
  ByteSpan bytes = {};
  std::function<Buffer()> fetch = {};
};

// Ranges of a value in memory. Throws Error as resolve_range() does.
ZARRCORE_API std::vector<Buffer> copy_ranges(ByteSpan value, std::span<const ByteRange> ranges);

// The value that the parts make. Throws what a part throws.
ZARRCORE_API Buffer join_parts(std::span<const ValuePart> parts);

inline constexpr std::uint64_t kNoSizeLimit = UINT64_MAX;

// Distinguishes versions of a value: by inode, size and time of a file, or by the ETag of an HTTP
// response.
class ValueVersion {
 public:
  using Identity = std::array<std::uint64_t, 4>;

  // Unknown: no version differs from it.
  constexpr ValueVersion() = default;
  // `is_settled`: whether every later version will differ from this one. A file that was written
  // just now could be replaced by one with the same time.
  constexpr explicit ValueVersion(Identity identity, bool is_settled = true)
      : state_(State::known), is_settled_(is_settled), identity_(identity) {}
  // The version of a value that does not exist.
  static constexpr ValueVersion absent() {
    ValueVersion version;
    version.state_ = State::absent;
    return version;
  }

  bool is_unknown() const { return state_ == State::unknown; }
  bool is_absent() const { return state_ == State::absent; }
  // Zeros unless it is known.
  const Identity& identity() const { return identity_; }

  // Returns true if the two are certainly different.
  bool differs_from(const ValueVersion& other) const {
    if (state_ == State::unknown || other.state_ == State::unknown) return false;
    return state_ != other.state_ || identity_ != other.identity_;
  }

  // Returns true if data cached from this version may be used when the value has version `current`.
  bool is_valid_for(const ValueVersion& current) const {
    return is_settled_ && !differs_from(current);
  }

 private:
  enum class State : std::uint8_t { unknown, known, absent };

  State state_ = State::unknown;
  bool is_settled_ = true;
  Identity identity_{};
};

// Another program has replaced a value between two reads that must be of the same version.
class ZARRCORE_API ValueChanged : public AccessFailure {
 public:
  explicit ValueChanged(
      std::string message = "another program replaced the value while it was read")
      : AccessFailure(std::move(message)) {}
};

// The store does not give a value to this program: it may exist or not. Some stores answer so for
// values that are absent, to programs that may not list them.
class ZARRCORE_API AccessDenied : public AccessFailure {
 public:
  using AccessFailure::AccessFailure;
};

// The store gave something else, such as the page by which a portal asks to log in.
class ZARRCORE_API NotAValue : public AccessDenied {
 public:
  using AccessDenied::AccessDenied;
};

// One version of a value: all reads through it are of this version. It may be used from several
// threads at once. The functions correspond to Store's, for one key; they throw ValueChanged when
// the store no longer has this version.
class ZARRCORE_API OpenValue {
 public:
  virtual ~OpenValue() = default;

  // See Store::get() and Store::get_ranges().
  virtual std::optional<Buffer> get(std::uint64_t max_size) = 0;
  virtual std::optional<std::vector<Buffer>> get_ranges(std::span<const ByteRange> ranges) = 0;

  // Unknown before the first read, and if the store does not know versions.
  virtual ValueVersion version() const = 0;

  // No more reads follow: the program is about to replace the value. On Windows, some file systems
  // cannot replace files that are open.
  virtual void release() {}
};

// A lock, held until this object is destroyed.
class ZARRCORE_API StoreLock {
 public:
  virtual ~StoreLock() = default;
};

// Tells of changes of values, for programs that use cached ones again and again: without asking for
// the version of each. May be used from several threads at once.
class ZARRCORE_API ValueWatch {
 public:
  virtual ~ValueWatch() = default;

  // The present moment. Later ones have larger numbers.
  virtual std::uint64_t moment() = 0;
  // A number that is different after the value at `key` has changed; zero if it is not watched. It
  // was so at `moment` or later. Values have the same one until any of them changes.
  virtual std::uint64_t stamp(std::string_view key, std::uint64_t moment) = 0;
  // Returns true if stamps show changes of the value that exists at `key`.
  virtual bool is_stamped(std::string_view key) = 0;
};

// The listings that a store has made. They save requests for metadata documents: a document that a
// listing does not contain is missing. For programs that change the store. May be used from several
// threads at once.
class ZARRCORE_API KnownListings {
 public:
  virtual ~KnownListings() = default;

  // From now on, listings are used until Store::refresh().
  virtual void use_listings() = 0;
  // Returns true if listings show that no node has documents at or below the path.
  virtual bool is_known_absent(std::string_view path) const = 0;
};

// Facts about a store, by which requests are planned.
struct StoreTraits {
  // True if values are files in the folder that description() names.
  bool is_folder = false;
  // True if the versions of all values are known.
  bool knows_versions = false;
  // True if comparing a value's version with the expected one and putting are one operation, in
  // which no put of another program is lost; see PutOptions::must_check.
  bool puts_conditionally = false;
  // How many values may be open at once.
  std::size_t max_open_values = SIZE_MAX;
  // How many requests to make in parallel, regardless of the number of threads: more than one if
  // the latency of requests is high.
  std::size_t parallel_requests = 1;
  // Roughly how many bytes can be read in the time that another range takes. Smaller gaps between
  // ranges are fetched with them.
  std::uint64_t bytes_per_range = std::uint64_t{16} << 10;
  // True if each range of a value needs its own request, and get_ranges() sends them one after the
  // other.
  bool ranges_are_requests = false;
  // True if visit_values() takes fewer requests than listing the prefixes one by one.
  bool lists_all_at_once = false;
  // Why values cannot be put or erased; empty if they may be. A text of the store.
  std::string_view read_only_reason = {};
  // The counters of the store's requests; null if it does not count.
  const RequestStatistics* request_statistics = nullptr;
  // Null if the store does not watch its values. It exists as long as the store.
  ValueWatch* watch = nullptr;
  // Null if listings of the store do not count. They exist as long as the store.
  KnownListings* listings = nullptr;
};

struct VisitOptions {
  // Visits the temporary files of writers as well, where they are files of the store: their keys
  // end with kTemporarySuffix.
  bool with_temporary_files = false;
  // Returns true for values whose size the caller needs, if each takes a request; empty for all.
  std::function<bool(std::string_view key)> wants_size = {};
};

struct ListOptions {
  // How many names the caller needs. A listing may end after them.
  std::size_t max_names = SIZE_MAX;
};

// From when on a put is durable: of many, waiting for flush() takes less time.
enum class Durability : std::uint8_t { none, after_flush, at_once };

struct PutOptions {
  // The version of the value that is replaced or erased, and no other. A version that cannot be
  // distinguished from it is replaced, so stores that know no versions ignore it; an unknown
  // version can be distinguished from none. A store with locks takes the lock of the value's folder
  // for the check and the change, so that no other change with an expected version happens in
  // between; the thread must not hold it already, unless `has_lock` says so.
  std::optional<ValueVersion> expected = {};
  bool has_lock = false;
  // True if the change follows from an earlier read of the value, and the caller has locked no
  // other writers out. A store that cannot tell what others have put since then warns.
  bool depends_on_read = false;
  // True if put() must throw Error, and put nothing, when the expected version cannot be checked
  // together with the put. Otherwise a store that cannot do better checks it before.
  bool must_check = false;
  // True if no value has had this key, and nobody reads the value before put() has returned: a
  // store need not make it appear as a whole.
  bool is_new_key = false;
  // When the put would survive a loss of power, if the store can know.
  Durability durability = Durability::none;
};
using EraseOptions = PutOptions;

struct RenameOptions {
  // Values exist below both prefixes, and are exchanged in a single operation.
  bool exchanges = false;
};

class ZARRCORE_API Store {
 public:
  virtual ~Store() = default;

  // The path or URL of this store, for messages.
  virtual std::string description() const = 0;
  // May change while the store is used.
  virtual StoreTraits traits() const { return {}; }

  // --- reading ---

  // The whole value; nullopt when the key is absent. A value of more than `max_size` bytes is an
  // error, which is found before memory is allocated.
  virtual std::optional<Buffer> get(std::string_view key,
                                    std::uint64_t max_size = kNoSizeLimit) = 0;

  // Several ranges of one value, with a buffer for each; nullopt when the key is absent. A range
  // that is not completely inside the value is an error. Without ranges, the result only shows
  // whether the key exists. By default, the whole value is read.
  virtual std::optional<std::vector<Buffer>> get_ranges(std::string_view key,
                                                        std::span<const ByteRange> ranges);

  // The version that a value has now, or at the first read if that saves a request. If the store
  // cannot preserve or distinguish versions, reads return the present value. The store must outlive
  // the returned object.
  virtual std::shared_ptr<OpenValue> open(std::string_view key);

  // Says that these values will be read, at once by several threads: while the result lives, a
  // store whose values are parts of larger ones may read neighbours together. May be null.
  virtual std::shared_ptr<void> expect(std::span<const std::string_view> /*keys*/) {
    return nullptr;
  }

  // Returns true if a value with this key exists.
  bool has(std::string_view key) { return get_ranges(key, {}).has_value(); }

  // --- current versions ---

  // The version that a value has now; unknown if finding out would take a request.
  virtual ValueVersion current_version(std::string_view /*key*/) { return {}; }

  // Throws Error if the folder at `prefix` is another one than where the document of a node was
  // read, or, without such a document, than at the first call: its values are of another node. Does
  // nothing if finding out takes a request.
  virtual void check_node(std::string_view /*prefix*/) {}

  // Drops all cached values, or the one at `key`, which may be absent: later reads see the puts of
  // other programs.
  virtual void refresh(std::optional<std::string_view> /*key*/ = {}) {}

  // --- listing ---

  // The names directly below `prefix` ("" for the root), sorted. Empty when no key has this prefix.
  virtual DirectoryListing list(std::string_view prefix, const ListOptions& options = {}) = 0;
  // All keys below `prefix` ("" for the root), sorted.
  std::vector<std::string> list_all(std::string_view prefix);
  // Calls `visit` for all values below `prefix`, in any order: with their sizes in bytes, as far as
  // listing shows them. By default without sizes.
  using VisitValue = std::function<void(std::string_view key, std::optional<std::uint64_t> size)>;
  virtual void visit_values(std::string_view prefix, const VisitValue& visit,
                            const VisitOptions& options = {});
  // Returns true if a key has this prefix.
  bool has_prefix(std::string_view prefix) { return !list(prefix, {.max_names = 1}).is_empty(); }
  // See KnownListings.
  void use_listings() const {
    if (KnownListings* const listings = traits().listings) listings->use_listings();
  }
  bool is_known_absent(std::string_view path) const {
    const KnownListings* const listings = traits().listings;
    return listings != nullptr && listings->is_known_absent(path);
  }

  // --- writing ---

  // Makes the concatenated parts (see join_parts()) the value of `key`: completely, or not at all
  // when it throws. Returns false, and puts nothing, if the value then has another version than the
  // options expect. By default an error.
  virtual bool put_parts(std::string_view key, std::span<const ValuePart> parts,
                         const PutOptions& options = {});
  void put(std::string_view key, ByteSpan value) {
    const ValuePart whole{value};
    put_parts(key, {&whole, 1});
  }

  // Removes a value, which may be absent. Returns false, and removes nothing, if the value then has
  // another version than the options expect. By default an error.
  virtual bool erase(std::string_view key, const EraseOptions& options = {});
  // Removes several values, in as few requests as possible. Tries all of them; then throws Error,
  // which names those that could not be removed.
  virtual void erase_all(std::span<const std::string> keys);

  // Removes all values below `prefix`, which is not empty: `first`, which may be elsewhere, before
  // the others.
  virtual void erase_prefix(std::string_view prefix, std::span<const std::string> first = {});

  // Moves the values below `from` to keys below `to`, where no values exist. If this is not a
  // single operation, no value is removed before all are copied; if copying fails, the copies are
  // removed. Returns false, and does nothing, if the store cannot do what the options say.
  virtual bool rename_prefix(std::string_view from, std::string_view to,
                             const RenameOptions& options = {});

  // Acquires a lock, for which other threads and processes wait: for reading values directly below
  // `prefix` and putting new ones that depend on them. A thread must not hold two locks. Null if
  // the store has no locks.
  virtual std::unique_ptr<StoreLock> lock(std::string_view /*prefix*/) { return nullptr; }

  // Completes what has been put, if the store gathers values: until then other programs may see
  // none of them, and puts with Durability::after_flush may not survive a loss of power.
  virtual void flush() {}

  // Removes files left by killed writers, as far as they are found quickly. Never throws.
  virtual void remove_leftovers() {}

  // --- around it ---

  // The store of the folder around this one, and the name of this one in it. Nullopt if unknown.
  struct Parent;
  virtual std::optional<Parent> parent() const;
};

struct Store::Parent {
  std::shared_ptr<Store> store;
  std::string name;
};

}  // namespace zarrcore
