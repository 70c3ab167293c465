// Which topic answers which question, told from the words of the questions.
#include <algorithm>
#include <cctype>

#include "lockstep/report/words/words.h"

namespace lockstep::report {
namespace {

struct TopicWords {
  Topic topic;
  std::vector<std::string_view> words;  // beginnings of words
};

const std::vector<TopicWords>& topic_words() {
  static const std::vector<TopicWords> kWords = {
      {Topic::speed,
       {"fast", "slow", "time", "speed", "scal", "throughput", "gain", "seconds", "wait", "workers"}},
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
  for (const std::string_view other : {"shared memory", "batch-norm", "batch norm", "all workers"})
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

bool contains(const std::vector<Topic>& topics, Topic topic) {
  return std::find(topics.begin(), topics.end(), topic) != topics.end();
}

// Who asks how fast it is also wants to know of the ways to be faster and of the whole job.
void add_implied(std::vector<Topic>& topics) {
  if (!contains(topics, Topic::speed)) return;
  for (const Topic implied : {Topic::ways, Topic::job})
    if (!contains(topics, implied)) topics.push_back(implied);
}

}  // namespace

std::vector<Topic> topics_of(const std::string& question) {
  const std::string text = without_other_senses(lower(question));
  std::multimap<std::size_t, Topic> asked;  // by where in the question
  for (const TopicWords& entry : topic_words())
    if (const std::size_t place = first_place(text, entry); place != std::string::npos)
      asked.emplace(place, entry.topic);
  std::vector<Topic> topics;
  for (const auto& [place, topic] : asked) topics.push_back(topic);
  if (topics.empty()) topics = {Topic::speed, Topic::quality};
  add_implied(topics);
  return topics;
}

std::map<Topic, std::size_t> answers_of(const std::vector<std::string>& questions) {
  std::map<Topic, std::pair<std::size_t, std::size_t>> best;  // how early it is asked for, and by which
  for (std::size_t question = 0; question < questions.size(); ++question) {
    const std::vector<Topic> topics = topics_of(questions[question]);
    for (std::size_t place = 0; place < topics.size(); ++place) {
      const auto known = best.find(topics[place]);
      if (known == best.end() || place < known->second.first) best[topics[place]] = {place, question};
    }
  }
  std::map<Topic, std::size_t> answers;
  for (const auto& [topic, where] : best) answers[topic] = where.second;
  return answers;
}

}  // namespace lockstep::report
