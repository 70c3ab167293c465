// The messages between a rank under mpirun and the launcher, and the names of the pipes that carry them.
#include <fmt/format.h>

#include <sstream>

#include "lockstep/launch/rank_output.h"

namespace lockstep::launch {

std::filesystem::path output_pipe(const std::filesystem::path& directory, int rank) {
  return directory / fmt::format("rank{}.out", rank);
}

std::filesystem::path error_pipe(const std::filesystem::path& directory, int rank) {
  return directory / fmt::format("rank{}.err", rank);
}

std::filesystem::path word_pipe(const std::filesystem::path& directory) {
  return directory / "word";
}

std::string encode(const RankWord& word) {
  const char* kind = word.kind == RankWord::Kind::start ? "start" : "exit";
  return fmt::format("{} {} {}\n", kind, word.rank, word.number);
}

std::optional<RankWord> decode_rank_word(std::string_view line) {
  std::istringstream stream{std::string(line)};
  std::string kind;
  RankWord word;
  if (!(stream >> kind >> word.rank >> word.number)) return std::nullopt;
  if (kind != "start" && kind != "exit") return std::nullopt;
  word.kind = kind == "start" ? RankWord::Kind::start : RankWord::Kind::exit;
  return word;
}

}  // namespace lockstep::launch
