#include "lockstep/data/idx.h"

#include "tests/data/support.h"

namespace lockstep::data {
namespace {

using ::testing::HasSubstr;

std::string complaint(const Bytes& bytes, std::size_t rank = 3) {
  return data_complaint([&] { parse_idx(bytes, rank, "train-images"); });
}

TEST(Idx, gives_dimensions_and_elements) {
  const IdxArray array = parse_idx(idx_bytes({2, 1, 3}, {1, 2, 3, 4, 5, 6}), 3, "x");
  EXPECT_EQ(array.dimensions, (std::vector<std::uint32_t>{2, 1, 3}));
  EXPECT_EQ(array.elements, (Bytes{1, 2, 3, 4, 5, 6}));
}

TEST(Idx, cut_at_any_byte_is_refused) {
  const Bytes whole = idx_bytes({2, 1, 3}, {1, 2, 3, 4, 5, 6});
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_THAT(complaint(cut), HasSubstr("train-images: ")) << length;
  }
  EXPECT_THAT(complaint(Bytes(whole.begin(), whole.end() - 1)),
              HasSubstr("promises 6 elements and it holds 5: it is truncated"));
}

TEST(Idx, with_something_behind_it_is_refused) {
  Bytes bytes = idx_bytes({1, 1, 1}, {1, 2});
  EXPECT_THAT(complaint(bytes), HasSubstr("something follows them"));
}

TEST(Idx, of_another_kind_is_refused_by_its_header) {
  EXPECT_THAT(complaint({'P', 'K', 3, 4, 0, 0}), HasSubstr("not an IDX file (it begins with 0x504b0304)"));
  EXPECT_THAT(complaint({0, 0, 0x0d, 3, 0, 0}), HasSubstr("type 13, not unsigned bytes"));
  EXPECT_THAT(complaint(idx_bytes({4}, {1, 2, 3, 4})), HasSubstr("1 dimensions where 3 were expected"));
  EXPECT_THAT(complaint(idx_bytes({0, 28, 28}, {})), HasSubstr("dimensions is zero"));
}

TEST(Idx, promising_more_than_any_file_holds_is_refused_without_allocating_it) {
  EXPECT_THAT(complaint(idx_bytes({0xffffffff, 0xffffffff, 0xffffffff}, {1})), HasSubstr("it is truncated"));
}

TEST(Idx, packed_with_more_than_its_header_promises_is_not_unpacked_further) {
  const TemporaryDirectory directory;
  Bytes bytes = idx_bytes({2, 1, 3}, {1, 2, 3, 4, 5, 6});
  write_bytes(directory / "sound.gz", gzip(bytes));
  EXPECT_EQ(read_idx(directory / "sound.gz", 3).elements, (Bytes{1, 2, 3, 4, 5, 6}));
  bytes.resize(std::size_t{64} << 20);
  write_bytes(directory / "bomb.gz", gzip(bytes));
  EXPECT_THAT(data_complaint([&] { read_idx(directory / "bomb.gz", 3); }),
              HasSubstr("it unpacks to more than the 22 bytes that it may have"));
  write_bytes(directory / "short.gz", gzip({0, 0, 8}));
  EXPECT_THAT(data_complaint([&] { read_idx(directory / "short.gz", 3); }),
              HasSubstr("too few for an IDX header"));
}

}  // namespace
}  // namespace lockstep::data
