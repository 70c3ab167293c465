// Tests of reading environment variables.
#include "lockstep/base/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "lockstep/base/error.h"

namespace lockstep::base {
namespace {

constexpr const char* kName = "LOCKSTEP_ENVIRONMENT_TEST";

class Environment : public ::testing::Test {
 protected:
  ~Environment() override { ::unsetenv(kName); }
  static void set(const char* value) { ::setenv(kName, value, 1); }
};

TEST_F(Environment, AnUnsetVariableIsNothing) {
  EXPECT_EQ(environment(kName), std::nullopt);
  EXPECT_EQ(environment_integer(kName), std::nullopt);
}

TEST_F(Environment, AnEmptyVariableIsNothing) {
  set("");
  EXPECT_EQ(environment(kName), std::nullopt);
  EXPECT_EQ(environment_integer(kName), std::nullopt);
}

TEST_F(Environment, AValueIsReadAsItIs) {
  set(" a b ");
  EXPECT_EQ(environment(kName), " a b ");
}

TEST_F(Environment, WholeNumbersAreRead) {
  set("42");
  EXPECT_EQ(environment_integer(kName), 42);
  set("-3");
  EXPECT_EQ(environment_integer(kName), -3);
}

TEST_F(Environment, AnythingElseIsRefusedByNameAndValue) {
  for (const char* text : {"4x", "four", " 4", "4.5", "99999999999999999999"}) {
    set(text);
    try {
      environment_integer(kName);
      ADD_FAILURE() << text << " was taken for a number";
    } catch (const ConfigError& error) {
      EXPECT_THAT(error.what(), ::testing::AllOf(::testing::HasSubstr(kName), ::testing::HasSubstr(text)));
    }
  }
}

}  // namespace
}  // namespace lockstep::base
