#include "lockstep/record/catalogue_input.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "lockstep/base/text.h"
#include "lockstep/record/catalogue_data.h"
#include "lockstep/record/catalogue_models.h"

namespace lockstep::record {
namespace {

// No width, depth or count of heads is larger; models/options.cc refuses it too, for those who build a model
// without a spec.
constexpr double kMostOfOption = 1'000'000;

const ModelOption* find_option(const ModelEntry& model, std::string_view name) {
  return find_entry(model.options, name);
}

std::string option_text(const std::string& name, double value) {
  return fmt::format("{}={:.15g}", name, value);
}

std::optional<Problem> option_problem(const RunSpec& spec, const std::string& name, double value) {
  const ModelEntry& model = model_entry(spec.model);
  const ModelOption* option = find_option(model, name);
  if (option == nullptr) {
    const auto names = names_of(model.options);
    if (names.empty())
      return Problem{"model_options", option_text(name, value),
                     fmt::format("model {} has no options", spec.model), ""};
    return Problem{"model_options", option_text(name, value),
                   fmt::format("model {} has no such option", spec.model),
                   base::nearest(name, names).value_or(base::join(names, ", "))};
  }
  if (value == std::floor(value) && value >= option->least && value <= kMostOfOption) return std::nullopt;
  const double near = std::clamp(std::round(value), option->least, kMostOfOption);
  return Problem{
      "model_options", option_text(name, value),
      fmt::format("it must be a whole number, at least {} and at most {:.0f}", option->least, kMostOfOption),
      option_text(name, near)};
}

std::optional<Problem> heads_problem(const RunSpec& spec) {
  const Options options = model_options(spec);
  if (!options.contains("heads") || !options.contains("width")) return std::nullopt;
  const double heads = options.at("heads");
  const double width = options.at("width");
  if (heads <= 0 || std::fmod(width, heads) == 0) return std::nullopt;
  const double near = std::max(1.0, std::round(width / heads)) * heads;
  return Problem{"model_options", option_text("width", width),
                 fmt::format("it must be a multiple of heads, {}", heads), option_text("width", near)};
}

std::optional<Problem> size_problem(const RunSpec& spec) {
  if (!spec.image_size) return std::nullopt;
  const ModelEntry& model = model_entry(spec.model);
  const std::string given = std::to_string(*spec.image_size);
  if (model.fixed.height > 0) {
    return Problem{
        "image_size", given,
        fmt::format("model {} takes {}x{} images only", spec.model, model.fixed.height, model.fixed.width),
        "no image_size"};
  }
  if (*spec.image_size < model.smallest_image) {
    return Problem{"image_size", given,
                   fmt::format("model {} needs at least {} pixels", spec.model, model.smallest_image),
                   fmt::format("image_size {}", model.smallest_image)};
  }
  return std::nullopt;
}

std::optional<Problem> multiple_problem(const RunSpec& spec) {
  const int multiple = model_entry(spec.model).side_multiple;
  const ImageShape shape = input_shape(spec);
  if (shape.height % multiple == 0 && shape.width % multiple == 0) return std::nullopt;
  const int side = std::max(shape.height, shape.width);
  const int near = (side + multiple - 1) / multiple * multiple;
  return Problem{"image_size", spec.image_size ? std::to_string(*spec.image_size) : "auto",
                 fmt::format("model {} needs sides that are multiples of {}, and images are {}x{}",
                             spec.model, multiple, shape.height, shape.width),
                 fmt::format("image_size {}", near)};
}

}  // namespace

Options model_options(const RunSpec& spec) {
  Options options;
  for (const ModelOption& option : model_entry(spec.model).options)
    options[std::string(option.name)] = option.value;
  for (const auto& [name, value] : spec.model_options) options[name] = value;
  return options;
}

ImageShape input_shape(const RunSpec& spec) {
  const ModelEntry& model = model_entry(spec.model);
  const ImageShape own = data_entry(spec.data).shape;
  if (model.fixed.height > 0) return model.fixed;
  const int channels = model.channels > 0 ? model.channels : own.channels;
  if (spec.image_size)
    return {channels, static_cast<int>(*spec.image_size), static_cast<int>(*spec.image_size)};
  return {channels, std::max(own.height, model.smallest_default),
          std::max(own.width, model.smallest_default)};
}

std::vector<Problem> input_problems(const RunSpec& spec) {
  std::vector<Problem> problems;
  for (const auto& [name, value] : spec.model_options) {
    if (auto problem = option_problem(spec, name, value)) problems.push_back(*problem);
  }
  for (const auto check : {heads_problem, size_problem, multiple_problem}) {
    if (auto problem = check(spec)) problems.push_back(*problem);
  }
  return problems;
}

}  // namespace lockstep::record
