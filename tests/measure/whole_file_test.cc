// Files that are whole or absent, and what is no plain file.
#include "lockstep/measure/whole_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <sstream>

#include "lockstep/base/error.h"

namespace lockstep::measure {
namespace {

namespace fs = std::filesystem;

class WholeFile : public ::testing::Test {
 protected:
  WholeFile() {
    std::string pattern = (fs::temp_directory_path() / "whole-file-XXXXXX").string();
    directory = ::mkdtemp(pattern.data());
  }
  ~WholeFile() override { fs::remove_all(directory); }
  static void write(const fs::path& path, const std::string& text) {
    write_whole_file(path, [&](std::ostream& out) { out << text; });
  }
  static std::string read(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  fs::path directory;
};

TEST_F(WholeFile, a_link_stays_a_link_and_its_target_gets_the_text) {
  write(directory / "target", "old");
  fs::create_symlink("target", directory / "link");
  write(directory / "link", "new");
  EXPECT_TRUE(fs::is_symlink(directory / "link"));
  EXPECT_EQ(read(directory / "target"), "new");
}

TEST_F(WholeFile, a_pipe_stays_a_pipe_and_carries_the_text) {
  const fs::path pipe = directory / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int reader = ::open(pipe.c_str(), O_RDWR | O_NONBLOCK);
  write(pipe, "through");
  std::array<char, 16> bytes{};
  EXPECT_EQ(::read(reader, bytes.data(), bytes.size()), 7);
  EXPECT_TRUE(fs::is_fifo(pipe));
  ::close(reader);
}

TEST_F(WholeFile, a_full_device_is_an_error_and_stays_a_device) {
  EXPECT_THROW(write("/dev/full", std::string(100'000, 'x')), base::StoreError);
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

}  // namespace
}  // namespace lockstep::measure
