#include "lockstep/lab/sqlite.h"

#include <sqlite3.h>

#include <utility>

namespace lockstep::lab {
namespace {

constexpr int kBusyMilliseconds = 10'000;

[[noreturn]] void fail(sqlite3* handle) {
  throw SqliteError(handle == nullptr ? "out of memory" : sqlite3_errmsg(handle));
}

}  // namespace

void Database::Closer::operator()(sqlite3* handle) const {
  sqlite3_close(handle);
}
void Statement::Finalizer::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

Database::Database(const std::filesystem::path& file) {
  sqlite3* opened = nullptr;
  const std::string name = file.empty() ? ":memory:" : file.string();
  const int code =
      sqlite3_open_v2(name.c_str(), &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  handle_.reset(opened);
  if (code != SQLITE_OK) fail(opened);
  sqlite3_busy_timeout(opened, kBusyMilliseconds);
  run("PRAGMA journal_mode = DELETE");
}

void Database::run(const std::string& sql) {
  if (sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail(handle_.get());
}

Statement::Statement(Database& database, const std::string& sql) : database_(database.handle()) {
  sqlite3_stmt* prepared = nullptr;
  check(sqlite3_prepare_v2(database_, sql.c_str(), -1, &prepared, nullptr));
  statement_.reset(prepared);
}

void Statement::check(int code) const {
  if (code != SQLITE_OK) fail(database_);
}

Statement& Statement::bind(const std::string& text) {
  check(sqlite3_bind_text(statement_.get(), ++bound_, text.c_str(), static_cast<int>(text.size()),
                          SQLITE_TRANSIENT));
  return *this;
}

Statement& Statement::bind(std::int64_t number) {
  check(sqlite3_bind_int64(statement_.get(), ++bound_, number));
  return *this;
}

Statement& Statement::bind(std::optional<double> number) {
  check(number ? sqlite3_bind_double(statement_.get(), ++bound_, *number)
               : sqlite3_bind_null(statement_.get(), ++bound_));
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code != SQLITE_ROW && code != SQLITE_DONE) fail(database_);
  return code == SQLITE_ROW;
}

void Statement::reset() {
  sqlite3_reset(statement_.get());
  bound_ = 0;
}

std::string Statement::text(int column) const {
  const unsigned char* bytes = sqlite3_column_text(statement_.get(), column);
  return bytes == nullptr ? std::string() : reinterpret_cast<const char*>(bytes);
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::optional<double> Statement::number(int column) const {
  if (sqlite3_column_type(statement_.get(), column) == SQLITE_NULL) return std::nullopt;
  return sqlite3_column_double(statement_.get(), column);
}

Transaction::Transaction(Database& database) : database_(database) {
  database_.run("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  if (open_) sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
  database_.run("COMMIT");
  open_ = false;
}

}  // namespace lockstep::lab
