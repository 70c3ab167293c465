#include "lockstep/measure/whole_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>

#include "lockstep/base/error.h"

namespace lockstep::measure {
namespace {

// The draft, which goes unless it was made the file.
class Draft {
 public:
  explicit Draft(const std::filesystem::path& path)
      : path_(path), draft_(path.string() + fmt::format(".{}.partial", ::getpid())), stream_(draft_) {}
  ~Draft() {
    std::error_code ignored;
    std::filesystem::remove(draft_, ignored);
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  std::ostream& stream() { return stream_; }
  void keep() {
    stream_.close();
    std::error_code error;
    if (stream_) std::filesystem::rename(draft_, path_, error);
    if (!stream_ || error)
      throw base::StoreError(fmt::format("cannot write {}: {}. Is the disk full, or the directory missing?",
                                         path_.string(), error ? error.message() : base::errno_text()));
  }

 private:
  std::filesystem::path path_;
  std::filesystem::path draft_;
  std::ofstream stream_;
};

void write_through(const std::filesystem::path& path, const std::function<void(std::ostream&)>& write) {
  std::ofstream stream(path);
  write(stream);
  stream.close();
  if (!stream) throw base::StoreError(fmt::format("cannot write {}: {}.", path.string(), base::errno_text()));
}

}  // namespace

void write_whole_file(const std::filesystem::path& named, const std::function<void(std::ostream&)>& write) {
  std::error_code ignored;
  const std::filesystem::path found = std::filesystem::canonical(named, ignored);
  const std::filesystem::path& path = found.empty() ? named : found;
  if (!found.empty() && !std::filesystem::is_regular_file(found) && !std::filesystem::is_directory(found))
    return write_through(path, write);
  Draft draft(path);
  write(draft.stream());
  draft.keep();
}

}  // namespace lockstep::measure
