#include "autotest/cpp/support/flat_writer.h"

#include <utility>

namespace zarrcore::test {
namespace {

constexpr std::size_t kAlignment = 8;

void align(std::string& buffer) {
  buffer.resize((buffer.size() + kAlignment - 1) / kAlignment * kAlignment);
}

// Makes the offset at `place` lead to the end of the buffer.
void lead_here(std::string& buffer, std::size_t place) {
  buffer.replace(place, 4, little(static_cast<std::uint32_t>(buffer.size() - place)));
}

void write_table(std::string& buffer, std::size_t offset_place, const FlatObject& object);

void write_vector(std::string& buffer, std::uint32_t count, const std::string& bytes) {
  buffer += little(count) + bytes + '\0';
  align(buffer);
}

// A vector of offsets; returns the place of the first.
std::size_t write_offsets(std::string& buffer, std::size_t count) {
  const std::size_t start = buffer.size() + 4;
  write_vector(buffer, static_cast<std::uint32_t>(count), std::string(4 * count, '\0'));
  return start;
}

void write_target(std::string& buffer, const FlatField& field) {
  switch (field.kind) {
    case FlatField::Kind::vector:
      write_vector(buffer, field.count, field.bytes);
      break;
    case FlatField::Kind::texts: {
      std::size_t place = write_offsets(buffer, field.texts.size());
      for (const std::string& text : field.texts) {
        lead_here(buffer, std::exchange(place, place + 4));
        write_vector(buffer, static_cast<std::uint32_t>(text.size()), text);
      }
      break;
    }
    case FlatField::Kind::tables: {
      std::size_t place = write_offsets(buffer, field.tables.size());
      for (const FlatObject& table : field.tables) {
        write_table(buffer, std::exchange(place, place + 4), table);
      }
      break;
    }
    default:
      break;
  }
}

// The table of fields is in front of the table, and what its fields lead to after it.
void write_table(std::string& buffer, std::size_t offset_place, const FlatObject& object) {
  const unsigned field_count = object.fields.empty() ? 0 : object.fields.rbegin()->first + 1;
  std::vector<std::uint16_t> places(field_count);
  std::string content(4, '\0');
  for (const auto& [id, field] : object.fields) {
    align(content);
    places[id] = static_cast<std::uint16_t>(content.size());
    content += field.kind == FlatField::Kind::in_table ? field.bytes : std::string(4, '\0');
  }
  const std::size_t field_table = buffer.size();
  buffer += little(static_cast<std::uint16_t>(4 + 2 * field_count)) +
            little(static_cast<std::uint16_t>(content.size()));
  for (const std::uint16_t place : places) buffer += little(place);
  align(buffer);
  lead_here(buffer, offset_place);
  const std::size_t start = buffer.size();
  content.replace(0, 4, little(static_cast<std::uint32_t>(start - field_table)));
  buffer += content;
  align(buffer);
  for (const auto& [id, field] : object.fields) {
    if (field.kind == FlatField::Kind::in_table) continue;
    if (field.kind == FlatField::Kind::table) {
      write_table(buffer, start + places[id], field.tables.front());
    } else {
      lead_here(buffer, start + places[id]);
      write_target(buffer, field);
    }
  }
}

}  // namespace

FlatObject& FlatObject::in_table(unsigned field, std::string bytes) {
  fields[field] = {FlatField::Kind::in_table, std::move(bytes), 0, {}, {}};
  return *this;
}

FlatObject& FlatObject::vector(unsigned field, std::string_view bytes, std::size_t element_size) {
  fields[field] = {FlatField::Kind::vector,
                   std::string(bytes),
                   static_cast<std::uint32_t>(bytes.size() / element_size),
                   {},
                   {}};
  return *this;
}

FlatObject& FlatObject::texts(unsigned field, std::vector<std::string> texts) {
  fields[field] = {FlatField::Kind::texts, {}, 0, std::move(texts), {}};
  return *this;
}

FlatObject& FlatObject::table(unsigned field, FlatObject object) {
  fields[field] = {FlatField::Kind::table, {}, 0, {}, {std::move(object)}};
  return *this;
}

FlatObject& FlatObject::tables(unsigned field, std::vector<FlatObject> objects) {
  fields[field] = {FlatField::Kind::tables, {}, 0, {}, std::move(objects)};
  return *this;
}

std::string write_flat_buffer(const FlatObject& root) {
  std::string buffer(kAlignment, '\0');
  write_table(buffer, 0, root);
  return buffer;
}

}  // namespace zarrcore::test
