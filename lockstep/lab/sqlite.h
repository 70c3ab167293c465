// SQLite, wrapped once: a database file and statements with bound values. One thread at a time each.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

struct sqlite3;
struct sqlite3_stmt;

namespace lockstep::lab {

// What SQLite complains about: a file that is no database, that cannot be written, that stays locked.
struct SqliteError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Database {
 public:
  // Opens or makes the file, with a rollback journal (write-ahead logs break on network file systems); an
  // empty path is a database in memory. Waits up to ten seconds for other writers. Throws SqliteError.
  explicit Database(const std::filesystem::path& file);

  // Runs statements that return nothing.
  void run(const std::string& sql);
  sqlite3* handle() const { return handle_.get(); }

 private:
  struct Closer {
    void operator()(sqlite3* handle) const;
  };
  std::unique_ptr<sqlite3, Closer> handle_;
};

class Statement {
 public:
  Statement(Database& database, const std::string& sql);

  // Parameters in order, from the first; a missing value is NULL.
  Statement& bind(const std::string& text);
  Statement& bind(std::int64_t number);
  Statement& bind(std::optional<double> number);
  // Goes to the next row; false when there is none.
  bool step();
  // Makes it ready to be bound and run again.
  void reset();

  std::string text(int column) const;
  std::int64_t integer(int column) const;
  std::optional<double> number(int column) const;

 private:
  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const;
  };
  void check(int code) const;

  sqlite3* database_;
  std::unique_ptr<sqlite3_stmt, Finalizer> statement_;
  int bound_ = 0;
};

// All or nothing: rolled back unless committed.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace lockstep::lab
