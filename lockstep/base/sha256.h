// SHA-256 (FIPS 180-4): the identity of a spec, the checksum of a file; and HMAC with it, by which ranks
// prove that they hold their run's key.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace lockstep::base {

// Fed in pieces of any length; one of the finishes may be called, once.
class Sha256 {
 public:
  static constexpr std::size_t kBlockBytes = 64;

  void update(std::span<const std::uint8_t> bytes);
  void update(std::string_view text);
  std::string finish_bytes();  // 32 of them
  std::string finish_hex();

 private:
  void compress(const std::uint8_t* block);
  void pad();

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, kBlockBytes> block_{};
  std::size_t filled_bytes_ = 0;
  std::uint64_t total_bytes_ = 0;
};

// Two lower-case digits a byte.
std::string hexadecimal(std::string_view bytes);

// 64 hexadecimal digits.
std::string sha256_hex(std::string_view text);

// The 32 bytes of HMAC-SHA-256 (RFC 2104): who does not hold the key can neither make nor foresee them.
std::string hmac_sha256(std::string_view key, std::string_view message);

}  // namespace lockstep::base
