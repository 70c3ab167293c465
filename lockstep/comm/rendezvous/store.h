// The store through which ranks find each other: small values under names, served by the launcher or by rank
// 0.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "lockstep/base/clock.h"

namespace lockstep::comm {

class Store {
 public:
  virtual ~Store() = default;
  virtual void set(const std::string& key, const std::string& value) = 0;
  // Waits until somebody has set the key. Throws CommError (timed_out) that names the key at the deadline.
  virtual std::string get(const std::string& key, base::Deadline deadline) = 0;
  // Adds to a counter that starts at 0 and returns the new value.
  virtual std::int64_t add(const std::string& key, std::int64_t amount) = 0;
};

// A view of another store in which every key carries a prefix.
class PrefixStore : public Store {
 public:
  PrefixStore(Store& store, std::string prefix) : store_(store), prefix_(std::move(prefix) + "/") {}
  void set(const std::string& key, const std::string& value) override { store_.set(prefix_ + key, value); }
  std::string get(const std::string& key, base::Deadline deadline) override {
    return store_.get(prefix_ + key, deadline);
  }
  std::int64_t add(const std::string& key, std::int64_t amount) override {
    return store_.add(prefix_ + key, amount);
  }

 private:
  Store& store_;
  std::string prefix_;
};

}  // namespace lockstep::comm
