#include "lockstep/models/trainable.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "lockstep/base/error.h"

namespace lockstep::models {
namespace {

[[noreturn]] void refuse(std::string_view text) {
  throw base::UsageError(fmt::format(
      "trainable share '{}' is not understood; use all, head, last:K (layers) or share:P%", text));
}

template <class Number>
bool parse_whole(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

std::vector<Unit*> layers_of(const Model& model) {
  std::vector<Unit*> layers;
  for (Unit* unit : all_units(model.root())) {
    if (!unit->own_parameters().empty()) layers.push_back(unit);
  }
  return layers;
}

std::int64_t parameters_in(const Unit& unit) {
  std::int64_t count = 0;
  for (const Parameter& parameter : unit.own_parameters()) count += parameter.value.numel();
  return count;
}

bool lies_under(const std::string& path, const std::string& top) {
  return path == top || (path.size() > top.size() && path.starts_with(top) && path[top.size()] == '.');
}

std::size_t first_of_head(const Model& model, const std::vector<Unit*>& layers) {
  if (model.head().empty()) {
    throw base::ConfigError(
        fmt::format("trainable 'head' is refused: model '{}' has no head to train alone. The nearest that "
                    "works: trainable last:1.",
                    model.name()));
  }
  std::size_t first = layers.size();
  while (first > 0 && lies_under(layers[first - 1]->path(), model.head())) --first;
  return first;
}

std::size_t first_of_last(const Model& model, const std::vector<Unit*>& layers, std::int64_t count) {
  if (count > static_cast<std::int64_t>(layers.size())) {
    throw base::ConfigError(fmt::format(
        "trainable 'last:{}' is refused: model '{}' has {} layers with parameters. The nearest that "
        "works: trainable last:{}.",
        count, model.name(), layers.size(), layers.size()));
  }
  return layers.size() - static_cast<std::size_t>(count);
}

std::size_t first_of_share(const Model& model, const std::vector<Unit*>& layers, double percent) {
  const double wanted = percent / 100.0 * static_cast<double>(model.parameter_count());
  std::size_t first = layers.size();
  double held = 0.0;
  while (first > 0 && held < wanted) held += static_cast<double>(parameters_in(*layers[--first]));
  return first;
}

std::size_t first_trained(const Model& model, const std::vector<Unit*>& layers, const TrainableShare& share) {
  switch (share.kind) {
    case TrainableShare::Kind::all:
      return 0;
    case TrainableShare::Kind::head:
      return first_of_head(model, layers);
    case TrainableShare::Kind::last:
      return first_of_last(model, layers, share.layers);
    case TrainableShare::Kind::share:
      return first_of_share(model, layers, share.percent);
  }
  return 0;
}

}  // namespace

TrainableShare parse_trainable(std::string_view text) {
  TrainableShare share;
  if (text == "all") return share;
  if (text == "head") return {.kind = TrainableShare::Kind::head};
  if (text.starts_with("last:")) {
    share.kind = TrainableShare::Kind::last;
    if (!parse_whole(text.substr(5), share.layers) || share.layers < 1) refuse(text);
    return share;
  }
  if (!text.starts_with("share:") || !text.ends_with('%')) refuse(text);
  share.kind = TrainableShare::Kind::share;
  if (!parse_whole(text.substr(6, text.size() - 7), share.percent)) refuse(text);
  if (!(share.percent > 0.0 && share.percent <= 100.0)) refuse(text);
  return share;
}

TrainableReport set_trainable(const Model& model, const TrainableShare& share) {
  const std::vector<Unit*> layers = layers_of(model);
  const std::size_t first = first_trained(model, layers, share);
  TrainableReport report;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const bool frozen = i < first;
    layers[i]->freeze(frozen);
    (frozen ? report.frozen_parameters : report.trainable_parameters) += parameters_in(*layers[i]);
    (frozen ? report.frozen_layers : report.trainable_layers).push_back(layers[i]->path());
  }
  return report;
}

}  // namespace lockstep::models
