// A JSON document that may not have been parsed yet: consolidated metadata holds tens of thousands,
// of which a reader needs few.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "zarrcore/base/buffer.h"
#include "zarrcore/base/json.h"

namespace zarrcore {

class LazyDocument {
 public:
  LazyDocument(Json json) : json_(std::move(json)) {}  // NOLINT: converts
  // `text` is part of `holder`.
  LazyDocument(std::shared_ptr<const Buffer> holder, std::string_view text)
      : holder_(std::move(holder)), text_(text) {}

  // Throws Error when the text is not JSON.
  Json get() const { return holder_ ? parse_json(text_) : json_; }
  // Its text, which may not be JSON.
  std::string text() const {
    return holder_ ? std::string(text_) : dump_json(json_, {.as_read = true});
  }

 private:
  Json json_;
  std::shared_ptr<const Buffer> holder_;
  std::string_view text_;
};

}  // namespace zarrcore
