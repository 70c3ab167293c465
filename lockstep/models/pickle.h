// A reader for Python's pickles that builds a tree and runs nothing: a call in the pickle becomes a node that
// says which callable was meant and with what. Enough for the state_dict of torch.save. Torch-free.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace lockstep::models {

struct PickleNode {
  enum class Kind { none, boolean, integer, real, text, global, sequence, dict, call, persistent, mark };
  Kind kind = Kind::none;
  std::int64_t integer = 0;
  double real = 0.0;
  std::string text = {};                // text; a global as "module name"
  std::vector<PickleNode*> items = {};  // sequence; call: callable, arguments; persistent: its id
  std::vector<std::pair<PickleNode*, PickleNode*>> entries =
      {};  // dict, or what was put into a call's result
};

// Owns the nodes of one pickle (they may refer to each other in circles).
class Pickle {
 public:
  // Throws DataError that names the source for a truncated or unknown pickle.
  Pickle(std::span<const std::byte> bytes, const std::string& source);
  const PickleNode& root() const { return *root_; }

 private:
  class Reader;
  std::deque<PickleNode> nodes_;
  PickleNode* root_ = nullptr;
};

}  // namespace lockstep::models
