// SHA-256 (FIPS 180-4): the identity of a spec, the checksum of a file, the token of a run.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace lockstep::base {

// Fed in pieces of any length; finish() may be called once.
class Sha256 {
 public:
  void update(std::span<const std::uint8_t> bytes);
  void update(std::string_view text);
  std::string finish_hex();

 private:
  static constexpr std::size_t kBlockBytes = 64;

  void compress(const std::uint8_t* block);
  void pad();

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, kBlockBytes> block_{};
  std::size_t filled_bytes_ = 0;
  std::uint64_t total_bytes_ = 0;
};

// 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view text);

}  // namespace lockstep::base
