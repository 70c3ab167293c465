#include "lockstep/comm/rendezvous/key_table.h"

#include <algorithm>
#include <charconv>

namespace lockstep::comm {

template <class Condition>
std::vector<KeyTable::Waiter> KeyTable::take_where(Condition condition) {
  std::vector<Waiter> taken;
  std::erase_if(waiting_, [&](const Waiting& w) {
    const bool take = condition(w);
    if (take) taken.push_back(w.waiter);
    return take;
  });
  return taken;
}

std::vector<KeyTable::Waiter> KeyTable::set(const std::string& key, std::string value) {
  values_[key] = std::move(value);
  return take_where([&](const Waiting& w) { return w.key == key; });
}

std::optional<std::string> KeyTable::get(const std::string& key) const {
  const auto found = values_.find(key);
  if (found == values_.end()) return std::nullopt;
  return found->second;
}

std::optional<std::int64_t> KeyTable::counter_plus(const std::string& key, std::int64_t amount) const {
  // A counter is kept as text, so that get() can read it too.
  const std::string text = get(key).value_or("0");
  std::int64_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || rest != text.data() + text.size()) return std::nullopt;
  std::int64_t sum = 0;
  if (__builtin_add_overflow(value, amount, &sum)) return std::nullopt;
  return sum;
}

void KeyTable::wait(const std::string& key, Waiter waiter, base::TimePoint until) {
  waiting_.push_back({key, waiter, until});
}

std::vector<KeyTable::Waiter> KeyTable::expire(base::TimePoint now) {
  return take_where([now](const Waiting& w) { return w.until <= now; });
}

void KeyTable::forget(int connection) {
  std::erase_if(waiting_, [connection](const Waiting& w) { return w.waiter.connection == connection; });
}

std::optional<base::TimePoint> KeyTable::next_deadline() const {
  const auto first = std::min_element(waiting_.begin(), waiting_.end(),
                                      [](const Waiting& a, const Waiting& b) { return a.until < b.until; });
  if (first == waiting_.end()) return std::nullopt;
  return first->until;
}

}  // namespace lockstep::comm
