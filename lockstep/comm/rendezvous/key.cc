#include "lockstep/comm/rendezvous/key.h"

#include <fmt/format.h>
#include <sys/random.h>

#include "lockstep/base/error.h"
#include "lockstep/base/sha256.h"
#include "lockstep/comm/rendezvous/protocol.h"

namespace lockstep::comm {
namespace {

constexpr std::size_t kFewestCharacters = 32;

}  // namespace

std::string make_nonce() {
  std::string bytes(kNonceBytes, '\0');
  // Up to 256 bytes getrandom() gives whole or not at all.
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw base::StoreError("the system gives no random bytes: " + base::errno_text());
  return bytes;
}

std::string make_key() {
  return base::hexadecimal(make_nonce());
}

void check_key(std::string_view key) {
  if (key.size() < kFewestCharacters)
    throw base::ConfigError(fmt::format(
        "{} has {} characters, and a key that nobody guesses has at least {}. Next step: make one with "
        "`openssl rand -hex 32`, and give it to every rank of the run",
        kKeyVariable, key.size(), kFewestCharacters));
}

std::string prove(std::string_view key, std::string_view role, const std::vector<std::string_view>& said) {
  ByteWriter message;  // it writes lengths too, so that no two lists of pieces read the same
  message.text("lockstep").text(role);
  for (const std::string_view piece : said) message.text(piece);
  return base::hmac_sha256(key, message.take());
}

bool equal_in_constant_time(std::string_view one, std::string_view other) {
  if (one.size() != other.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < one.size(); ++i)
    difference |= static_cast<unsigned char>(one[i]) ^ static_cast<unsigned char>(other[i]);
  return difference == 0;
}

}  // namespace lockstep::comm
