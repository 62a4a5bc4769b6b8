// Gathers from a store everything that may state the position of an array.
#include "driver/conventions/evidence.h"

#include <cpl_conv.h>

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <utility>

#include "driver/multidim/dimension.h"
#include "driver/multidim/georeferencing.h"
#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {
namespace {

using zarrcore::Json;
using Dimensions = std::vector<std::shared_ptr<GDALDimension>>;

// Coordinates in more chunks are not read to find their spacing.
constexpr std::uint64_t kMaxCoordinateChunks = 20'000;
// Slices of coordinates with more elements are not compared: on the network, with fewer.
constexpr std::uint64_t kMaxCompared = 16'000'000;
constexpr std::uint64_t kMaxComparedSlowly = 1'000'000;

EvidenceAxis make_axis(const Array& array, const GDALDimension& dimension, std::size_t index) {
  EvidenceAxis axis;
  axis.name = dimension.GetName();
  axis.is_named = axis.name != "dim" + std::to_string(index);
  axis.size = dimension.GetSize();
  axis.type = dimension.GetType();
  const auto* regular = dynamic_cast<const RegularDimension*>(&dimension);
  const auto variable = dimension.GetIndexingVariable();
  if (!variable || (regular != nullptr && regular->coordinates().is_relative)) return axis;
  axis.unit = variable->GetUnit();
  if (const auto own = std::dynamic_pointer_cast<Array>(variable)) {
    axis.attributes = {own, &own->attributes()};
    if (own->session() == array.session()) axis.path = own->node_path();
  } else {
    axis.attributes = std::make_shared<const Json>(
        regular != nullptr ? regular->coordinates().attributes : Json::object());
  }
  return axis;
}

std::vector<EvidenceScope> make_scopes(const std::shared_ptr<const Array>& array) {
  using Shape = EvidenceScope::Shape;
  const Session& session = *array->session();
  std::vector<EvidenceScope> scopes;
  scopes.push_back({"array " + array->GetFullName(), {array, &array->attributes()}, Shape::own});
  const std::string group(zarrcore::parent_path(array->node_path()));
  const auto member = array->pyramid();
  const auto of_group = array->group_attributes();
  const EvidenceScope own_group{
      "group /" + group, of_group,
      !member || member->level.level == 0 ? Shape::finest : Shape::matching};
  if (member) {
    const PyramidLevel& level = member->level;
    scopes.push_back(
        {"the pyramid of group /" + level.group, {level.multiscales, &level.entry()}, Shape::own});
    scopes.push_back(own_group);
    if (member->session.get() != &session || level.group != group) {
      scopes.push_back({"group /" + level.group,
                        member->session->attributes(level.group, zarrcore::NodeKind::group),
                        Shape::matching});
    }
  } else {
    scopes.push_back(own_group);
  }
  return scopes;
}

// Empty where looking for them would cost requests.
std::vector<EvidenceVariable> unnamed_variables(const Array& array,
                                                const std::vector<std::string>& names) {
  std::shared_ptr<const Session> session = array.session();
  std::string group(zarrcore::parent_path(array.node_path()));
  if (session->root_is_array()) session = session->parent();
  if (!session || (session->is_slow() && !session->hierarchy().is_consolidated())) return {};
  std::vector<EvidenceVariable> variables;
  for (const std::string& name : names) {
    const std::string path = zarrcore::join_path(group, name);
    const auto metadata = session->coordinate_metadata(path);
    if (metadata) variables.push_back({path, {metadata, &metadata->attributes}});
  }
  if (variables.empty()) return {};
  for (const zarrcore::Child& child : session->hierarchy().children(group)) {
    const auto other = session->array_metadata(zarrcore::join_path(group, child.name));
    for (const auto& mapping :
         other ? grid_mappings(other->attributes) : std::vector<GridMapping>()) {
      std::erase_if(variables, [&](const EvidenceVariable& variable) {
        return zarrcore::last_segment(variable.path) == mapping.variable;
      });
    }
  }
  return variables;
}

std::optional<EvidenceVariable> find_variable(const Array& array, const std::string& name) {
  const Session& session = *array.session();
  const bool is_path = name.find('/') != std::string::npos;
  if (!session.root_is_array() && !name.empty()) {
    for (const std::string& group : paths_upward(zarrcore::parent_path(array.node_path()))) {
      const std::string path = is_path ? zarrcore::resolved_path(group, name)
                               : zarrcore::is_valid_segment(name) ? zarrcore::join_path(group, name)
                                                                  : std::string();
      if (!path.empty()) {
        if (const auto metadata = session.coordinate_metadata(path)) {
          return EvidenceVariable{path, {metadata, &metadata->attributes}};
        }
      }
      if (is_path) break;
    }
  }
  auto above = session.attributes_above(std::string(zarrcore::last_segment(name)));
  return above ? std::optional(EvidenceVariable{{}, std::move(above)}) : std::nullopt;
}

// Variables are in the array's group or one above, or a path names them: dimensions of the same
// name and length are the same, also if they belong to different groups.
std::vector<std::optional<std::size_t>> axes_of(const Dimensions& dimensions,
                                                const Array& variable) {
  std::vector<std::optional<std::size_t>> axes;
  for (const auto& dimension : variable.GetDimensions()) {
    const auto found = std::ranges::find_if(dimensions, [&](const auto& own) {
      return own->GetName() == dimension->GetName() && own->GetSize() == dimension->GetSize();
    });
    axes.emplace_back();
    if (found != dimensions.end()) {
      axes.back() = static_cast<std::size_t>(found - dimensions.begin());
    }
  }
  return axes;
}

bool is_constant(const Array& variable) {
  const zarrcore::Shape& shape = variable.core().shape();
  const std::span lengths(shape);
  const auto all = zarrcore::checked_product(lengths);
  if (!all || *all == 0) return false;
  const std::uint64_t slices = *zarrcore::checked_product(lengths.first(shape.size() - 2));
  if (slices == 1) return true;
  if (*all > (variable.session()->is_slow() ? kMaxComparedSlowly : kMaxCompared)) return false;
  const std::uint64_t elements = *all / slices;
  const auto type = GDALExtendedDataType::Create(GDT_Float64);
  std::vector<std::size_t> count(shape.size(), 1);
  std::copy(shape.end() - 2, shape.end(), count.end() - 2);
  std::vector<double> first(elements);
  std::vector<double> other(elements);
  for (std::uint64_t slice = 0; slice < slices; ++slice) {
    std::vector<GUInt64> start(shape.size(), 0);
    for (std::size_t i = shape.size() - 2, rest = slice; i-- > 0; rest /= shape[i]) {
      start[i] = rest % shape[i];
    }
    if (!variable.Read(start.data(), count.data(), nullptr, nullptr, type, other.data())) {
      return false;
    }
    if (slice == 0) first = other;
    const auto is_same = [](double a, double b) { return a == b || (a != a && b != b); };
    if (!std::equal(first.begin(), first.end(), other.begin(), is_same)) return false;
  }
  return true;
}

// The results of `read` for several axes, two at the same time.
std::vector<std::vector<double>> read_each(
    const Session& session, const std::vector<std::size_t>& axes,
    const std::function<std::vector<double>(std::size_t axis)>& read) {
  std::vector<std::vector<double>> values(axes.size());
  const auto read_one = [&](std::size_t i) { values[i] = read(axes[i]); };
  if (axes.size() == 2) {
    session.run_together({[&] { read_one(0); }, [&] { read_one(1); }});
  } else {
    for (std::size_t i = 0; i < axes.size(); ++i) read_one(i);
  }
  return values;
}

// The values of the variable that the attribute `bounds` of the coordinates names: two for each
// coordinate.
std::vector<double> read_bounds(const Array& array, const EvidenceAxis& axis) {
  const std::string* name =
      axis.attributes ? zarrcore::find_string(*axis.attributes, "bounds") : nullptr;
  const auto variable = name != nullptr ? find_variable(array, *name) : std::nullopt;
  if (!variable || variable->path.empty()) return {};
  const auto opened = array.session()->coordinate_array(variable->path);
  const bool fits = opened && opened->core().shape() == zarrcore::Shape{axis.size, 2};
  return fits ? read_unpacked(*opened) : std::vector<double>();
}

void unpack(std::vector<double>& values, const GDALMDArray& variable) {
  const double scale = variable.GetScale();
  const double offset = variable.GetOffset();
  for (double& value : values) value = value * scale + offset;
}

}  // namespace

std::vector<double> read_unpacked(const GDALMDArray& variable) {
  const auto& dimensions = variable.GetDimensions();
  const bool fits = dimensions.size() == 1 || dimensions.size() == 2;
  if (!fits || variable.GetDataType().GetClass() != GEDTC_NUMERIC) return {};
  const std::uint64_t size = dimensions[0]->GetSize();
  const auto blocks = variable.GetBlockSize();  // empty if there is no memory for the block sizes
  const std::uint64_t block = blocks.empty() ? 0 : blocks[0];  // 0: unknown, of none in a store
  const std::uint64_t beside = dimensions.size() == 2 ? dimensions[1]->GetSize() : 1;
  if (beside == 0 || size > kMaxCoordinates / beside ||
      (block > 0 && size / block > kMaxCoordinateChunks))
    return {};
  std::vector<double> values(size * beside);
  const GUInt64 start[] = {0, 0};
  const std::size_t count[] = {size, beside};
  const auto type = GDALExtendedDataType::Create(GDT_Float64);
  const auto* own = dynamic_cast<const Array*>(&variable);
  const bool is_read = own != nullptr
                           ? own->read_coordinates(0, size, type, values.data())
                           : variable.Read(start, count, nullptr, nullptr, type, values.data());
  if (!is_read) return {};
  unpack(values, variable);
  return values;
}

std::vector<double> read_values(const GDALMDArray& variable) {
  return variable.GetDimensions().size() == 1 ? read_unpacked(variable) : std::vector<double>();
}

std::vector<double> read_corners(const Array& variable, std::vector<std::uint64_t> slice) {
  const zarrcore::Shape& shape = variable.core().shape();
  if (shape.size() < 2 || variable.GetDataType().GetClass() != GEDTC_NUMERIC) return {};
  slice.resize(shape.size(), 0);
  std::vector<GUInt64> start(slice.begin(), slice.end());
  std::vector<std::size_t> count(shape.size(), 1);
  std::vector<GInt64> step(shape.size(), 1);
  std::size_t elements = 1;
  for (std::size_t i = shape.size() - 2; i < shape.size(); ++i) {
    if (shape[i] == 0) return {};
    start[i] = 0;
    if (shape[i] == 1) continue;
    count[i] = 2;
    step[i] = static_cast<GInt64>(shape[i] - 1);
    elements *= 2;
  }
  std::vector<double> values(elements);
  const auto type = GDALExtendedDataType::Create(GDT_Float64);
  if (!variable.Read(start.data(), count.data(), step.data(), nullptr, type, values.data())) {
    return {};
  }
  unpack(values, variable);
  return values;
}

Evidence gather_evidence(const std::shared_ptr<const Array>& array, const Dimensions& dimensions) {
  Evidence evidence;
  const std::shared_ptr<Session> session = array->session();
  evidence.array = array->GetFullName();
  evidence.scopes = make_scopes(array);
  evidence.attributes = evidence.scopes.front().attributes;
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    evidence.axes.push_back(make_axis(*array, *dimensions[i], i));
  }
  evidence.store_name = CPLGetFilename(session->path().c_str());
  evidence.assumes_longlat = session->assumes_longlat();
  evidence.product = [array] { return array->root_attributes(); };
  using Known = std::map<std::string, std::optional<EvidenceVariable>>;
  evidence.find = [array, known = std::make_shared<Known>()](const std::string& name) {
    auto found = known->find(name);
    if (found == known->end()) found = known->emplace(name, find_variable(*array, name)).first;
    return found->second;
  };
  evidence.unnamed = [array](const std::vector<std::string>& names) {
    return unnamed_variables(*array, names);
  };
  evidence.axes_of = [array, session, dimensions](const EvidenceVariable& variable) {
    std::vector<std::optional<std::size_t>> axes;
    if (variable.path == array->node_path()) return axes;
    if (const auto opened = session->coordinate_array(variable.path)) {
      axes = axes_of(dimensions, *opened);
    }
    return axes;
  };
  evidence.coordinates = [session, dimensions](const std::vector<std::size_t>& axes) {
    return read_each(*session, axes, [&](std::size_t axis) {
      const auto variable = dimensions[axis]->GetIndexingVariable();
      return variable ? read_values(*variable) : std::vector<double>();
    });
  };
  evidence.bounds = [array, session, all = evidence.axes](const std::vector<std::size_t>& axes) {
    return read_each(*session, axes,
                     [&](std::size_t axis) { return read_bounds(*array, all[axis]); });
  };
  const auto opened_for = [session](const auto& use) {
    return [session, use](const EvidenceVariable& variable) {
      const auto opened = session->coordinate_array(variable.path);
      return opened ? use(*opened) : decltype(use(*opened)){};
    };
  };
  evidence.values = opened_for([](const Array& variable) { return read_values(variable); });
  evidence.is_constant = opened_for([](const Array& variable) { return is_constant(variable); });
  evidence.corners = opened_for([](const Array& variable) { return read_corners(variable, {}); });
  evidence.finest = [array]() -> std::shared_ptr<const Evidence> {
    const auto finest = array->finest_level();
    if (!finest) return nullptr;
    return std::make_shared<const Evidence>(gather_evidence(finest, finest->known_dimensions()));
  };
  return evidence;
}

}  // namespace gdal_zarr
