#include "lockstep/report/formats/content_policy.h"

#include <fmt/format.h>

#include <cstdint>

#include "lockstep/base/sha256.h"

namespace lockstep::report {
namespace {

unsigned digit_of(char hex) {
  return static_cast<unsigned>(hex <= '9' ? hex - '0' : hex - 'a' + 10);
}

// Base64 of bytes given as hexadecimal digits: three digits are two letters.
std::string base64_of_hex(std::string hex) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::size_t bytes = hex.size() / 2;
  while (hex.size() % 3 != 0) hex += '0';
  std::string text;
  for (std::size_t at = 0; at < hex.size(); at += 3) {
    const unsigned bits = digit_of(hex[at]) << 8U | digit_of(hex[at + 1]) << 4U | digit_of(hex[at + 2]);
    text += kLetters[bits >> 6U];
    text += kLetters[bits & 63U];
  }
  text.resize((bytes * 8 + 5) / 6);
  while (text.size() % 4 != 0) text += '=';
  return text;
}

}  // namespace

std::string policy_hash(std::string_view text) {
  return fmt::format("'sha256-{}'", base64_of_hex(base::sha256_hex(text)));
}

std::string content_policy(std::string_view style, std::string_view script) {
  return fmt::format("default-src 'none'; style-src {}; script-src {}; base-uri 'none'; form-action 'none'",
                     policy_hash(style), policy_hash(script));
}

}  // namespace lockstep::report
