#include "lockstep/report/words/words.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace lockstep::report {
namespace {

// More than that nobody reads: the tables hold the rest.
constexpr std::size_t kMostSentences = 8;
constexpr std::size_t kMostUnasked = 24;
constexpr std::size_t kAtLeastEach = 2;  // of each topic, before one topic takes all the room

constexpr std::array kTopics = {Topic::speed,   Topic::ways,       Topic::batch,    Topic::job,
                                Topic::costs,   Topic::bytes,      Topic::memory,   Topic::quality,
                                Topic::targets, Topic::projection, Topic::published};

Sentences sentences_of(Topic topic, const Subject& subject) {
  switch (topic) {
    case Topic::speed:
      return speed_words(subject);
    case Topic::ways:
      return way_words(subject);
    case Topic::batch:
      return batch_words(subject);
    case Topic::job:
      return job_words(subject);
    case Topic::costs:
      return cost_words(subject);
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

// How many sentences of each topic have room: at least a few of each, then those of the first topics.
std::vector<std::size_t> shares(const std::vector<Sentences>& topics, std::size_t room) {
  std::vector<std::size_t> taken(topics.size(), 0);
  for (const std::size_t most : {kAtLeastEach, room})
    for (std::size_t i = 0; i < topics.size(); ++i)
      while (taken[i] < std::min(most, topics[i].size()) && room > 0) {
        ++taken[i];
        --room;
      }
  return taken;
}

// Each sentence is said once. So is advice that several findings share.
class Teller {
 public:
  explicit Teller(const Grid& grid) : grid_(grid) {}

  Paragraph tell(const std::string& question, std::vector<Sentences> topics, std::size_t room) {
    for (Sentences& topic : topics)
      std::erase_if(topic, [&](const Sentence& one) { return !said_.insert(one.text).second; });
    const std::vector<std::size_t> taken = shares(topics, room);
    Paragraph paragraph{question, {}};
    std::size_t dropped = 0;
    for (std::size_t i = 0; i < topics.size(); ++i) {
      dropped += topics[i].size() - taken[i];
      topics[i].resize(taken[i]);
      append(paragraph.sentences, std::move(topics[i]));
    }
    if (dropped > 0) paragraph.sentences.push_back({"more", "The tables show the rest.", {}});
    if (paragraph.sentences.empty()) paragraph.sentences.push_back(no_figures_sentence(grid_));
    return paragraph;
  }

 private:
  const Grid& grid_;
  std::set<std::string> said_;
};

// What goes to one question, by topic in the order in which it asks; taken out of `told`.
std::vector<Sentences> topics_for(std::size_t question, const Subject& subject,
                                  std::map<Topic, Sentences>& told) {
  const std::vector<std::string>& questions = subject.study->questions;
  std::vector<Sentences> topics;
  for (const Topic topic : topics_of(questions[question])) {
    Sentences ours, others;
    for (Sentence& sentence : told[topic])
      (question_for(sentence, topic, subject.grid, questions) == question ? ours : others)
          .push_back(std::move(sentence));
    order_for(questions[question], subject.grid, ours);
    topics.push_back(std::move(ours));
    told[topic] = std::move(others);
  }
  return topics;
}

// What nobody asked for. Costs along axes are for who asks: the tables hold them.
std::vector<Sentences> unasked(bool questions, std::map<Topic, Sentences>& told) {
  std::vector<Sentences> rest;
  for (const Topic topic : kTopics)
    if (!questions || topic != Topic::costs) rest.push_back(std::move(told[topic]));
  return rest;
}

}  // namespace

std::vector<Paragraph> words_of(const Subject& subject) {
  std::map<Topic, Sentences> told;
  for (const Topic topic : kTopics) told[topic] = sentences_of(topic, subject);
  Teller teller(subject.grid);
  std::vector<Paragraph> paragraphs;
  const std::size_t questions = subject.study == nullptr ? 0 : subject.study->questions.size();
  for (std::size_t i = 0; i < questions; ++i)
    paragraphs.push_back(
        teller.tell(subject.study->questions[i], topics_for(i, subject, told), kMostSentences));
  Paragraph rest =
      teller.tell("", unasked(questions > 0, told), questions > 0 ? kMostSentences : kMostUnasked);
  if (questions == 0) rest.question = "What do the figures say?";
  if (questions == 0 || rest.sentences.front().finding != "no-figures") paragraphs.push_back(std::move(rest));
  return paragraphs;
}

void Hedge::add(const Number& one, const Number& other) {
  unknown_ = unknown_ || !clearly_differ(one, other);
  repeated_ = repeated_ || one.repeats > 1 || other.repeats > 1;
}

std::string_view Hedge::text() const {
  if (!unknown_) return "";
  return repeated_ ? " (not everything was repeated: how much is noise is not known)"
                   : " (one run each: how much is noise is not known)";
}

std::string_view hedge_of(const Number& one, const Number& other) {
  Hedge hedge;
  hedge.add(one, other);
  return hedge.text();
}

void append(Sentences& sentences, Sentences more) {
  for (Sentence& sentence : more) sentences.push_back(std::move(sentence));
}

Evidence evidence(std::string field, const GridCell& cell, double value, std::string_view unit) {
  return {std::move(field), cell.label, with_unit(value, unit)};
}

Evidence evidence(std::string field, const GridCell& cell, const Number& number, std::string_view unit) {
  Evidence result = evidence(std::move(field), cell, number.value, unit);
  if (number.interval) result.value += " " + with_unit(*number.interval, unit);
  return result;
}

}  // namespace lockstep::report
