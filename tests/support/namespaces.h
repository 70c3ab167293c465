// Two network namespaces joined by a virtual cable: two hosts on one machine, with byte counters of the
// kernel's own at both ends.
#pragma once

#include <cstdint>
#include <string>

namespace lockstep::testing {

class NamespacePair {
 public:
  // Also removes what earlier test processes, now dead, have left behind.
  NamespacePair();
  ~NamespacePair();
  NamespacePair(const NamespacePair&) = delete;
  NamespacePair& operator=(const NamespacePair&) = delete;

  // Empty when both are there; else why they cannot be made here.
  const std::string& why_not() const { return why_not_; }
  // Moves the calling process, which must have one thread, into one of them.
  void enter(int side) const;
  // What to put before a command line that is to run in one of them, and the address of that side.
  std::string prefix(int side) const { return "ip netns exec " + name(side) + " "; }
  static std::string address(int side) { return side == 0 ? "10.213.7.1" : "10.213.7.2"; }
  // The interface inside, the same name on both sides.
  static const char* interface() { return "lockstep0"; }

 private:
  std::string name(int side) const;
  void make();

  std::string why_not_;
};

struct InterfaceBytes {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
};
// The kernel's counters of an interface of the calling thread's namespace.
InterfaceBytes interface_bytes(const std::string& interface);

}  // namespace lockstep::testing
