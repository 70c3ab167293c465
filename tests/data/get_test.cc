#include "lockstep/data/get/get.h"

#include <cstring>

#include "lockstep/base/sha256.h"
#include "lockstep/data/get/unpack.h"
#include "tests/data/http_server.h"
#include "tests/data/support.h"

namespace lockstep::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Bytes content_of(std::size_t count) {
  Bytes bytes(count);
  std::uint32_t state = 1;
  for (std::uint8_t& byte : bytes)
    byte = static_cast<std::uint8_t>((state = state * 1664525 + 1013904223) >> 24);
  return bytes;
}

std::string digest(const Bytes& bytes) {
  return base::sha256_hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

// A tar archive of regular files, as ustar writes them.
Bytes tar_of(const std::vector<std::pair<std::string, Bytes>>& files) {
  Bytes archive;
  for (const auto& [name, bytes] : files) {
    char header[512] = {};
    std::snprintf(header, 100, "%s", name.c_str());
    std::snprintf(header + 100, 8, "%07o", 0644);
    std::snprintf(header + 124, 12, "%011lo", static_cast<unsigned long>(bytes.size()));
    header[156] = '0';
    std::memcpy(header + 257, "ustar", 6);
    std::memset(header + 148, ' ', 8);
    unsigned sum = 0;
    for (const char byte : header) sum += static_cast<unsigned char>(byte);
    std::snprintf(header + 148, 8, "%06o", sum);
    archive.insert(archive.end(), header, header + 512);
    archive.insert(archive.end(), bytes.begin(), bytes.end());
    archive.resize((archive.size() + 511) / 512 * 512);
  }
  archive.resize(archive.size() + 1024);
  return archive;
}

class Get : public ::testing::Test {
 protected:
  Get() {
    set.name = "small";
    set.directory = "small";
    set.bases = {server.base()};
    set.files = {{"images.gz", Packing::gzip, {{"images", digest(content), ""}}}};
    server.put("images.gz", {gzip(content), true, {}});
  }
  GetResult get() { return get_set(set, directory.path(), TransferOptions{}); }
  std::string complaint() {
    return data_complaint([&] { get(); });
  }
  std::vector<std::string> left_behind() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory / "small"))
      names.push_back(entry.path().filename());
    return names;
  }

  HttpServer server;
  TemporaryDirectory directory;
  RemoteSet set;
  Bytes content = content_of(200000);
};

TEST_F(Get, fetches_unpacks_and_checks_and_leaves_only_the_file) {
  const GetResult result = get();
  EXPECT_EQ(result.files_fetched, 1);
  EXPECT_EQ(read_file(directory / "small/images"), content);
  EXPECT_THAT(left_behind(), ElementsAre("images"));
}

TEST_F(Get, fetches_nothing_that_is_there_and_whole) {
  get();
  const GetResult again = get();
  EXPECT_EQ(again.files_present, 1);
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST_F(Get, fetches_a_file_again_that_is_there_and_wrong) {
  write_text(directory / "small/images", "damaged");
  EXPECT_EQ(get().files_fetched, 1);
  EXPECT_EQ(read_file(directory / "small/images"), content);
}

TEST_F(Get, goes_on_where_a_broken_transfer_stopped) {
  server.put("images.gz", {gzip(content), true, 50000});
  EXPECT_THAT(complaint(), HasSubstr("images.gz of data set 'small' could not be fetched"));
  EXPECT_FALSE(std::filesystem::exists(directory / "small/images"));
  get();
  EXPECT_EQ(read_file(directory / "small/images"), content);
  EXPECT_THAT(server.requests(), ElementsAre("images.gz from 0", "images.gz from 50000"));
}

TEST_F(Get, starts_again_with_a_server_that_cannot_resume) {
  server.put("images.gz", {gzip(content), false, 50000});
  EXPECT_THAT(complaint(), HasSubstr("could not be fetched"));
  get();
  EXPECT_EQ(read_file(directory / "small/images"), content);
}

TEST_F(Get, refuses_a_wrong_checksum_and_keeps_nothing_of_it) {
  server.put("images.gz", {gzip(content_of(1000)), true, {}});
  EXPECT_THAT(complaint(),
              HasSubstr("images has the checksum " + digest(content_of(1000)) + " where " + digest(content)));
  EXPECT_TRUE(left_behind().empty());
}

TEST_F(Get, refuses_a_packed_file_that_is_damaged) {
  Bytes damaged = gzip(content);
  damaged[1000] ^= 0xff;
  server.put("images.gz", {damaged, true, {}});
  EXPECT_THAT(complaint(), HasSubstr("gzip stream is corrupted"));
}

TEST_F(Get, tries_the_next_address_when_one_fails) {
  set.bases = {server.base() + "gone/", server.base()};
  EXPECT_EQ(get().files_fetched, 1);
}

TEST_F(Get, says_what_every_address_answered) {
  set.bases = {server.base() + "gone/"};
  EXPECT_THAT(complaint(), HasSubstr("gone/images.gz: The requested URL returned error: 404"));
  EXPECT_THAT(complaint(), Not(HasSubstr("offline")));
  EXPECT_THAT(complaint(), HasSubstr("put images into " + (directory / "small").string()));
}

TEST_F(Get, says_that_the_machine_seems_offline_when_nothing_answers) {
  set.bases = {"http://127.0.0.1:1/", "http://no-such-host.invalid/"};
  EXPECT_THAT(complaint(), HasSubstr("this machine seems to be offline"));
}

TEST_F(Get, takes_the_members_out_of_an_archive) {
  const Bytes other = content_of(777);
  set.files = {{"set.tar.gz",
                Packing::tar_gzip,
                {{"a.bin", digest(content), "set/a.bin"}, {"b.bin", digest(other), "set/b.bin"}}}};
  server.put(
      "set.tar.gz",
      {gzip(tar_of({{"set/readme", {1, 2}}, {"set/b.bin", other}, {"set/a.bin", content}})), true, {}});
  get();
  EXPECT_EQ(read_file(directory / "small/a.bin"), content);
  EXPECT_EQ(read_file(directory / "small/b.bin"), other);
}

TEST_F(Get, reports_its_progress) {
  TransferOptions options;
  std::uint64_t last = 0, total = 0;
  options.on_progress = [&](std::uint64_t done, std::uint64_t all) {
    last = done, total = std::max(total, all);
  };
  get_set(set, directory.path(), options);
  EXPECT_EQ(last, gzip(content).size());
  EXPECT_EQ(total, gzip(content).size());
}

TEST(Tar, cut_or_damaged_is_refused) {
  Bytes archive = tar_of({{"a", content_of(1000)}, {"b", content_of(10)}});
  EXPECT_EQ(find_in_tar(archive, "b", "x.tar").size(), 10u);
  EXPECT_THAT(data_complaint([&] { find_in_tar(archive, "c", "x.tar"); }),
              HasSubstr("x.tar: the archive has no file c"));
  const Bytes cut(archive.begin(), archive.begin() + 700);
  EXPECT_THAT(data_complaint([&] { find_in_tar(cut, "a", "x.tar"); }), HasSubstr("truncated"));
  archive[3] = 'x';
  EXPECT_THAT(data_complaint([&] { find_in_tar(archive, "a", "x.tar"); }), HasSubstr("damaged"));
}

TEST(RemoteSets, are_those_that_are_published_and_the_others_say_how_to_get_them) {
  for (const char* name : {"mnist", "fashion-mnist", "cifar10"}) {
    const RemoteSet set = remote_set(name);
    EXPECT_FALSE(set.bases.empty());
    for (const auto& base : set.bases) EXPECT_EQ(base.back(), '/');
    for (const RemoteFile& file : set.files) {
      for (const Member& member : file.members) EXPECT_EQ(member.sha256.size(), 64u);
    }
  }
  try {
    remote_set("driving");
    FAIL();
  } catch (const base::ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("simulator"));
  }
  EXPECT_THROW(remote_set("minst"), base::ConfigError);
}

}  // namespace
}  // namespace lockstep::data
