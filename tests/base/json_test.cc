// Tests of JSON texts: any bytes come back, and what is no JSON of ours is refused.
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

TEST(ParseJson, RefusesNumbersBeyondADoubleAndNestingBeyondReason) {
  EXPECT_THROW(parse_json("1e999"), nlohmann::json::exception);
  EXPECT_TRUE(try_parse_json("1e999").is_discarded());
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_THROW(parse_json(deep), nlohmann::json::exception);
  EXPECT_TRUE(try_parse_json(deep).is_discarded());
  EXPECT_EQ(parse_json("[\"" + std::string(1000, '[') + "\", [[1]]]").size(), 2U) << "brackets in a text";
}

TEST(JsonText, EveryTextComesBackWhateverItsBytes) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  for (const std::string& text :
       {all, std::string("caf\xe9/\xC3\xA9"), std::string("\xEE\xBE\x80 \xEE\xBF\xBF"),
        std::string("\xEE\xBE"), std::string("\xED\xA0\x80"), std::string("\xC0\x80")}) {
    const nlohmann::json json = {{"value", text}, {text, {text, 1}}};
    EXPECT_EQ(parse_json(json_text(json)), json) << json_text(json);
    EXPECT_EQ(try_parse_json(json_text(json, 2)), json);
    EXPECT_EQ(text_to_bytes(bytes_to_text(text)), text);
  }
}

TEST(JsonText, AByteThatIsNoTextIsOneCharacterAndOtherTextStaysAsItIs) {
  EXPECT_EQ(json_text(nlohmann::json("caf\xe9")), "\"caf\xEE\xBF\xA9\"");
  EXPECT_EQ(json_text(nlohmann::json("caf\xC3\xA9")), "\"caf\xC3\xA9\"");
  EXPECT_EQ(parse_json(R"("caf\uEfe9")"), "caf\xe9") << "as Python writes it";
}

TEST(JsonText, WhatATerminalWouldObeyIsEscaped) {
  const nlohmann::json json = "\x1b[2J \x7f \xC2\x9B \xC2\xA9";
  EXPECT_EQ(json_text(json), "\"\\u001b[2J \\u007f \\u009b \xC2\xA9\"");
  EXPECT_EQ(parse_json(json_text(json)), json);
}

}  // namespace
}  // namespace lockstep::base
