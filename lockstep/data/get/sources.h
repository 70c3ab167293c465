// Where published data sets can be had, as data: base addresses of the publisher and of mirrors, the files
// there, and the SHA-256 of what each holds once unpacked (mirrors pack anew, so packed files may differ).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lockstep::data {

enum class Packing { none, gzip, tar_gzip };

// One file of the set.
struct Member {
  std::string name;  // as it lies in the set's directory
  std::string sha256;
  std::string archive_path;  // inside a tar archive; else empty
};

// One file to fetch.
struct RemoteFile {
  std::string name;  // appended to a base address
  Packing packing = Packing::none;
  std::vector<Member> members;
};

struct RemoteSet {
  std::string name;
  std::string directory;           // below the data directory
  std::vector<std::string> bases;  // each ends in '/'; tried in order
  std::vector<RemoteFile> files;
};

// Throws ConfigError for a set that cannot be fetched, saying how to get it instead.
RemoteSet remote_set(std::string_view name);

}  // namespace lockstep::data
