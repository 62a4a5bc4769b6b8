// Evidence of an array that no store has to hold.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "driver/conventions/axis.h"
#include "driver/conventions/evidence.h"

namespace gdal_zarr::test {

struct PlainVariable {
  zarrcore::Json attributes = zarrcore::Json::object();
  std::vector<double> values = {};
};

// An array `/v` of dimensions with these names and sizes. A variable with the name of a dimension
// has its coordinates.
inline Evidence plain_evidence(const zarrcore::Json& attributes,
                               const std::vector<std::shared_ptr<const zarrcore::Json>>& groups,
                               const std::vector<std::pair<std::string, std::uint64_t>>& dimensions,
                               const std::map<std::string, PlainVariable>& variables) {
  using zarrcore::Json;
  Evidence evidence;
  evidence.array = "/v";
  evidence.attributes = std::make_shared<const Json>(attributes);
  evidence.scopes.push_back({"array /v", evidence.attributes});
  for (const auto& group : groups) {
    evidence.scopes.push_back({"group /", group, EvidenceScope::Shape::finest});
  }
  for (const auto& [name, size] : dimensions) {
    EvidenceAxis axis{name, !name.empty(), size, {}};
    const auto variable = variables.find(name);
    if (variable != variables.end()) {
      axis.attributes = std::make_shared<const Json>(variable->second.attributes);
      axis.unit = axis.attributes->value("units", "");
      axis.path = name;
    }
    axis.type = find_axis_role(name, axis.attributes ? *axis.attributes : Json::object()).type;
    evidence.axes.push_back(axis);
  }
  if (!groups.empty()) evidence.product = [root = groups.back()] { return root; };
  evidence.find = [variables](const std::string& name) -> std::optional<EvidenceVariable> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return EvidenceVariable{name, std::make_shared<const Json>(found->second.attributes)};
  };
  evidence.unnamed = [find = evidence.find](const std::vector<std::string>& names) {
    std::vector<EvidenceVariable> found;
    for (const std::string& name : names) {
      if (const auto variable = find(name)) found.push_back(*variable);
    }
    return found;
  };
  evidence.coordinates = [variables, dimensions](const std::vector<std::size_t>& axes) {
    std::vector<std::vector<double>> values;
    for (const std::size_t axis : axes) {
      const auto found = variables.find(dimensions[axis].first);
      values.push_back(found != variables.end() ? found->second.values : std::vector<double>());
    }
    return values;
  };
  return evidence;
}

}  // namespace gdal_zarr::test
