// What a single field's value must satisfy, said once: the checks, the help and the completion read it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::record {

// A complaint about a text, or nothing when it is good. The complaint is a sentence that names the next step.
using TextCheck = std::optional<std::string> (*)(const std::string& text);

class Rule {
 public:
  Rule& not_identity() {
    identity_ = false;
    return *this;
  }
  Rule& below(double most) {
    most_ = most;
    most_excluded_ = true;
    return *this;
  }

  bool identity() const { return identity_; }
  // Words for completion; all there are when there is no check beside them.
  const std::vector<std::string>& choices() const { return choices_; }

  // What is wrong with the value, with the nearest good one; nothing when it is good.
  std::optional<std::string> complaint(const nlohmann::json& value) const;
  // "one of a, b, c", "at least 1", or nothing: for help.
  std::string requirement() const;

  friend Rule anything();
  friend Rule one_of(std::vector<std::string> choices);
  friend Rule known_by(std::vector<std::string> choices, TextCheck check);
  friend Rule at_least(double least);
  friend Rule above(double least);
  friend Rule between(double least, double most);

 private:
  std::optional<std::string> text_complaint(const std::string& text) const;
  std::optional<std::string> number_complaint(double value) const;

  std::vector<std::string> choices_;
  TextCheck check_ = nullptr;
  std::optional<double> least_;
  std::optional<double> most_;
  bool least_excluded_ = false;
  bool most_excluded_ = false;
  bool identity_ = true;
};

Rule anything();
Rule one_of(std::vector<std::string> choices);
// The check decides; the choices are for completion and suggestions.
Rule known_by(std::vector<std::string> choices, TextCheck check);
Rule at_least(double least);
Rule above(double least);
Rule between(double least, double most);  // both included

// The choices with "auto" before them.
std::vector<std::string> or_auto(std::vector<std::string> choices);

std::optional<std::string> check_model(const std::string& text);
std::optional<std::string> check_data(const std::string& text);
std::optional<std::string> check_trainable(const std::string& text);

}  // namespace lockstep::record
