// Distinguishes versions of a value in a store: by inode, size and time of a file, or by the ETag
// of an HTTP response.
#pragma once

#include <array>
#include <cstdint>

namespace zarrcore {

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

}  // namespace zarrcore
