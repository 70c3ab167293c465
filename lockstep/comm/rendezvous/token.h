// A run's token: 128 bits, as 32 hexadecimal digits, that its ranks share and nobody else knows. A launcher
// makes a random one and hands it to its ranks. Ranks that no launcher of ours started derive the same one
// from a secret that only their user can read and from the place where they meet.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep::comm {

inline constexpr std::size_t kTokenBytes = 16;

// 128 random bits as hexadecimal.
std::string make_token();

// The bytes of a token. Throws ConfigError, without showing the token, when it is not 32 hexadecimal digits.
std::string token_bytes(std::string_view token);

// The token of the ranks that share `secret` and meet at `place`.
std::string derive_token(std::string_view secret, std::string_view place);

// The content of `directory`/secret; makes it (mode 0600) when there is none. However many processes call
// this at once, all get the same. Throws StoreError when the file belongs to somebody else or others may read
// it.
std::string user_secret(const std::filesystem::path& directory);
// LOCKSTEP_STATE_DIR, else lockstep/ in the XDG state directory.
std::filesystem::path state_directory();

// Whether both are equal, in a time that does not depend on where they differ.
bool equal_in_constant_time(std::string_view one, std::string_view other);

}  // namespace lockstep::comm
