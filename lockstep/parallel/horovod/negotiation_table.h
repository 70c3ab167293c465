// Rank 0's book of requests: who has asked for which tensor. A tensor for which every rank has asked is
// ready, and the order in which tensors become so is the order of the responses.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lockstep/comm/element_type.h"

namespace lockstep::parallel::horovod {

// What the ranks know about a tensor from the start.
struct TensorFacts {
  std::string name;
  std::uint64_t bytes = 0;
  comm::ElementType type = comm::ElementType::f32;
};

// One rank has one tensor. As it is sent: two words.
struct Request {
  std::uint32_t tensor = 0;
  std::uint32_t type = 0;
  std::uint64_t bytes = 0;
};
static_assert(sizeof(Request) == 16);

// A tensor that some ranks have and some have not.
struct Waiting {
  std::size_t tensor = 0;
  std::vector<int> missing;  // the ranks that have not
  bool operator==(const Waiting&) const = default;
};

class NegotiationTable {
 public:
  // `tensors` outlives the table.
  NegotiationTable(std::span<const TensorFacts> tensors, int world);

  // Throws CommError (disagreement) when the rank's tensor is not what rank 0 has, or is asked for twice.
  void add(int rank, const Request& request);
  // The tensors that every rank has asked for since the last call.
  std::vector<std::size_t> take_ready();
  // In the order of the tensors.
  std::vector<Waiting> waiting() const;

 private:
  struct Entry {
    std::vector<bool> asked;  // by rank; empty: nobody has
    int count = 0;
  };
  std::vector<int> missing_of(const Entry& entry) const;

  std::span<const TensorFacts> tensors_;
  int world_;
  std::vector<Entry> entries_;
  std::vector<std::size_t> ready_;
};

}  // namespace lockstep::parallel::horovod
