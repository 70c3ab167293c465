#include "lockstep/data/files.h"

#include "tests/data/support.h"

namespace lockstep::data {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kEnough = 1 << 30;

Bytes some_bytes(std::size_t count) {
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::uint8_t>(i * i >> 3);
  return bytes;
}

TEST(Gzip, unpacks_what_was_packed_of_any_size) {
  for (const std::size_t count : {0u, 1u, 1000u, 1u << 18, (1u << 18) + 1, 1000000u}) {
    EXPECT_EQ(gunzip(gzip(some_bytes(count)), "x.gz", kEnough), some_bytes(count)) << count;
  }
}

TEST(Gzip, unpacks_several_members_one_after_another) {
  Bytes two = gzip(some_bytes(10));
  const Bytes second = gzip(some_bytes(20));
  two.insert(two.end(), second.begin(), second.end());
  EXPECT_EQ(gunzip(two, "x.gz", kEnough).size(), 30u);
}

TEST(Gzip, cut_at_any_byte_is_refused) {
  const Bytes whole = gzip(some_bytes(3000));
  for (std::size_t length = 0; length < whole.size(); length += 1 + length / 40) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_THAT(data_complaint([&] { gunzip(cut, "x.gz", kEnough); }), HasSubstr("x.gz: the gzip stream is"))
        << length;
  }
}

TEST(Gzip, corrupted_is_refused) {
  Bytes bytes = gzip(some_bytes(3000));
  bytes[bytes.size() / 2] ^= 0x55;
  EXPECT_THAT(data_complaint([&] { gunzip(bytes, "x.gz", kEnough); }), HasSubstr("Get the file again"));
}

TEST(Gzip, of_more_bytes_than_it_may_have_is_refused_at_the_first_of_them) {
  const Bytes bomb = gzip(Bytes(std::size_t{64} << 20));
  EXPECT_LT(bomb.size(), 70'000u);
  EXPECT_THAT(data_complaint([&] { gunzip(bomb, "x.gz", 1000); }),
              HasSubstr("x.gz: it unpacks to more than the 1000 bytes that it may have"));
  EXPECT_EQ(gunzip_front(bomb, "x.gz", 7), Bytes(7));
  EXPECT_EQ(gunzip_front(gzip(some_bytes(3)), "x.gz", 7), some_bytes(3));
  EXPECT_NO_THROW(gunzip(gzip(some_bytes(1000)), "x.gz", 1000));
  EXPECT_THAT(data_complaint([&] { gunzip(gzip(some_bytes(1001)), "x.gz", 1000); }), HasSubstr("more than"));
}

TEST(DataFile, larger_than_the_memory_of_the_machine_is_refused) {
  const TemporaryDirectory directory;
  write_text(directory / "sparse", "x");
  std::error_code no_room;  // some file systems have no holes
  std::filesystem::resize_file(directory / "sparse", std::uintmax_t{1} << 42, no_room);
  if (no_room) GTEST_SKIP() << "no sparse file of 4 TiB can be made here: " << no_room.message();
  EXPECT_THAT(data_complaint([&] { read_file(directory / "sparse"); }),
              HasSubstr("its 4.00 TiB are more than this machine has memory"));
}

TEST(DataFile, is_found_raw_or_packed) {
  const TemporaryDirectory directory;
  write_bytes(directory / "raw", some_bytes(10));
  write_bytes(directory / "packed.gz", gzip(some_bytes(10)));
  EXPECT_EQ(read_maybe_gzip(directory / "raw", kEnough), some_bytes(10));
  EXPECT_EQ(read_maybe_gzip(directory / "packed", kEnough), some_bytes(10));
  EXPECT_THAT(data_complaint([&] { read_maybe_gzip(directory / "absent", kEnough); }),
              HasSubstr("absent is missing, and so is absent.gz"));
  EXPECT_THAT(data_complaint([&] { read_file(directory / "absent"); }), HasSubstr("No such file"));
}

TEST(ImageFiles, are_found_below_a_directory_in_the_order_of_names) {
  const TemporaryDirectory directory;
  for (const char* name : {"b.PNG", "a.jpeg", "sub/c.jpg", "notes.txt"}) write_text(directory / name, "x");
  const auto files = image_files(directory.path());
  ASSERT_EQ(files.size(), 3u);
  EXPECT_EQ(files[0].filename(), "a.jpeg");
  EXPECT_EQ(files[2].filename(), "c.jpg");
  EXPECT_THAT(data_complaint([&] { image_files(directory / "none"); }), HasSubstr("cannot be read"));
}

}  // namespace
}  // namespace lockstep::data
