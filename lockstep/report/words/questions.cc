// Which topic answers which question, told from the words of the questions.
#include <algorithm>
#include <cctype>
#include <map>
#include <tuple>

#include "lockstep/report/words/words.h"

namespace lockstep::report {
namespace {

struct TopicWords {
  Topic topic;
  std::vector<std::string_view> words;  // beginnings of words
};

const std::vector<TopicWords>& topic_words() {
  static const std::vector<TopicWords> kWords = {
      {Topic::speed, {"fast", "slow", "time", "speed", "scal", "throughput", "gain", "seconds", "wait"}},
      {Topic::ways, {"tcp", "nccl", "gloo", "mpi", "optimi", "librar", "vanilla", "strateg", "backend"}},
      {Topic::batch, {"batch", "knee", "pay", "larger one"}},
      {Topic::job, {"job", "sooner", "minute", "launch"}},
      {Topic::costs, {"comput", "communicat"}},
      {Topic::bytes, {"byte", "transport", "message", "sent", "move", "wire", "payload", "buffer"}},
      {Topic::memory, {"memory", "fit", "cap"}},
      {Topic::quality,
       {"loss", "accura", "psnr", "quality", "converge", "diverge", "learn", "shuffle", "sampler", "mse"}},
      {Topic::targets, {"epochs", "until", "target", "below"}},
      {Topic::projection, {"project", "next", "more workers", "twice", "scal"}},
  };
  return kWords;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char letter) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  });
  return text;
}

// What a question about a link calls memory is no question about memory, and a batch norm is no batch.
std::string without_other_senses(std::string text) {
  for (const std::string_view other :
       {"shared memory", "batch-norm", "batch norm", "linear scaling", "scaling of the learning"})
    for (std::size_t at = text.find(other); at != std::string::npos; at = text.find(other))
      text.replace(at, other.size(), std::string(other.size(), '.'));
  return text;
}

// Where a word of the text begins with that; npos where none does.
std::size_t find_beginning(const std::string& text, std::string_view beginning) {
  for (std::size_t at = text.find(beginning); at != std::string::npos; at = text.find(beginning, at + 1))
    if (at == 0 || !std::isalpha(static_cast<unsigned char>(text[at - 1]))) return at;
  return std::string::npos;
}

std::size_t first_place(const std::string& text, const TopicWords& entry) {
  std::size_t first = std::string::npos;
  for (const std::string_view word : entry.words) first = std::min(first, find_beginning(text, word));
  return first;
}

constexpr std::size_t kImplied = 100;  // after all that a question asks for in words

struct Asked {
  Topic topic;
  std::size_t place;
};

bool contains(const std::vector<Asked>& topics, Topic topic) {
  return std::any_of(topics.begin(), topics.end(), [&](const Asked& one) { return one.topic == topic; });
}

void imply(std::vector<Asked>& topics, Topic topic) {
  if (!contains(topics, topic)) topics.push_back({topic, kImplied});
}

std::vector<Asked> asked_in(const std::string& question) {
  const std::string text = without_other_senses(lower(question));
  std::multimap<std::size_t, Topic> found;  // by where in the question
  for (const TopicWords& entry : topic_words())
    if (const std::size_t place = first_place(text, entry); place != std::string::npos)
      found.emplace(place, entry.topic);
  std::vector<Asked> topics;
  for (const auto& [place, topic] : found) topics.push_back({topic, topics.size()});
  // Nearly every question speaks of workers; what they bring comes after what it asks for.
  if (topics.empty() || find_beginning(text, "workers") != std::string::npos) imply(topics, Topic::speed);
  if (topics.size() == 1 && found.empty()) imply(topics, Topic::quality);
  // Who asks how fast it is also wants to know of the ways to be faster and of the whole job.
  if (contains(topics, Topic::speed))
    for (const Topic implied : {Topic::ways, Topic::job}) imply(topics, implied);
  return topics;
}

bool is_whole_word(const std::string& text, const std::string& word) {
  const auto letter = [&](std::size_t at) {
    return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at]));
  };
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    if ((at == 0 || !letter(at - 1)) && !letter(at + word.size())) return true;
  return false;
}

// "axis-rate-train_loss": the axis that a sentence compares; null where it compares none.
const GridAxis* axis_of(const Sentence& sentence, const Grid& grid) {
  for (const GridAxis& axis : grid.axes) {
    const std::string start = "axis-" + axis.name;
    if (sentence.finding == start || sentence.finding.starts_with(start + "-")) return &axis;
  }
  return nullptr;
}

// Whether the question names the axis or one of its values.
bool mentions(const std::string& question, const GridAxis& axis) {
  const std::string text = lower(question);
  if (find_beginning(text, axis.name) != std::string::npos) return true;
  return std::any_of(axis.values.begin(), axis.values.end(),
                     [&](const std::string& value) { return is_whole_word(text, lower(value)); });
}

struct Place {
  bool unmentioned = true;
  std::size_t place = 0;
  std::size_t question = 0;
  bool operator<(const Place& other) const {
    return std::tie(unmentioned, place, question) < std::tie(other.unmentioned, other.place, other.question);
  }
};

}  // namespace

std::vector<Topic> topics_of(const std::string& question) {
  std::vector<Topic> topics;
  for (const Asked& asked : asked_in(question)) topics.push_back(asked.topic);
  return topics;
}

std::optional<std::size_t> question_for(const Sentence& sentence, Topic topic, const Grid& grid,
                                        const std::vector<std::string>& questions) {
  const GridAxis* axis = axis_of(sentence, grid);
  std::optional<Place> best;
  for (std::size_t i = 0; i < questions.size(); ++i)
    for (const Asked& asked : asked_in(questions[i])) {
      if (asked.topic != topic) continue;
      const Place place{axis == nullptr || !mentions(questions[i], *axis), asked.place, i};
      if (!best || place < *best) best = place;
    }
  return best ? std::optional(best->question) : std::nullopt;
}

void order_for(const std::string& question, const Grid& grid, Sentences& sentences) {
  const auto is_named = [&](const Sentence& sentence) {
    const GridAxis* axis = axis_of(sentence, grid);
    return axis != nullptr && mentions(question, *axis);
  };
  if (std::none_of(sentences.begin(), sentences.end(), is_named)) return;
  const auto rank = [&](const Sentence& sentence) {
    return axis_of(sentence, grid) != nullptr && !is_named(sentence) ? 1 : 0;
  };
  std::stable_sort(sentences.begin(), sentences.end(),
                   [&](const Sentence& one, const Sentence& other) { return rank(one) < rank(other); });
}

}  // namespace lockstep::report
