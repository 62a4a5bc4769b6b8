// What comes of each answer of hostile_answers.h to each request of store_requests.h, when a store
// makes it over HTTP.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "autotest/driver/cpp/store_requests.h"

namespace gdal_zarr::test {

struct HostileRow {
  const char* answer;
  std::string outcome;                             // as a regular expression
  std::map<std::string, std::string> others = {};  // of single requests

  const std::string& outcome_of(const StoreRequest& request) const;
  // Returns true if the request fails, and may succeed when it is repeated.
  bool may_pass(const StoreRequest& request) const;
};

// Rows for connections that are shared or not.
const std::vector<HostileRow>& hostile_rows(bool shares_connections);

}  // namespace gdal_zarr::test
