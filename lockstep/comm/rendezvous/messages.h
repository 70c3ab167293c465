// The bodies of the protocol's larger messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lockstep/comm/rendezvous/protocol.h"
#include "lockstep/comm/rendezvous/verdict.h"

namespace lockstep::comm {

// What a rank claims to be; part of what it proves in the handshake.
struct Hello {
  int rank = 0;
  int world = 1;
  std::string host;
};

std::string encode(const Hello& hello);
std::string encode(const OperationStatus& position);
std::string encode(const FailureReport& report);
std::string encode(const Verdict& verdict);
std::string encode_welcome(const std::vector<std::string>& hosts);

// Each throws ProtocolError for a body that is not whole or holds a value out of range.
Hello decode_hello(std::string_view body);
OperationStatus decode_position(std::string_view body);
FailureReport decode_failure(std::string_view body);
Verdict decode_verdict(std::string_view body);
std::vector<std::string> decode_welcome(std::string_view body);

}  // namespace lockstep::comm
