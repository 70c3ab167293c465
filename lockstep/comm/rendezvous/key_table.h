// The store's keys, and who waits for which. Times are handed in.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "lockstep/base/clock.h"

namespace lockstep::comm {

class KeyTable {
 public:
  // Who waits: a connection's request.
  struct Waiter {
    int connection = -1;
    std::uint32_t request = 0;
  };

  // Sets the key and returns who waited for it.
  std::vector<Waiter> set(const std::string& key, std::string value);
  std::optional<std::string> get(const std::string& key) const;
  // What a counter under this key would be with `amount` added; nothing when the key holds something else.
  std::optional<std::int64_t> counter_plus(const std::string& key, std::int64_t amount) const;

  void wait(const std::string& key, Waiter waiter, base::TimePoint until);
  // Takes out those who have waited long enough.
  std::vector<Waiter> expire(base::TimePoint now);
  void forget(int connection);
  std::optional<base::TimePoint> next_deadline() const;

 private:
  struct Waiting {
    std::string key;
    Waiter waiter;
    base::TimePoint until;
  };
  template <class Condition>
  std::vector<Waiter> take_where(Condition condition);

  std::unordered_map<std::string, std::string> values_;
  std::list<Waiting> waiting_;
};

}  // namespace lockstep::comm
