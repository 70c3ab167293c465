#include "lockstep/report/words/words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>

namespace lockstep::report {
namespace {

struct TopicWords {
  Topic topic;
  std::vector<std::string_view> words;
};

const std::vector<TopicWords>& topic_words() {
  static const std::vector<TopicWords> kWords = {
      {Topic::speed, {"fast",  "slow",   "time",   "speed",  "scal",   "throughput", "gain", "pay",
                      "worth", "second", "minute", "knee",   "batch",  "communicat", "tcp",  "nccl",
                      "gloo",  "wait",   "job",    "optimi", "librar", "vanilla"}},
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

// Where the workers do not vary, what the other axes changed is the answer, and comes first.
Sentences all_of_speed(const Subject& subject) {
  const GridAxis* workers = subject.grid.find_axis("workers");
  const bool scales = workers != nullptr && workers->values.size() > 1;
  Sentences all = scales ? speed_words(subject) : axis_words(subject);
  for (const auto& more : {batch_words(subject), scales ? axis_words(subject) : speed_words(subject)})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

Sentences sentences_of(Topic topic, const Subject& subject) {
  switch (topic) {
    case Topic::speed:
      return all_of_speed(subject);
    case Topic::bytes:
      return bytes_words(subject);
    case Topic::memory:
      return memory_words(subject);
    case Topic::quality:
      return quality_words(subject);
    case Topic::targets:
      return target_words(subject);
    case Topic::projection:
      return projection_words(subject);
    case Topic::published:
      return published_words(subject);
  }
  return {};
}

constexpr std::array kTopics = {Topic::speed,   Topic::bytes,      Topic::memory,   Topic::quality,
                                Topic::targets, Topic::projection, Topic::published};

using Told = std::map<Topic, Sentences>;

// Each sentence is said once: where the first question asks for it. So is advice that several findings share.
class Teller {
 public:
  explicit Teller(Told told) : told_(std::move(told)) {}

  Paragraph answer(const std::string& question) {
    Paragraph paragraph{question, {}};
    for (const Topic topic : topics_of(question)) tell(topic, paragraph);
    return paragraph;
  }
  Paragraph rest() {
    Paragraph paragraph;
    for (const Topic topic : kTopics) tell(topic, paragraph);
    return paragraph;
  }

 private:
  void tell(Topic topic, Paragraph& paragraph) {
    for (Sentence& sentence : told_[topic])
      if (said_.insert(sentence.text).second) paragraph.sentences.push_back(std::move(sentence));
    told_[topic].clear();
  }

  Told told_;
  std::set<std::string> said_;
};

}  // namespace

std::vector<Topic> topics_of(const std::string& question) {
  const std::string text = lower(question);
  std::multimap<std::size_t, Topic> asked;  // by where in the question
  for (const TopicWords& entry : topic_words()) {
    std::size_t first = std::string::npos;
    for (const std::string_view word : entry.words) first = std::min(first, text.find(word));
    if (first != std::string::npos) asked.emplace(first, entry.topic);
  }
  if (asked.empty()) return {Topic::speed, Topic::quality};
  std::vector<Topic> topics;
  for (const auto& [place, topic] : asked) topics.push_back(topic);
  return topics;
}

std::vector<Paragraph> words_of(const Subject& subject) {
  Told told;
  for (const Topic topic : kTopics) told[topic] = sentences_of(topic, subject);
  Teller teller(std::move(told));
  std::vector<Paragraph> paragraphs;
  if (subject.study != nullptr)
    for (const std::string& question : subject.study->questions)
      paragraphs.push_back(teller.answer(question));
  for (Paragraph& paragraph : paragraphs)
    if (paragraph.sentences.empty())
      paragraph.sentences.push_back(
          {"no-figures", "The records say nothing further about this; see the tables and charts.", {}});
  Paragraph rest = teller.rest();
  if (paragraphs.empty()) rest.question = "What do the figures say?";
  if (!rest.sentences.empty()) paragraphs.push_back(std::move(rest));
  return paragraphs;
}

Evidence evidence(std::string field, const GridCell& cell, double value, std::string_view unit) {
  return {std::move(field), cell.label, with_unit(value, unit)};
}

Evidence evidence(std::string field, const GridCell& cell, const Number& number, std::string_view unit) {
  Evidence result = evidence(std::move(field), cell, number.value, unit);
  if (number.interval)
    result.value +=
        " [" + with_unit(number.interval->low, unit) + ", " + with_unit(number.interval->high, unit) + "]";
  return result;
}

}  // namespace lockstep::report
