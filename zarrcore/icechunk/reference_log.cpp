#include "zarrcore/icechunk/reference_log.h"

#include <concepts>
#include <filesystem>
#include <span>
#include <utility>

#include "zarrcore/base/endian.h"
#include "zarrcore/icechunk/configuration.h"
#include "zarrcore/store/local_files.h"

namespace zarrcore::icechunk {
namespace {

// An entry: the size of the rest, the kind of reference, its length, and for
//   inlined    the bytes
//   native     the object's id, if the offset is 0
//   others     the offset, the time, the size of the etag, the etag, the name of the object
constexpr std::size_t kHeaderSize = 13;
constexpr std::size_t kKindPlace = 4;
constexpr std::size_t kLengthPlace = 5;
constexpr std::size_t kDetailsSize = 16;

template <std::unsigned_integral Number>
void add_to(std::vector<std::byte>& entry, Number number) {
  append_integer(entry, number, Endian::little);
}

void add_to(std::vector<std::byte>& entry, std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  entry.insert(entry.end(), bytes.begin(), bytes.end());
}

std::vector<std::byte> entry_of(const ChunkReference& reference) {
  std::vector<std::byte> entry;
  add_to(entry, std::uint32_t{0});
  add_to(entry, static_cast<std::uint8_t>(reference.kind));
  add_to(entry, reference.length);
  if (reference.kind == ChunkReference::Kind::inlined) {
    entry.insert(entry.end(), reference.bytes.begin(), reference.bytes.end());
  } else if (reference.kind == ChunkReference::Kind::native && reference.offset == 0) {
    const auto id = parse_id<ObjectId>(reference.object);
    entry.insert(entry.end(), id.begin(), id.end());
  } else {
    add_to(entry, reference.offset);
    add_to(entry, reference.last_modified);
    add_to(entry, static_cast<std::uint32_t>(reference.etag.size()));
    add_to(entry, reference.etag);
    add_to(entry, reference.object);
  }
  store_integer(static_cast<std::uint32_t>(entry.size() - kHeaderSize), Endian::little,
                entry.data());
  return entry;
}

}  // namespace

// Other programs do not see it, and it ends with this process.
class ReferenceLog::File {
 public:
  File()
      : path_(utf8_of(std::filesystem::temp_directory_path() /
                      path_of_utf8("icechunk" + make_temporary_name()))),
        writer_(path_, LocalFile::Mode::scratch),
        reader_(path_, LocalFile::Mode::read) {
    if (!writer_.is_open() || !reader_.is_open()) throw Error(path_ + " cannot be created");
    remove_entry(path_);
  }

  void write(ByteSpan bytes) const {
    with_context({path_}, [&] { writer_.write(bytes); });
  }
  Buffer read(std::uint64_t offset, std::uint64_t size) const {
    return with_context({path_}, [&] { return reader_.read(offset, size); });
  }

 private:
  std::string path_;
  LocalFile writer_;
  LocalFile reader_;
};

ReferenceLog::ReferenceLog(std::uint64_t max_memory) : max_memory_(max_memory) {}
ReferenceLog::~ReferenceLog() = default;

std::uint64_t ReferenceLog::add(const ChunkReference& reference) {
  const std::vector<std::byte> entry = entry_of(reference);
  const std::lock_guard lock(mutex_);
  if (reference.kind == ChunkReference::Kind::external) {
    if (auto container = container_prefix(reference.object); !container.empty()) {
      containers_.insert(std::move(container));
    }
  }
  if (!memory_.empty() && memory_.size() + entry.size() > max_memory_) {
    if (!file_) file_ = std::make_unique<File>();
    // After a part of them, others would be at wrong places.
    if (std::exchange(is_incomplete_, true)) throw Error("its temporary file is incomplete");
    file_->write(memory_);
    is_incomplete_ = false;
    file_size_ += memory_.size();
    memory_.clear();
  }
  const std::uint64_t place = file_size_ + memory_.size();
  memory_.insert(memory_.end(), entry.begin(), entry.end());
  return place;
}

Buffer ReferenceLog::read(std::uint64_t place, std::uint64_t size) const {
  if (place < file_size_) return file_->read(place, size);
  return Buffer::copy_of(
      ByteSpan(memory_).subspan(memory_size(place - file_size_), memory_size(size)));
}

std::set<std::string> ReferenceLog::containers() const {
  const std::lock_guard lock(mutex_);
  return containers_;
}

std::uint64_t ReferenceLog::size(std::uint64_t place) const {
  const std::lock_guard lock(mutex_);
  return load_integer<std::uint32_t>(read(place, kHeaderSize).data(), Endian::little);
}

ReferenceLog::Entry ReferenceLog::get(std::uint64_t place) const {
  std::unique_lock lock(mutex_);
  const Buffer header = read(place, kHeaderSize);
  const auto size = load_integer<std::uint32_t>(header.data(), Endian::little);
  auto rest = std::make_shared<const Buffer>(read(place + kHeaderSize, size));
  lock.unlock();
  Entry entry;
  ChunkReference& reference = entry.reference;
  reference.kind = static_cast<ChunkReference::Kind>(header.data()[kKindPlace]);
  reference.length = load_integer<std::uint64_t>(header.data() + kLengthPlace, Endian::little);
  if (reference.kind == ChunkReference::Kind::inlined) {
    reference.bytes = rest->span();
    entry.owner = std::move(rest);
  } else if (size == kObjectIdSize) {
    reference.object = id_text(rest->span());
  } else {
    reference.offset = load_integer<std::uint64_t>(rest->data(), Endian::little);
    reference.last_modified = load_integer<std::uint32_t>(rest->data() + 8, Endian::little);
    const auto etag = load_integer<std::uint32_t>(rest->data() + 12, Endian::little);
    reference.etag = rest->text().substr(kDetailsSize, etag);
    reference.object = rest->text().substr(kDetailsSize + etag);
  }
  return entry;
}

}  // namespace zarrcore::icechunk
