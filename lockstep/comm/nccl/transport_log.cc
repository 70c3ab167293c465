#include "lockstep/comm/nccl/transport_log.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "lockstep/base/environment.h"
#include "lockstep/base/text.h"

namespace lockstep::comm {
namespace {

// "NET/Socket/0(1)/Shared" names the transport in its first two parts.
std::string transport_name(std::string_view detail) {
  const std::size_t first = detail.find('/');
  const std::size_t end = first == std::string_view::npos ? first : detail.find('/', first + 1);
  return std::string(detail.substr(0, end));
}

}  // namespace

std::set<std::string> transports_in(std::string_view log) {
  constexpr std::string_view kVia = " via ";
  std::set<std::string> transports;
  for (const std::string& line : base::split(log, '\n')) {
    const std::size_t via = line.find(kVia);
    if (via == std::string::npos || line.find("Channel") == std::string::npos) continue;
    const std::string_view detail = std::string_view(line).substr(via + kVia.size());
    transports.insert(transport_name(detail.substr(0, detail.find(' '))));
  }
  return transports;
}

void TransportLog::begin() {
  const std::lock_guard lock(mutex_);
  if (begun_) return;
  begun_ = true;
  for (const char* name : {"NCCL_DEBUG", "NCCL_DEBUG_SUBSYS", "NCCL_DEBUG_FILE"})
    if (base::environment(name)) return;
  file_.reset(::memfd_create("lockstep-nccl-log", MFD_CLOEXEC));
  if (!file_) return;
  ::setenv("NCCL_DEBUG", "INFO", 1);
  ::setenv("NCCL_DEBUG_SUBSYS", "INIT", 1);
  ::setenv("NCCL_DEBUG_FILE", fmt::format("/proc/self/fd/{}", file_.get()).c_str(), 1);
  environment_set_ = true;
}

void TransportLog::put_environment_back() {
  if (!environment_set_) return;
  for (const char* name : {"NCCL_DEBUG", "NCCL_DEBUG_SUBSYS", "NCCL_DEBUG_FILE"}) ::unsetenv(name);
  environment_set_ = false;
}

std::set<std::string> TransportLog::read_new() {
  const std::lock_guard lock(mutex_);
  if (!file_) return {};
  put_environment_back();
  std::string text;
  std::array<char, 65536> chunk;
  ssize_t got = 0;
  while ((got = ::pread(file_.get(), chunk.data(), chunk.size(), static_cast<off_t>(read_bytes_))) > 0) {
    text.append(chunk.data(), static_cast<std::size_t>(got));
    read_bytes_ += static_cast<std::size_t>(got);
  }
  return transports_in(text);
}

}  // namespace lockstep::comm
