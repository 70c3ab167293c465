// The words of a verdict: ranks and their positions.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "lockstep/base/text.h"
#include "lockstep/base/units.h"
#include "lockstep/comm/rendezvous/verdict.h"

namespace lockstep::comm {
namespace {

constexpr std::size_t kMostGroups = 8;  // of ranks in one message

// Runs of three and more neighbours become "4-7".
std::vector<std::string> rank_ranges(const std::vector<int>& ranks) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (last - i >= 2) {
      parts.push_back(fmt::format("{}-{}", ranks[i], ranks[last]));
    } else {
      for (std::size_t k = i; k <= last; ++k) parts.push_back(std::to_string(ranks[k]));
    }
    i = last + 1;
  }
  return parts;
}

std::string position_text(const RankEvidence& rank) {
  if (!rank.arrived) return "had not joined the run";
  if (rank.finished) return "had finished";
  if (!rank.position) return "did not answer";
  if (rank.position->running) return "was in " + operation_text(*rank.position);
  if (rank.position->description.empty()) return "had not begun any operation";
  return "was not in any operation (its last was " + operation_text(*rank.position) + ")";
}

// The number that `text` begins with behind one of the words.
std::optional<int> number_behind(const std::string& text, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words) {
    int number = 0;
    if (!text.starts_with(word)) continue;
    const char* first = text.data() + word.size();
    if (std::from_chars(first, text.data() + text.size(), number).ec == std::errc()) return number;
  }
  return std::nullopt;
}

}  // namespace

std::optional<int> culprit_in(const std::string& message) {
  // "rank 0 waited 5 s in ...; rank 1 has not arrived: ..." begins with the one that suffered.
  const std::size_t end = message.find(" has not arrived: ");
  const std::size_t absent = end == std::string::npos ? end : message.rfind("; ", end);
  if (absent != std::string::npos) return number_behind(message.substr(absent), {"; rank "});
  return number_behind(message, {"rank ", "ranks "});
}

std::string rank_list(const std::vector<int>& ranks) {
  std::vector<std::string> parts = rank_ranges(ranks);
  if (parts.empty()) return "no rank";
  if (ranks.size() == 1) return "rank " + parts[0];
  const std::string last = parts.back();
  parts.pop_back();
  return parts.empty() ? "ranks " + last : "ranks " + base::join(parts, ", ") + " and " + last;
}

std::string operation_text(const OperationStatus& position) {
  const std::size_t word_end = std::min(position.description.find(' '), position.description.size());
  return fmt::format("{} #{}{}", position.description.substr(0, word_end), position.sequence,
                     position.description.substr(word_end));
}

std::string positions_text(const Evidence& evidence, const std::vector<int>& without) {
  std::vector<std::pair<std::string, std::vector<int>>> groups;
  for (int rank = 0; rank < static_cast<int>(evidence.ranks.size()); ++rank) {
    if (std::find(without.begin(), without.end(), rank) != without.end()) continue;
    const std::string where = position_text(evidence.ranks[static_cast<std::size_t>(rank)]);
    const auto same =
        std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == where; });
    if (same != groups.end()) {
      same->second.push_back(rank);
    } else {
      groups.push_back({where, {rank}});
    }
  }
  std::vector<std::string> parts;
  for (const auto& [where, ranks] : groups) {
    const bool plural = ranks.size() > 1 && where.starts_with("was ");
    parts.push_back(rank_list(ranks) + " " + (plural ? "were " + where.substr(4) : where));
  }
  if (parts.size() > kMostGroups) {
    parts.resize(kMostGroups);
    parts.push_back("and so on");
  }
  return base::join(parts, ", ");
}

}  // namespace lockstep::comm
