#include "lockstep/comm/nccl/unique_id.h"

#include <fmt/format.h>

#include <charconv>

#include "lockstep/base/error.h"

namespace lockstep::comm {
namespace {

constexpr const char* kKey = "unique_id";
using Kind = base::CommError::Kind;

unsigned char byte_from(const char* digits) {
  unsigned char byte = 0;
  const auto [end, error] = std::from_chars(digits, digits + 2, byte, 16);
  if (error != std::errc() || end != digits + 2)
    throw base::CommError(Kind::failed, "the store holds something else than NCCL's unique id");
  return byte;
}

ncclUniqueId make_id(const NcclLibrary& library) {
  ncclUniqueId id{};
  const ncclResult_t result = library.get_unique_id(&id);
  if (result == ncclSuccess) return id;
  throw base::CommError(
      Kind::failed,
      fmt::format("rank 0: NCCL cannot make a unique id: {} ({}). It needs a network interface: see "
                  "NCCL_SOCKET_IFNAME.",
                  library.get_error_string(result), library.get_last_error(nullptr)));
}

}  // namespace

std::string to_hexadecimal(const ncclUniqueId& id) {
  std::string text;
  for (const char byte : id.internal) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

ncclUniqueId unique_id_from(const std::string& hexadecimal) {
  ncclUniqueId id{};
  if (hexadecimal.size() != 2 * sizeof(id.internal))
    throw base::CommError(Kind::failed, "NCCL's unique id in the store has a wrong length");
  for (std::size_t i = 0; i < sizeof(id.internal); ++i)
    id.internal[i] = static_cast<char>(byte_from(&hexadecimal[2 * i]));
  return id;
}

ncclUniqueId agree_on_id(const NcclLibrary& library, const Group& group, Store& store,
                         base::Deadline deadline) {
  if (group.rank == 0) store.set(kKey, to_hexadecimal(make_id(library)));
  return unique_id_from(store.get(kKey, deadline));
}

}  // namespace lockstep::comm
