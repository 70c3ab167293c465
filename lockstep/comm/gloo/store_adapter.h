// Our store as gloo wants to see it.
#pragma once

#include <gloo/rendezvous/store.h>

#include <string>
#include <vector>

#include "lockstep/comm/rendezvous/store.h"

namespace lockstep::comm {

class StoreAdapter : public gloo::rendezvous::Store {
 public:
  StoreAdapter(comm::Store& store, base::Deadline deadline) : store_(store), deadline_(deadline) {}

  void set(const std::string& key, const std::vector<char>& data) override {
    store_.set(key, std::string(data.begin(), data.end()));
  }
  std::vector<char> get(const std::string& key) override {
    const std::string value = store_.get(key, deadline_);
    return {value.begin(), value.end()};
  }
  void wait(const std::vector<std::string>& keys) override {
    for (const std::string& key : keys) store_.get(key, deadline_);
  }
  void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds&) override { wait(keys); }

 private:
  comm::Store& store_;
  base::Deadline deadline_;
};

}  // namespace lockstep::comm
