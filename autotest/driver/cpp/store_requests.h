// The requests that a store makes for a value of a server, and what comes of them, in words.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "autotest/driver/cpp/hostile_answers.h"
#include "zarrcore/store/store.h"

namespace gdal_zarr::test {

inline constexpr std::string_view kKey = "c/0/1";

// The 200 bytes of the value, no two of which are the same.
std::string served_value();

struct StoreRequest {
  const char* name;
  // What comes of the request: "right", "absent", "replaced", what is wrong with the bytes, or the
  // error without the name of the value.
  std::string (*outcome)(zarrcore::Store& store);
  // Of the requests of HTTP that it takes, those that a test is about; null for all.
  bool (*is_hit)(const ValueRequest& request) = nullptr;
};

std::span<const StoreRequest> store_requests();

}  // namespace gdal_zarr::test
