#include "lockstep/record/spec_rule.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"
#include "lockstep/record/catalogue_data.h"
#include "lockstep/record/catalogue_models.h"

namespace lockstep::record {
namespace {

std::string plain(double value) {
  return fmt::format("{:.15g}", value);
}

// The complaint of a function that throws ConfigError.
template <class Look>
std::optional<std::string> thrown_complaint(Look look) {
  try {
    look();
    return std::nullopt;
  } catch (const base::ConfigError& error) {
    return error.what();
  }
}

// The whole text as a number between the bounds.
bool is_number(std::string_view text, double least, double most) {
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  return result.ec == std::errc() && result.ptr == text.data() + text.size() && value >= least &&
         value <= most;
}

}  // namespace

Rule anything() {
  return {};
}

Rule one_of(std::vector<std::string> choices) {
  Rule rule;
  rule.choices_ = std::move(choices);
  return rule;
}

Rule known_by(std::vector<std::string> choices, TextCheck check) {
  Rule rule = one_of(std::move(choices));
  rule.check_ = check;
  return rule;
}

Rule at_least(double least) {
  Rule rule;
  rule.least_ = least;
  return rule;
}

Rule above(double least) {
  Rule rule = at_least(least);
  rule.least_excluded_ = true;
  return rule;
}

Rule between(double least, double most) {
  Rule rule = at_least(least);
  rule.most_ = most;
  return rule;
}

std::vector<std::string> or_auto(std::vector<std::string> choices) {
  choices.insert(choices.begin(), "auto");
  return choices;
}

std::string Rule::requirement() const {
  if (check_ == nullptr && !choices_.empty()) return "one of " + base::join(choices_, ", ");
  if (least_ && most_ && most_excluded_)
    return fmt::format("at least {} and below {}", plain(*least_), plain(*most_));
  if (least_ && most_) return fmt::format("between {} and {}", plain(*least_), plain(*most_));
  if (least_) return fmt::format("{} {}", least_excluded_ ? "above" : "at least", plain(*least_));
  return "";
}

std::optional<std::string> Rule::complaint(const nlohmann::json& value) const {
  if (value.is_string()) return text_complaint(value.get<std::string>());
  if (value.is_number()) return number_complaint(value.get<double>());
  return std::nullopt;
}

std::optional<std::string> Rule::text_complaint(const std::string& text) const {
  if (check_ != nullptr) return check_(text);
  if (choices_.empty() || std::find(choices_.begin(), choices_.end(), text) != choices_.end())
    return std::nullopt;
  return fmt::format("it must be {}.{}", requirement(), base::suggestion(text, choices_));
}

std::optional<std::string> Rule::number_complaint(double value) const {
  const bool low = least_ && (least_excluded_ ? value <= *least_ : value < *least_);
  const bool high = most_ && (most_excluded_ ? value >= *most_ : value > *most_);
  if (!low && !high) return std::nullopt;
  const std::string must = fmt::format("it must be {}", requirement());
  if ((low && least_excluded_) || (high && most_excluded_)) return must + ".";
  return fmt::format("{}; the nearest is {}.", must, plain(low ? *least_ : *most_));
}

std::optional<std::string> check_model(const std::string& text) {
  return thrown_complaint([&] { model_entry(text); });
}

std::optional<std::string> check_data(const std::string& text) {
  return thrown_complaint([&] { data_entry(text); });
}

std::optional<std::string> check_trainable(const std::string& text) {
  if (text == "all" || text == "head") return std::nullopt;
  const auto parts = base::split(text, ':');
  if (parts.size() == 2 && parts[0] == "last") {
    const bool whole = parts[1].find('.') == std::string::npos && is_number(parts[1], 1, 1e6);
    if (whole) return std::nullopt;
    return "last:K takes a whole number of units from 1 on, as in last:1.";
  }
  if (parts.size() == 2 && parts[0] == "share") {
    if (parts[1].ends_with('%') && is_number(parts[1].substr(0, parts[1].size() - 1), 0, 100) &&
        std::stod(parts[1]) > 0)
      return std::nullopt;
    return "share:P% takes a percentage above 0 and up to 100, as in share:50%.";
  }
  const std::vector<std::string> words = {"all", "head", "last", "share"};
  return "it must be all, head, last:K or share:P%." +
         base::suggestion(parts.empty() ? text : parts[0], words);
}

}  // namespace lockstep::record
