// Tests of the hierarchy of errors and their exit codes, which docs/errors.md promises.
#include "lockstep/base/error.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cerrno>

namespace lockstep::base {
namespace {

int exit_code_of(const Error& error) {
  return static_cast<int>(error.exit_code());
}

TEST(Error, EachKindHasItsExitCode) {
  EXPECT_EQ(exit_code_of(UsageError("")), 2);
  EXPECT_EQ(exit_code_of(ConfigError("")), 3);
  EXPECT_EQ(exit_code_of(DataError("")), 3);
  EXPECT_EQ(exit_code_of(DeviceError("")), 4);
  EXPECT_EQ(exit_code_of(ThresholdError("")), 5);
  EXPECT_EQ(exit_code_of(VerificationError("")), 6);
  EXPECT_EQ(exit_code_of(StoreError("")), 1);
}

TEST(Error, KeepsItsMessageWhenCaughtAsTheBase) {
  try {
    throw ConfigError("rank 3 of 2");
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "rank 3 of 2");
    EXPECT_EQ(error.exit_code(), ExitCode::bad_configuration);
  }
}

TEST(CommError, OnlyATimeoutExitsWith124) {
  EXPECT_EQ(exit_code_of(CommError(CommError::Kind::timed_out, "")), 124);
  for (const auto kind : {CommError::Kind::failed, CommError::Kind::peer_lost, CommError::Kind::disagreement,
                          CommError::Kind::collateral})
    EXPECT_EQ(exit_code_of(CommError(kind, "")), 1);
}

TEST(CommError, RemembersWhoIsToBlame) {
  EXPECT_EQ(CommError(CommError::Kind::collateral, "").kind(), CommError::Kind::collateral);
}

TEST(ErrnoText, NamesTheNumberAndItsMeaning) {
  EXPECT_EQ(errno_text(ENOENT), "No such file or directory (errno 2)");
}

TEST(ErrnoText, NamesTheLimitThatWasReached) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{100, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  EXPECT_EQ(errno_text(EMFILE), "Too many open files (errno 24; a process may open 100, see ulimit -n)");
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST(ErrnoText, NamesTheLimitOfMemoryWhereThereIsOne) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  const rlimit some{rlim_t{1} << 50, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &some), 0);
  for (const int number : {ENOMEM, EAGAIN})
    EXPECT_NE(errno_text(number).find("; a process may take 1024 TiB of memory, see ulimit -v)"),
              std::string::npos)
        << errno_text(number);
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &before), 0);
}

TEST(ErrnoText, WithoutANumberIsTheCurrentOne) {
  errno = EACCES;
  EXPECT_EQ(errno_text(), errno_text(EACCES));
}

}  // namespace
}  // namespace lockstep::base
