// The bodies of the protocol's larger messages.
#pragma once

#include <string>
#include <string_view>

#include "lockstep/comm/rendezvous/protocol.h"
#include "lockstep/comm/rendezvous/verdict.h"

namespace lockstep::comm {

struct Hello {
  std::uint32_t version = kProtocolVersion;
  int rank = 0;
  int world = 1;
  std::string host;
};

std::string encode(const Hello& hello);
std::string encode(const OperationStatus& position);
std::string encode(const FailureReport& report);
std::string encode(const Verdict& verdict);

// Each throws ProtocolError for a body that is not whole or holds a value out of range.
Hello decode_hello(std::string_view body);
OperationStatus decode_position(std::string_view body);
FailureReport decode_failure(std::string_view body);
Verdict decode_verdict(std::string_view body);

}  // namespace lockstep::comm
