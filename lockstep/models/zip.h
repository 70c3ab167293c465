// Reads zip archives as torch.save writes them: records that lie in the file as they are, in one folder. What
// a record needs is known before it is read, and is never more than the file holds. Torch-free.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <span>
#include <string>

namespace lockstep::models {

class ZipArchive {
 public:
  // Throws DataError that names the file for one that is damaged, or whose records claim, together, more
  // bytes than the file has.
  explicit ZipArchive(const std::string& path);

  // Names are those inside the archive's folder: "data.pkl".
  bool has(const std::string& name) const { return records_.contains(name); }
  // A record that is not there or is compressed (torch.save never does that) is a DataError.
  std::uint64_t record_bytes(const std::string& name) const { return record(name).bytes; }
  // `to` has as many bytes as the record. Also one that fails its checksum is a DataError.
  void read(const std::string& name, std::span<std::byte> to);

 private:
  struct Record {
    std::uint64_t header = 0;  // where its own header stands in the file
    std::uint64_t bytes = 0;
    std::uint32_t checksum = 0;
    bool compressed = false;
  };
  class Directory;

  const Record& record(const std::string& name) const;
  std::string bytes_at(std::uint64_t begin, std::uint64_t count);
  void read_into(std::uint64_t begin, std::span<std::byte> to);
  [[noreturn]] void refuse(const std::string& why) const;

  std::string path_;
  std::ifstream file_;
  std::uint64_t file_bytes_ = 0;
  std::map<std::string, Record> records_;
};

}  // namespace lockstep::models
