// Setters for the usual kinds of values. Each keeps a reference: the target must outlive the flag.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/base/clock.h"
#include "lockstep/cli/flag.h"

namespace lockstep::cli {

Setter turn_on(bool& target);
Setter text(std::string& target);
Setter text(std::optional<std::string>& target);
Setter path(std::filesystem::path& target);
// What a whole number may be.
struct WholeRange {
  WholeRange(int from, int to = std::numeric_limits<int>::max()) : least(from), most(to) {}
  int least;
  int most;
};
Setter whole_number(int& target, WholeRange range);
Setter whole_number(std::optional<int>& target, WholeRange range);
Setter port(std::optional<int>& target);
Setter zero_or_one(bool& target);
Setter number(double& target);
Setter bytes(std::uint64_t& target);
Setter bytes_per_second(std::optional<double>& target);
Setter duration(base::Nanoseconds& target);
// One of the known words, with a suggestion for a misspelt one.
Setter one_of(std::string& target, std::vector<std::string> known);
// Words with commas between them; given twice, the words add up.
Setter words(std::vector<std::string>& target);

// Throws UsageError "there is no <kind> 'x'. Did you mean ...? There are: ..." unless the word is known.
void require_known(const std::string& kind, const std::string& word, const std::vector<std::string>& known);

}  // namespace lockstep::cli
