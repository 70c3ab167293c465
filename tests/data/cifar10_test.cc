// Tests of CIFAR-10 on small files made here.
#include "tests/data/support.h"

namespace lockstep::data {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kRecordBytes = 3073;

class SmallCifar : public ::testing::Test {
 protected:
  SmallCifar() {
    for (int file = 1; file <= 5; ++file)
      put("data_batch_" + std::to_string(file) + ".bin", records(4, file));
    put("test_batch.bin", records(3, 9));
    say_records("4 3\n");
  }
  static Bytes records(int count, int label) {
    Bytes bytes;
    for (int i = 0; i < count; ++i) {
      bytes.push_back(static_cast<std::uint8_t>(label));
      bytes.insert(bytes.end(), kRecordBytes - 1, static_cast<std::uint8_t>(10 * label + i));
    }
    return bytes;
  }
  void say_records(const std::string& text) { put("records.txt", Bytes(text.begin(), text.end())); }
  void put(const std::string& name, const Bytes& bytes) {
    write_bytes(directory / ("cifar-10-batches-bin/" + name), bytes);
  }
  std::shared_ptr<const SampleSet> load(Split split = Split::train) {
    return load_set({"cifar10", split, directory.path(), {}, 1, {}});
  }
  std::string complaint() {
    return data_complaint([&] { load(); });
  }
  TemporaryDirectory directory;
};

TEST_F(SmallCifar, is_read_from_its_five_files_in_order) {
  const auto set = load();
  ASSERT_EQ(set->size(), 20u);
  EXPECT_EQ(set->labels[4], 2);
  EXPECT_EQ(set->image_of(5).pixels[3071], 21);
  EXPECT_EQ(load(Split::validation)->size(), 3u);
}

TEST_F(SmallCifar, cut_or_lengthened_by_a_byte_is_refused) {
  Bytes bytes = records(4, 3);
  bytes.pop_back();
  put("data_batch_3.bin", bytes);
  EXPECT_THAT(complaint(), HasSubstr("data_batch_3.bin: its 12291 bytes are not a whole number of records"));
  put("data_batch_3.bin", {});
  EXPECT_THAT(complaint(), HasSubstr("its 0 bytes"));
}

TEST_F(SmallCifar, cut_between_two_records_is_refused) {
  put("data_batch_3.bin", records(3, 3));
  EXPECT_THAT(complaint(), HasSubstr("data_batch_3.bin: it has 3 records and should have 4"));
}

TEST_F(SmallCifar, has_ten_thousand_records_a_file_unless_it_says_otherwise) {
  std::filesystem::remove(directory / "cifar-10-batches-bin/records.txt");
  EXPECT_THAT(complaint(), HasSubstr("data_batch_1.bin: it has 4 records and should have 10000"));
  say_records("some");
  EXPECT_THAT(complaint(), HasSubstr("records.txt: it does not say how many records"));
}

TEST_F(SmallCifar, with_a_label_outside_the_classes_is_refused) {
  put("data_batch_2.bin", records(4, 17));
  EXPECT_THAT(complaint(), HasSubstr("data_batch_2.bin: record 0 has label 17"));
}

TEST_F(SmallCifar, with_a_file_missing_is_refused_by_name) {
  std::filesystem::remove(directory / "cifar-10-batches-bin/data_batch_4.bin");
  EXPECT_THAT(complaint(), HasSubstr("data_batch_4.bin is missing"));
}

TEST_F(SmallCifar, with_a_number_of_records_that_no_file_has_is_refused) {
  say_records("99999999999999999 3\n");
  EXPECT_THAT(complaint(), HasSubstr("records.txt: it does not say how many records"));
  say_records("1000000000 3\n");
  EXPECT_THAT(complaint(), HasSubstr("has 4 records and should have 1000000000"));
}

TEST_F(SmallCifar, packed_with_more_records_than_it_should_have_is_not_unpacked_further) {
  std::filesystem::remove(directory / "cifar-10-batches-bin/data_batch_2.bin");
  put("data_batch_2.bin.gz", gzip(Bytes(std::size_t{64} << 20)));
  EXPECT_THAT(complaint(), HasSubstr("data_batch_2.bin.gz: it unpacks to more than the 15365 bytes"));
}

}  // namespace
}  // namespace lockstep::data
