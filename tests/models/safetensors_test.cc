#include "lockstep/models/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "lockstep/base/error.h"

namespace lockstep::models {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string file_with(const std::string& header, std::size_t value_bytes) {
  const std::uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + header + std::string(value_bytes, '\0');
}

SafetensorsHeader parse(const std::string& file) {
  return parse_safetensors(bytes_of(file), file.size(), "test");
}

std::vector<SafetensorsEntry> two_entries() {
  return {{"b", "F32", {2, 3}, 0, 0}, {"a", "I64", {}, 0, 0}};
}

TEST(Safetensors, AFrontIsReadBackAsItWasWritten) {
  auto entries = two_entries();
  const std::string file =
      format_safetensors_front(entries, {{"made by", "lockstep"}}) + std::string(32, '\0');
  EXPECT_EQ(file.size() % 8, 0U);
  const SafetensorsHeader header = parse(file);
  ASSERT_EQ(header.entries.size(), 2U);
  EXPECT_EQ(header.entries[0].name, "b");
  EXPECT_EQ(header.entries[0].shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(header.entries[1].begin, 24U);
  EXPECT_EQ(header.entries[1].end, 32U);
  EXPECT_EQ(header.metadata.at("made by"), "lockstep");
}

TEST(Safetensors, AFileCutAtAnyByteIsRefused) {
  auto entries = two_entries();
  const std::string file = format_safetensors_front(entries, {}) + std::string(32, '\0');
  ASSERT_NO_THROW(parse(file));
  for (std::size_t length = 0; length < file.size(); ++length) {
    EXPECT_THROW(parse(file.substr(0, length)), base::DataError) << length;
  }
  EXPECT_THROW(parse(file + "x"), base::DataError);
}

TEST(Safetensors, UnsoundHeadersAreRefused) {
  const char* headers[] = {
      "[]",
      "{",
      R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})",
      R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
      R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})",
      R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[-4,0]}})",
      R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})",
      R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0]}})",
      R"({"a":{"dtype":"Q7","shape":[1],"data_offsets":[0,4]}})",
      R"({"a":{"dtype":"F32","data_offsets":[0,4]}})",
      R"({"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,4]}})",
      R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
      R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
      R"({"__metadata__":3,"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
      R"({"a":3})",
  };
  for (const char* header : headers) EXPECT_THROW(parse(file_with(header, 4)), base::DataError) << header;
}

TEST(Safetensors, AHeaderWithBytesThatAreNoTextIsRefusedInAMessageThatIsText) {
  for (const char* header : {"{\"a\xb8\": 1}", "{\"a\xed\xa0\x80\": 1}", "\xff\xfe{}", "{\"a\": \x1b}"}) {
    try {
      parse(file_with(header, 4));
      FAIL() << header;
    } catch (const base::DataError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("of its header is not JSON in UTF-8"));
      EXPECT_TRUE(std::ranges::all_of(std::string_view(error.what()), [](char byte) { return byte >= ' '; }));
    }
  }
}

TEST(Safetensors, AnEntryThatIsNoTensorIsNamedInWordsOfOurOwn) {
  for (const char* header : {R"({"a":{"shape":[1]}})", R"({"a":{"dtype":4}})", R"({"a":[]})"}) {
    try {
      parse(file_with(header, 4));
      FAIL() << header;
    } catch (const base::DataError& error) {
      EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("the entry 'a' is no tensor"),
                                               testing::Not(testing::HasSubstr("json.exception"))));
    }
  }
}

TEST(Safetensors, AShapeThatNoMemoryHoldsIsRefusedAlsoBesideASideOfZero) {
  for (const char* shape : {"0,4611686018427387904,4", "4611686018427387904,2,0", "1152921504606846976,2"}) {
    const std::string header =
        std::string(R"({"a":{"dtype":"F32","shape":[)") + shape + R"(],"data_offsets":[0,0]}})";
    EXPECT_THROW(parse(file_with(header, 0)), base::DataError) << shape;
  }
}

TEST(Safetensors, AnAbsurdHeaderLengthIsRefusedBeforeItIsRead) {
  std::string file = file_with("{}", 0);
  for (std::size_t i = 0; i < 8; ++i) file[i] = '\xff';
  EXPECT_THROW(safetensors_front_bytes(bytes_of(file), file.size(), "test"), base::DataError);
}

}  // namespace
}  // namespace lockstep::models
