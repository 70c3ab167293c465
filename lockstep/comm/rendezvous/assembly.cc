#include "lockstep/comm/rendezvous/assembly.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/comm/rendezvous/own_host.h"

namespace lockstep::comm {
namespace {

std::string found_body(const std::optional<std::string>& value) {
  return ByteWriter().u8(value ? 1 : 0).text(value.value_or("")).take();
}

constexpr base::Nanoseconds kShortestPulse = std::chrono::milliseconds(100);
constexpr base::Nanoseconds kLongestPulse = std::chrono::seconds(1);
constexpr base::Nanoseconds kSlowAnswer = std::chrono::milliseconds(500);

}  // namespace

Assembly::Assembly(const RunServerOptions& options, Postman& postman,
                   std::function<void(const Verdict&)> on_verdict, base::TimePoint now)
    : options_(options),
      postman_(postman),
      on_verdict_(std::move(on_verdict)),
      join_until_(base::Deadline(now, options.join_timeout).at()),
      hellos_(static_cast<std::size_t>(options.world)),
      inquiry_({options.world, options.diagnosis_timeout, InquiryOptions{}.story_timeout, options.watched}),
      unanswered_since_(static_cast<std::size_t>(options.world)),
      pulse_(std::clamp(options.silence_timeout / 4, kShortestPulse, kLongestPulse)),
      pulses_due_(now + pulse_),
      pulses_felt_(now) {}

void Assembly::handle(int connection, const Frame& frame, base::TimePoint now) {
  const auto member = rank_of_.find(connection);
  if (member != rank_of_.end()) handle_member(connection, member->second, frame, now);
}

void Assembly::greet(int connection, const Hello& hello) {
  const std::string objection = objection_to(hello);
  if (!objection.empty() || verdict_) {
    postman_.send(connection, verdict_ && objection.empty()
                                  ? Frame{MessageType::verdict, 0, encode(*verdict_)}
                                  : Frame{MessageType::refused, 0, ByteWriter().text(objection).take()});
    return postman_.dismiss(connection);
  }
  rank_of_[connection] = hello.rank;
  hellos_[static_cast<std::size_t>(hello.rank)] = hello;
  inquiry_.arrived(hello.rank);
  ++arrived_;
  postman_.send(connection, {MessageType::accepted, 0, {}});
  if (!complete()) return;
  std::vector<std::string> hosts;
  for (const auto& arrived : hellos_) hosts.push_back(arrived->host);
  for (const auto& [other, rank] : rank_of_)
    postman_.send(other, {MessageType::welcome, 0, encode_welcome(hosts)});
}

// Why this rank cannot join; empty when it can.
std::string Assembly::objection_to(const Hello& hello) const {
  if (hello.world != options_.world)
    return fmt::format(
        "rank {} was started for a world of {}, but this run has a world of {}. Next step: give "
        "every rank the same WORLD_SIZE",
        hello.rank, hello.world, options_.world);
  if (hello.rank < 0 || hello.rank >= options_.world)
    return fmt::format("there is no rank {} in a world of {}", hello.rank, options_.world);
  const auto& earlier = hellos_[static_cast<std::size_t>(hello.rank)];
  if (!earlier) return {};
  return fmt::format(
      "rank {} has joined this run already, from host {}. Likely cause: two processes were "
      "started with the same RANK",
      hello.rank, host_name_of(earlier->host));
}

void Assembly::handle_member(int connection, int rank, const Frame& frame, base::TimePoint now) {
  unanswered_since_[static_cast<std::size_t>(rank)].reset();
  switch (frame.type) {
    case MessageType::set:
      return handle_set(connection, frame);
    case MessageType::get:
      return handle_get(connection, frame, now);
    case MessageType::add:
      return handle_add(connection, frame);
    case MessageType::position:
      if (everyone_asked_) inquiry_.answered(rank, decode_position(frame.body));
      return;
    case MessageType::goodbye:
      return say_goodbye(connection, rank, frame);
    case MessageType::failure:
      return inquiry_.reported(rank, decode_failure(frame.body), now);
    default:
      throw ProtocolError("a rank sent what only the server may send");
  }
}

void Assembly::handle_set(int connection, const Frame& frame) {
  ByteReader reader(frame.body);
  const std::string key = reader.text();
  const std::string value = reader.text();
  reader.finish();
  store(key, value);
  reply(connection, frame.request, {});
}

void Assembly::handle_get(int connection, const Frame& frame, base::TimePoint now) {
  ByteReader reader(frame.body);
  const std::string key = reader.text();
  const base::Nanoseconds patience(std::max<std::int64_t>(0, reader.i64()));
  reader.finish();
  if (const auto value = keys_.get(key)) return reply(connection, frame.request, found_body(value));
  keys_.wait(key, {connection, frame.request}, base::Deadline(now, patience).at());
}

void Assembly::handle_add(int connection, const Frame& frame) {
  ByteReader reader(frame.body);
  const std::string key = reader.text();
  const auto sum = keys_.counter_plus(key, reader.i64());
  reader.finish();
  if (sum) store(key, std::to_string(*sum));
  reply(connection, frame.request, ByteWriter().u8(sum ? 1 : 0).i64(sum.value_or(0)).take());
}

void Assembly::store(const std::string& key, const std::string& value) {
  for (const KeyTable::Waiter& waiter : keys_.set(key, value))
    reply(waiter.connection, waiter.request, found_body(value));
}

void Assembly::say_goodbye(int connection, int rank, const Frame& frame) {
  if (!inquiry_.has_finished(rank)) ++finished_;
  inquiry_.finished(rank);
  reply(connection, frame.request, {});
}

void Assembly::closed(int connection, base::TimePoint now) {
  keys_.forget(connection);
  const auto member = rank_of_.find(connection);
  if (member == rank_of_.end()) return;
  const int rank = member->second;
  rank_of_.erase(member);
  if (!verdict_ && !inquiry_.has_finished(rank)) inquiry_.lost(rank, now);
}

void Assembly::exited(int rank, const std::string& how, base::TimePoint now) {
  if (rank < 0 || rank >= options_.world || verdict_ || inquiry_.has_finished(rank)) return;
  inquiry_.ended(rank, how, now);
}

void Assembly::end_asked(const EndRequest& request, base::TimePoint now) {
  if (!verdict_) inquiry_.end_asked(request, now);
}

void Assembly::tick(base::TimePoint now) {
  for (const KeyTable::Waiter& waiter : keys_.expire(now))
    reply(waiter.connection, waiter.request, found_body(std::nullopt));
  if (verdict_) return;
  feel_pulses(now);
  if (inquiry_.begun() && !everyone_asked_) ask_everyone();
  const auto due = inquiry_.due_at();
  if (due && *due <= now) return conclude(decide(inquiry_.evidence()));
  if (!due && awaits_ranks() && join_until_ <= now) {
    std::vector<int> missing;
    for (int rank = 0; rank < options_.world; ++rank)
      if (!hellos_[static_cast<std::size_t>(rank)]) missing.push_back(rank);
    Verdict verdict = missing_ranks(missing, options_.world, options_.join_timeout);
    if (!turned_away_.empty()) verdict.message += " While it waited, " + turned_away_;
    conclude(std::move(verdict));
  }
}

void Assembly::ask_everyone() {
  everyone_asked_ = true;
  for (const auto& [connection, rank] : rank_of_) {
    if (inquiry_.has_finished(rank)) continue;
    inquiry_.asked(rank);
    postman_.send(connection, {MessageType::where_are_you, 0, {}});
  }
}

// Control threads answer also while their ranks compute: one that keeps silent belongs to a stopped process.
void Assembly::feel_pulses(base::TimePoint now) {
  if (options_.silence_timeout <= base::Nanoseconds(0)) return;
  // A server that was stopped itself has heard nobody.
  const bool was_away = now - pulses_felt_ > 2 * pulse_;
  pulses_felt_ = now;
  const bool due = pulses_due_ <= now;
  if (due) pulses_due_ = now + pulse_;
  for (const auto& [connection, rank] : rank_of_) {
    if (inquiry_.has_finished(rank)) continue;
    auto& since = unanswered_since_[static_cast<std::size_t>(rank)];
    if (since && was_away) since = now;
    if (since && now - *since >= options_.silence_timeout + kSlowAnswer)
      inquiry_.silent(rank, now - *since, now);
    if (since || !due) continue;
    since = now;
    postman_.send(connection, {MessageType::where_are_you, 0, {}});
  }
}

void Assembly::conclude(Verdict verdict) {
  verdict_ = std::move(verdict);
  if (on_verdict_) on_verdict_(*verdict_);
  for (const auto& [connection, rank] : rank_of_)
    postman_.send(connection, {MessageType::verdict, 0, encode(*verdict_)});
}

std::optional<base::TimePoint> Assembly::next_deadline() const {
  std::optional<base::TimePoint> next = keys_.next_deadline();
  const auto consider = [&next](std::optional<base::TimePoint> at) {
    if (at && (!next || *at < *next)) next = at;
  };
  if (verdict_) return next;
  consider(inquiry_.due_at());
  if (options_.silence_timeout > base::Nanoseconds(0)) consider(pulses_due_);
  if (awaits_ranks()) consider(join_until_);
  return next;
}

Standing Assembly::standing() const {
  const auto present = std::count_if(rank_of_.begin(), rank_of_.end(), [this](const auto& m) {
    return !inquiry_.has_finished(m.second) && !(verdict_ && inquiry_.kept_silent(m.second));
  });
  return {verdict_, finished_, static_cast<int>(present)};
}

void Assembly::reply(int connection, std::uint32_t request, std::string body) {
  postman_.send(connection, {MessageType::reply, request, std::move(body)});
}

}  // namespace lockstep::comm
