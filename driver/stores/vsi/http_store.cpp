// Stores on web servers and in object stores, where reading a value is one request.
#include <algorithm>
#include <atomic>
#include <mutex>

#include "driver/stores/vsi/absent_keys.h"
#include "driver/stores/vsi/http_client.h"
#include "driver/stores/vsi/object_put.h"
#include "driver/stores/vsi/vsi_path.h"
#include "driver/stores/vsi/vsi_store.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/store/forwarding_store.h"
#include "zarrcore/store/store.h"

namespace gdal_zarr {
namespace {

using zarrcore::Buffer;
using zarrcore::ByteRange;
using zarrcore::Error;
using zarrcore::ValueVersion;

class HttpStore final : public zarrcore::ForwardingStore {
  template <typename Body>
  auto with_key(std::string_view key, const Body& body) const {
    return zarrcore::with_context([&] { return join_vsi_path(description(), key); }, body);
  }

 public:
  HttpStore(HttpFolder folder, std::shared_ptr<zarrcore::Store> vsi_store,
            std::shared_ptr<zarrcore::RequestStatistics> statistics,
            std::shared_ptr<AbsentKeys> absent)
      : ForwardingStore(std::move(vsi_store)),
        client_(std::move(folder), std::move(statistics)),
        has_suffix_ranges_(!is_in_azure(description())),
        absent_(std::move(absent)) {}

  std::optional<Buffer> get(std::string_view key, std::uint64_t max_size) override {
    return get(key, max_size, nullptr);
  }

  std::optional<std::vector<Buffer>> get_ranges(std::string_view key,
                                                std::span<const ByteRange> ranges) override {
    if (!ranges.empty()) return get_ranges(key, ranges, nullptr);
    return exists(key) ? std::make_optional<std::vector<Buffer>>() : std::nullopt;
  }

  std::shared_ptr<zarrcore::OpenValue> open(std::string_view key) override {
    return std::make_shared<OpenHttpValue>(*this, key);
  }

  bool put_parts(std::string_view key, std::span<const zarrcore::ValuePart> parts,
                 const zarrcore::PutOptions& options) override {
    if (!checks_conditions(description())) warn_of_others(options);
    if (options.expected && !options.expected->is_unknown()) {
      return put_expecting(key, parts, options);
    }
    return inner().put_parts(key, parts);
  }
  // GDAL sends no conditions with this request.
  bool erase(std::string_view key, const zarrcore::EraseOptions& options) override {
    if (!checks_conditions(description())) warn_of_others(options);
    if (options.expected && !options.expected->is_unknown()) {
      absent_->remove(key);
      if (version_now(key).differs_from(*options.expected)) return false;
      if (options.expected->is_absent()) return true;
      warn_of_others(options);
    }
    return inner().erase(key);
  }
  zarrcore::StoreTraits traits() const override {
    zarrcore::StoreTraits traits = inner().traits();
    traits.ranges_are_requests = supports_ranges_;
    traits.puts_conditionally = can_put_conditionally(description());
    return traits;
  }

 private:
  void warn_of_others(const zarrcore::PutOptions& options) {
    if (options.depends_on_read) warn_of_other_writers(description(), has_warned_);
  }

  bool exists(std::string_view key) {
    return with_key(key, [&] {
      try {
        return request(key, "0-0", zarrcore::kNoSizeLimit).has_value();
      } catch (const HttpClient::OutOfRange&) {
        return true;  // and empty
      }
    });
  }

  bool put_expecting(std::string_view key, std::span<const zarrcore::ValuePart> parts,
                     const zarrcore::PutOptions& options) {
    const ValueVersion& expected = *options.expected;
    const Buffer value = zarrcore::join_parts(parts);
    const std::string path = join_vsi_path(description(), key);
    const std::string condition = condition_of(path, expected, value.size());
    if (!condition.empty()) {
      try {
        with_key(key, [&] { put_object_if(path, condition, value.span()); });
        absent_->remove(key);
        return true;
      } catch (const Error&) {
        absent_->remove(key);
        if (version_now(key).differs_from(expected)) return false;
        if (checks_conditions(path) || options.must_check) throw;
      }
    }
    if (options.must_check) {
      throw Error(path + " cannot be replaced on the condition that it has not changed");
    }
    // Some servers refuse conditions.
    warn_of_others(options);
    put(key, value.span());
    return true;
  }

  // How many bytes a server may send beyond a range, for servers without support for ranges.
  static constexpr std::uint64_t kMaxUnwanted = std::uint64_t{1} << 20;

  // One version of a value, known from the first answer. Reads through this object pass it on for
  // check(); other reads pass null.
  class OpenHttpValue final : public zarrcore::OpenValue {
   public:
    OpenHttpValue(HttpStore& store, std::string_view key) : store_(store), key_(key) {}

    std::optional<Buffer> get(std::uint64_t max_size) override {
      auto value = store_.get(key_, max_size, this);
      if (!value) note_absent();
      return value;
    }
    std::optional<std::vector<Buffer>> get_ranges(std::span<const ByteRange> ranges) override {
      try {
        auto parts = store_.get_ranges(key_, ranges, this);
        if (!parts) note_absent();
        return parts;
      } catch (const HttpClient::OutOfRange&) {
        // At the first answer, the ranges belong to another version, whose index was cached. Unless
        // they follow from the size that the value must have.
        const ValueVersion first = version();
        if (first.is_unknown() ? !ranges.front().value_size
                               : store_.version_now(key_).differs_from(first)) {
          throw zarrcore::ValueChanged();
        }
        throw;
      }
    }
    ValueVersion version() const override {
      const std::lock_guard lock(mutex_);
      return version_.value_or(ValueVersion());
    }

    // Called with the version of an answer.
    void check(const ValueVersion& version) {
      const std::lock_guard lock(mutex_);
      if (!version_) version_ = version;
      if (version_->differs_from(version)) throw zarrcore::ValueChanged();
    }

   private:
    void note_absent() {
      const std::lock_guard lock(mutex_);
      if (!version_) version_ = ValueVersion::absent();
    }

    HttpStore& store_;
    std::string key_;
    mutable std::mutex mutex_;
    std::optional<ValueVersion> version_;
  };

  std::optional<Buffer> get(std::string_view key, std::uint64_t max_size, OpenHttpValue* opened) {
    return with_key(key, [&]() -> std::optional<Buffer> {
      auto answer = request(key, "", max_size);
      if (!answer) return std::nullopt;
      if (opened != nullptr) opened->check(answer->version);
      return std::move(answer->bytes);
    });
  }

  std::optional<std::vector<Buffer>> get_ranges(std::string_view key,
                                                std::span<const ByteRange> ranges,
                                                OpenHttpValue* opened) {
    // GDAL fetches several ranges at once, but reports no version.
    const bool is_one_by_one = ranges.size() == 1 || (opened != nullptr && !ranges.empty());
    const bool is_empty =
        std::ranges::any_of(ranges, [](const ByteRange& range) { return range.length == 0; });
    if (!is_one_by_one || is_empty || !supports_ranges_) return inner().get_ranges(key, ranges);
    return with_key(key, [&]() -> std::optional<std::vector<Buffer>> {
      std::vector<Buffer> parts;
      try {
        for (const ByteRange& range : ranges) {
          auto part = request_part(key, range, opened);
          if (!part) return std::nullopt;
          parts.push_back(std::move(*part));
        }
      } catch (const HttpClient::TooLarge&) {
        // Some servers do not support ranges, others no ranges that count from the end.
        supports_ranges_ = false;
        return inner().get_ranges(key, ranges);
      }
      return parts;
    });
  }

  std::optional<Buffer> request_part(std::string_view key, const ByteRange& range,
                                     OpenHttpValue* opened) {
    const auto request_range = [&](const ByteRange& wanted) {
      return request(key, text_of(wanted), wanted.length + kMaxUnwanted);
    };
    std::optional<HttpClient::Answer> answer;
    // Asks for the size first where there are no ranges that count from the end.
    const bool wants_size = range.from_end && !has_suffix_ranges_;
    ByteRange wanted = wants_size ? ByteRange::at(0, 1) : range;
    try {
      answer = request_range(wanted);
    } catch (const HttpClient::OutOfRange&) {
      // Some servers have no ranges that count from the end.
      if (!range.from_end) throw;
      const auto size = size_of(key);
      if (!size) throw;
      wanted = ByteRange::at(zarrcore::resolve_range(range, *size), range.length);
      answer = request_range(wanted);
    }
    // Others take the length for the position of the last byte.
    if (answer && range.from_end && answer->offset && answer->value_size) {
      const std::uint64_t offset = zarrcore::resolve_range(range, *answer->value_size);
      if (wanted.length != range.length || answer->offset != offset) {
        wanted = ByteRange::at(offset, range.length);
        answer = request_range(wanted);
      }
    } else if (wants_size) {
      wanted = range;
    }
    // It may be the part, or all of a value that is too short: only reading the whole value shows
    // which.
    if (answer && !answer->offset && answer->bytes.size() == wanted.length && wanted.offset > 0) {
      answer = request(key, "", zarrcore::kNoSizeLimit);
    }
    if (!answer) return std::nullopt;
    if (opened != nullptr) opened->check(answer->version);
    return part_of(std::move(*answer), wanted);
  }

  // The size of a value that is not empty, if the server states it with a part of the value.
  std::optional<std::uint64_t> size_of(std::string_view key) {
    const auto answer = request(key, "0-0", kMaxUnwanted);
    return answer ? answer->value_size : std::nullopt;
  }

  ValueVersion version_now(std::string_view key) {
    return with_key(key, [&] {
      const auto answer = request(key, "0-0", zarrcore::kNoSizeLimit);
      return answer ? answer->version : ValueVersion::absent();
    });
  }

  std::optional<HttpClient::Answer> request(std::string_view key, const std::string& range,
                                            std::uint64_t max_size) {
    zarrcore::check_key(key);
    if (absent_->contains(key)) return std::nullopt;
    auto answer = client_.get(key, range, max_size);
    if (!answer) absent_->add(key);
    return answer;
  }

  static std::string text_of(const ByteRange& range) {
    if (range.from_end) return '-' + std::to_string(range.length);
    return std::to_string(range.offset) + '-' + std::to_string(range.offset + range.length - 1);
  }

  static Buffer part_of(HttpClient::Answer answer, const ByteRange& range) {
    const std::uint64_t sent = answer.bytes.size();
    if (!answer.offset) {
      const std::uint64_t offset = zarrcore::resolve_range(range, sent);
      return Buffer::copy_of(answer.bytes.span().subspan(offset, range.length));
    }
    // If the size of a value is unknown, the server decides where it ends.
    const std::uint64_t offset = answer.value_size
                                     ? zarrcore::resolve_range(range, *answer.value_size)
                                 : range.from_end ? *answer.offset
                                                  : range.offset;
    if (sent != range.length || *answer.offset != offset) {
      throw zarrcore::AccessFailure("the server sent " + std::to_string(sent) +
                                    " bytes at the offset " + std::to_string(*answer.offset) +
                                    " where " + std::to_string(range.length) + " at " +
                                    std::to_string(offset) + " were requested");
    }
    return std::move(answer.bytes);
  }

  HttpClient client_;
  std::atomic<bool> supports_ranges_{true};
  bool has_suffix_ranges_;  // those that count from the end
  std::atomic<bool> has_warned_{false};
  std::shared_ptr<AbsentKeys> absent_;  // shared with inner()
};

}  // namespace

std::shared_ptr<zarrcore::Store> make_http_store(
    HttpFolder folder, std::shared_ptr<zarrcore::Store> vsi_store,
    std::shared_ptr<zarrcore::RequestStatistics> statistics, std::shared_ptr<AbsentKeys> absent) {
  return std::make_shared<HttpStore>(std::move(folder), std::move(vsi_store), std::move(statistics),
                                     std::move(absent));
}

}  // namespace gdal_zarr
