#include "lockstep/cli/train/train_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "lockstep/base/error.h"
#include "lockstep/data/search.h"
#include "lockstep/record/catalogue_data.h"
#include "lockstep/record/catalogue_models.h"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;
using record::RunSpec;

[[noreturn]] void refuse(const char* field, const std::string& named, const std::string& why) {
  throw base::DataError(fmt::format("{} '{}' {}. Nothing was started.", field, named, why));
}

fs::file_type type_of(const char* field, const std::string& named) {
  std::error_code error;
  const fs::file_type type = fs::status(named, error).type();
  if (type == fs::file_type::not_found) refuse(field, named, "does not exist");
  if (type == fs::file_type::none) refuse(field, named, "cannot be looked at: " + error.message());
  return type;
}

void require_directory(const char* field, const std::string& named) {
  if (type_of(field, named) != fs::file_type::directory) refuse(field, named, "is not a directory");
  if (::access(named.c_str(), R_OK | X_OK) != 0)
    refuse(field, named, "cannot be read: " + base::errno_text());
}

void require_file(const char* field, const std::string& named) {
  if (type_of(field, named) != fs::file_type::regular) refuse(field, named, "is no file");
  if (::access(named.c_str(), R_OK) != 0) refuse(field, named, "cannot be read: " + base::errno_text());
}

// torch.save writes zip archives; a safetensors file begins with the length of its header, which is JSON.
bool begins_as_weights(const std::string& named) {
  std::array<char, 9> front{};
  std::ifstream file(named, std::ios::binary);
  file.read(front.data(), front.size());
  if (file.gcount() >= 2 && front[0] == 'P' && front[1] == 'K') return true;
  if (file.gcount() < static_cast<std::streamsize>(front.size()) || front[8] != '{') return false;
  std::uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, front.data(), sizeof header_bytes);
  return header_bytes <= fs::file_size(named) - sizeof header_bytes;
}

void require_weights(const std::string& named) {
  require_file("weights", named);
  if (!begins_as_weights(named))
    refuse(
        "weights", named,
        "is neither a safetensors file nor one that torch.save wrote, or it is cut short; fetch or save it "
        "again");
}

// A checkpoint is a directory step-... whose manifest was written last.
bool is_checkpoint(const fs::path& directory) {
  std::error_code ignored;
  return directory.filename().string().starts_with("step-") &&
         fs::is_regular_file(directory / "manifest.json", ignored);
}

void require_checkpoint(const std::string& named) {
  require_directory("resume", named);
  if (!has_checkpoint(named))
    refuse("resume", named,
           "holds no checkpoint that was finished; name a run's directory, or one of its checkpoints "
           "(step-...)");
}

void require_writable(const char* field, const std::optional<std::string>& named) {
  if (!named) return;
  const fs::path path(*named);
  const fs::path parent = fs::absolute(path).parent_path();
  const auto refuse_place = [&](const std::string& why) {
    throw base::StoreError(
        fmt::format("{} '{}' cannot be written: {}. Nothing was started.", field, *named, why));
  };
  if (fs::is_directory(path)) refuse_place("it is a directory; name a file");
  if (!fs::is_directory(parent)) refuse_place(fmt::format("there is no directory {}", parent.string()));
  if (::access(parent.c_str(), W_OK | X_OK) != 0)
    refuse_place(fmt::format("{}: {}", parent.string(), base::errno_text()));
}

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return fs::weakly_canonical(a, ignored) == fs::weakly_canonical(b, ignored);
}

void require_different(const char* field, const std::optional<std::string>& named, const char* other_field,
                       const std::optional<std::string>& other) {
  if (!named || !other || !is_same_file(*named, *other)) return;
  throw base::ConfigError(
      fmt::format("{} '{}' would be written over {} '{}'. Nothing was started. Name another file.", field,
                  *named, other_field, *other));
}

}  // namespace

bool has_checkpoint(const fs::path& place) {
  const fs::path plain = (place / "").parent_path();  // "step-00000001/" is a name too
  std::error_code ignored;
  const fs::path inside = fs::is_directory(plain / "checkpoints", ignored) ? plain / "checkpoints" : plain;
  const fs::directory_iterator entries(inside, ignored);
  return is_checkpoint(plain) ||
         std::any_of(begin(entries), end(entries),
                     [](const fs::directory_entry& entry) { return is_checkpoint(entry.path()); });
}

void require_inputs(const RunSpec& spec) {
  if (spec.data_dir) require_directory("data_dir", *spec.data_dir);
  const record::DataEntry& set = record::data_entry(spec.data);
  if (set.source == record::Source::files) (void)data::find_set(set, spec.data_dir);
  if (const std::string path = record::split_data_name(spec.data).path; !path.empty())
    require_directory("data", path);
  if (spec.weights) require_weights(*spec.weights);
  if (record::is_model_file(spec.model)) require_file("model", spec.model);
  if (spec.resume) require_checkpoint(*spec.resume);
}

std::string data_place_note(const RunSpec& spec) {
  const record::DataEntry& set = record::data_entry(spec.data);
  if (!spec.data_dir || set.source != record::Source::files) return "";
  const fs::path place = data::find_set(set, spec.data_dir);
  if (place == fs::path(*spec.data_dir) / set.directory) return "";
  return fmt::format("data_dir '{}' has no {}: it is read from {}\n", *spec.data_dir, set.name,
                     place.string());
}

void require_outputs(const RunSpec& spec, const std::string& spec_file) {
  require_writable("export_weights", spec.export_weights);
  require_writable("trace", spec.trace);
  require_different("trace", spec.trace, "export_weights", spec.export_weights);
  std::optional<std::string> read_from, model;
  if (!spec_file.empty()) read_from = spec_file;
  if (record::is_model_file(spec.model)) model = spec.model;
  for (const auto& [field, named] :
       {std::pair{"export_weights", spec.export_weights}, {"trace", spec.trace}}) {
    require_different(field, named, "the spec", read_from);
    require_different(field, named, "the model", model);
  }
  require_different("trace", spec.trace, "the weights", spec.weights);
}

}  // namespace lockstep::cli
