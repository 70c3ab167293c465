// Tests of reading JSON that has a key twice.
#include "lockstep/base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace lockstep::base {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> doubled(const std::string& text) {
  std::vector<std::string> keys;
  parse_json(text, [&](const std::string& key) { keys.push_back(key); });
  return keys;
}

TEST(ParseJson, TellsOfKeysThatOneObjectHasTwiceAtAnyDepth) {
  EXPECT_THAT(doubled(R"({"a": 1, "b": 2, "a": 3})"), ElementsAre("a"));
  EXPECT_THAT(doubled(R"({"a": {"b": 1, "c": 2, "b": 3}})"), ElementsAre("b"));
  EXPECT_THAT(doubled(R"([{"a": {"x": 1}, "a": 2}])"), ElementsAre("a"));
}

TEST(ParseJson, LetsTwoObjectsHaveTheSameKey) {
  EXPECT_THAT(doubled(R"({"a": {"a": 1}, "b": {"a": 1}, "c": [{"a": 1}, {"a": 2}]})"), IsEmpty());
}

TEST(ParseJson, GivesTheValueAndThrowsForWhatIsNoJson) {
  EXPECT_EQ(parse_json(R"({"a": [1, 2]})", [](const std::string&) {}).at("a").size(), 2U);
  EXPECT_THROW(doubled("{"), nlohmann::json::parse_error);
}

}  // namespace
}  // namespace lockstep::base
