// Where the ranks of a run meet: told by flags or MASTER_ADDR and MASTER_PORT, computed alike by all tasks of
// an srun, or written into a file by rank 0 of an mpirun on one host.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "lockstep/comm/rendezvous/identity.h"
#include "lockstep/comm/rendezvous/socket.h"

namespace lockstep::comm {

// Fills master_addr, master_port, job and launcher_serves. Throws ConfigError that says what to set when the
// ranks have no way to meet.
void find_meeting_place(const IdentityFlags& flags, Identity& identity);

// Whether only this host's processes can meet there: 127.0.0.0/8, ::1, localhost. No name is looked up.
bool is_loopback(const std::string& address);

// The first host of a Slurm node list: "node[03-05,9],other7" gives "node03".
std::string first_slurm_host(const std::string& node_list);

// The file through which rank 0 of an mpirun tells the others of its host where it serves: mode 0600, in a
// directory that only the user can enter, whole or absent.
class MeetingFile {
 public:
  explicit MeetingFile(const std::string& job) : MeetingFile(job, runtime_directory()) {}
  MeetingFile(const std::string& job, const std::filesystem::path& directory);
  // Removes the file if this object wrote it.
  ~MeetingFile();
  MeetingFile(const MeetingFile&) = delete;
  MeetingFile& operator=(const MeetingFile&) = delete;

  void write(const Endpoint& endpoint);
  std::optional<Endpoint> read() const;

  // lockstep/ in XDG_RUNTIME_DIR, else lockstep-UID in the directory for temporary files.
  static std::filesystem::path runtime_directory();

 private:
  std::filesystem::path path_;
  bool written_ = false;
};

}  // namespace lockstep::comm
