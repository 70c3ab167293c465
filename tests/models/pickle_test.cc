#include "lockstep/models/pickle.h"

#include <gtest/gtest.h>

#include "lockstep/base/error.h"

namespace lockstep::models {
namespace {

using Kind = PickleNode::Kind;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// {"a": (1, -2, True), "b": f(None)} in protocol 2, with the memo in use.
const std::string kSample = std::string("\x80\x02}q\x00(X\x01\x00\x00\x00", 11) + "a" +
                            std::string("q\x01K\x01J\xfe\xff\xff\xff\x88\x87q\x02X\x01\x00\x00\x00", 18) +
                            "b" + "cmodule\nf\n" + "N\x85Ru.";

TEST(Pickle, ATableIsReadWithoutRunningAnything) {
  const Pickle pickle(bytes_of(kSample), "test");
  const PickleNode& root = pickle.root();
  ASSERT_EQ(root.kind, Kind::dict);
  ASSERT_EQ(root.entries.size(), 2U);
  EXPECT_EQ(root.entries[0].first->text, "a");
  ASSERT_EQ(root.entries[0].second->items.size(), 3U);
  EXPECT_EQ(root.entries[0].second->items[1]->integer, -2);
  const PickleNode& call = *root.entries[1].second;
  ASSERT_EQ(call.kind, Kind::call);
  EXPECT_EQ(call.items[0]->text, "module f");
  EXPECT_EQ(call.items[1]->items[0]->kind, Kind::none);
}

TEST(Pickle, APickleCutAtAnyByteIsRefused) {
  for (std::size_t length = 0; length < kSample.size(); ++length) {
    EXPECT_THROW(Pickle(bytes_of(kSample.substr(0, length)), "test"), base::DataError) << length;
  }
}

TEST(Pickle, AnyChangedByteIsReadOrRefusedAndNothingElse) {
  for (std::size_t at = 0; at < kSample.size(); ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string changed = kSample;
      changed[at] = static_cast<char>(value);
      try {
        const Pickle pickle(bytes_of(changed), "test");
      } catch (const base::DataError&) {
        continue;
      }
    }
  }
}

}  // namespace
}  // namespace lockstep::models
