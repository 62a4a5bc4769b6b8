#include "driver/stores/references/parquet/thrift_reader.h"

#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;

constexpr int kMaxThriftDepth = 32;  // of structs and lists in each other

[[noreturn]] void fail_thrift() {
  throw Error("its metadata is corrupt");
}

}  // namespace

void ThriftReader::enter() {
  if (++depth_ > kMaxThriftDepth) fail_thrift();
}

std::uint8_t ThriftReader::next_byte() {
  if (at_ == bytes_.size()) throw Error("its metadata ends early");
  return std::to_integer<std::uint8_t>(bytes_[at_++]);
}

std::uint64_t ThriftReader::next_varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const std::uint8_t byte = next_byte();
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  fail_thrift();
}

std::int64_t ThriftReader::next_zigzag() {
  const std::uint64_t value = next_varint();
  return static_cast<std::int64_t>(value >> 1 ^ (~(value & 1) + 1));
}

zarrcore::ByteSpan ThriftReader::take(std::uint64_t count) {
  if (count > bytes_.size() - at_) throw Error("its metadata ends early");
  const zarrcore::ByteSpan taken = bytes_.subspan(at_, count);
  at_ += count;
  return taken;
}

bool ThriftReader::next_field(Field& field) {
  const std::uint8_t header = next_byte();
  field.type = static_cast<ThriftType>(header & 0x0f);
  if (field.type == ThriftType::stop) return false;
  if (field.type > ThriftType::structure) fail_thrift();
  const std::int64_t step = header >> 4;
  const std::int64_t id = step != 0 ? field.id + step : next_zigzag();
  // Numbers of fields are of 16 bits.
  if (id < INT16_MIN || id > INT16_MAX) fail_thrift();
  field.id = id;
  return true;
}

std::uint64_t ThriftReader::begin_list(const Field& field, Field& element) {
  if (field.type != ThriftType::list && field.type != ThriftType::set) fail_thrift();
  const std::uint8_t header = next_byte();
  const std::uint64_t count = header >> 4 == 15 ? next_varint() : header >> 4;
  element.type = static_cast<ThriftType>(header & 0x0f);
  if (element.type > ThriftType::structure) fail_thrift();
  // Each element takes at least a byte.
  if (count > bytes_.size() - at_) throw Error("its metadata ends early");
  return count;
}

// As an element of a list or a map, where a boolean takes a byte.
void ThriftReader::skip_element(ThriftType type) {
  if (type == ThriftType::yes || type == ThriftType::no) {
    next_byte();
  } else {
    skip(type);
  }
}

void ThriftReader::skip(ThriftType type) {
  switch (type) {
    case ThriftType::yes:
    case ThriftType::no:
      return;
    case ThriftType::int8:
      next_byte();
      return;
    case ThriftType::int16:
    case ThriftType::int32:
    case ThriftType::int64:
      next_varint();
      return;
    case ThriftType::real:
      take(8);
      return;
    case ThriftType::binary:
      take(next_varint());
      return;
    case ThriftType::list:
    case ThriftType::set:
      read_list({0, type}, [this](const Field& element) { skip_element(element.type); });
      return;
    case ThriftType::map: {
      enter();
      const std::uint64_t count = next_varint();
      if (count > bytes_.size() - at_) fail_thrift();
      const std::uint8_t types = count == 0 ? 0 : next_byte();
      for (std::uint64_t i = 0; i < count; ++i) {
        skip_element(static_cast<ThriftType>(types >> 4));
        skip_element(static_cast<ThriftType>(types & 0x0f));
      }
      --depth_;
      return;
    }
    case ThriftType::structure:
      read_struct([](const Field& /*field*/) { return false; });
      return;
    default:
      fail_thrift();
  }
}

std::int64_t ThriftReader::read_integer(const Field& field) {
  switch (field.type) {
    case ThriftType::int8:
      return static_cast<std::int8_t>(next_byte());
    case ThriftType::int16:
    case ThriftType::int32:
    case ThriftType::int64:
      return next_zigzag();
    default:
      fail_thrift();
  }
}

std::uint64_t ThriftReader::read_unsigned(const Field& field) {
  const std::int64_t value = read_integer(field);
  if (value < 0) throw Error("its metadata has a negative size");
  return static_cast<std::uint64_t>(value);
}

bool ThriftReader::read_bool(const Field& field) const {
  if (field.type != ThriftType::yes && field.type != ThriftType::no) fail_thrift();
  return field.type == ThriftType::yes;
}

zarrcore::ByteSpan ThriftReader::read_binary(const Field& field) {
  if (field.type != ThriftType::binary) fail_thrift();
  return take(next_varint());
}

std::string ThriftReader::read_text(const Field& field) {
  const zarrcore::ByteSpan bytes = read_binary(field);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void ThriftReader::check_is_struct(const Field& field) const {
  if (field.type != ThriftType::structure) fail_thrift();
}

}  // namespace gdal_zarr
