#include "lockstep/models/weights.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"
#include "lockstep/models/safetensors.h"
#include "lockstep/models/torch_archive.h"

namespace lockstep::models {
namespace {

struct TypeName {
  at::ScalarType type;
  const char* name;
};
constexpr std::array kTypes = {
    TypeName{at::kFloat, "F32"}, TypeName{at::kDouble, "F64"}, TypeName{at::kBFloat16, "BF16"},
    TypeName{at::kHalf, "F16"},  TypeName{at::kLong, "I64"},   TypeName{at::kInt, "I32"},
    TypeName{at::kShort, "I16"}, TypeName{at::kChar, "I8"},    TypeName{at::kByte, "U8"},
    TypeName{at::kBool, "BOOL"},
};

std::string type_name(at::ScalarType type) {
  for (const TypeName& known : kTypes) {
    if (known.type == type) return known.name;
  }
  throw base::StoreError(
      fmt::format("tensors of type {} cannot be saved as safetensors", at::toString(type)));
}

at::ScalarType type_of(const SafetensorsEntry& entry, const std::string& source) {
  for (const TypeName& known : kTypes) {
    if (entry.dtype == known.name) return known.type;
  }
  throw base::DataError(
      fmt::format("'{}': '{}' has the type {}, which libtorch lacks", source, entry.name, entry.dtype));
}

void write_tensor(std::ofstream& file, const at::Tensor& tensor) {
  const at::Tensor plain = tensor.detach().to(at::kCPU).contiguous();
  file.write(static_cast<const char*>(plain.data_ptr()), static_cast<std::streamsize>(plain.nbytes()));
}

std::vector<std::byte> read_bytes(std::ifstream& file, std::uint64_t count, const std::string& source) {
  std::vector<std::byte> bytes(count);
  if (!file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(count))) {
    throw base::DataError(
        fmt::format("'{}' ended before its {} bytes were read; fetch or save it again", source, count));
  }
  return bytes;
}

std::ifstream open_file(const std::string& path) {
  if (std::filesystem::is_directory(path))
    throw base::DataError(fmt::format("the weights file '{}' is a directory; name a file in it.", path));
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw base::DataError(
        fmt::format("the weights file '{}' cannot be opened: {}", path, base::errno_text()));
  }
  return file;
}

at::Tensor read_tensor(std::ifstream& file, const SafetensorsEntry& entry, const std::string& source) {
  at::Tensor tensor = at::empty(entry.shape, at::TensorOptions().dtype(type_of(entry, source)));
  if (!file.read(static_cast<char*>(tensor.data_ptr()),
                 static_cast<std::streamsize>(entry.end - entry.begin))) {
    throw base::DataError(fmt::format("'{}' ended inside '{}'; fetch or save it again", source, entry.name));
  }
  return tensor;
}

bool in_head(const Model& model, const std::string& name) {
  return !model.head().empty() && name.starts_with(model.head() + ".");
}

// What does not fit, for one message that lists it all.
struct Misfits {
  std::vector<std::string> missing, unknown, shapes;

  void check(const Model& model, const std::string& source) const {
    if (missing.empty() && unknown.empty() && shapes.empty()) return;
    std::vector<std::string> kinds;
    for (const auto& [what, names] :
         {std::pair("missing", &missing), std::pair("unknown", &unknown), std::pair("other shape", &shapes)})
      if (!names->empty()) kinds.push_back(list(what, *names));
    throw base::DataError(fmt::format("the weights in '{}' do not fit model '{}': {}.", source, model.name(),
                                      base::join(kinds, "; ")));
  }
  static std::string list(const char* what, std::vector<std::string> names) {
    const std::size_t all = names.size();
    if (all > 5) names.resize(5), names.push_back(fmt::format("and {} more", all - 5));
    return fmt::format("{}: {}", what, base::join(names, ", "));
  }
};

using ByName = std::map<std::string, at::Tensor>;

void match(const Model& model, const NamedTensor& own, ByName& given, Misfits& misfits, LoadReport& report,
           std::vector<std::pair<at::Tensor, at::Tensor>>& copies) {
  const auto found = given.find(own.name);
  if (found == given.end()) {
    if (!own.name.ends_with("num_batches_tracked")) misfits.missing.push_back(own.name);
    return;
  }
  if (found->second.sizes() == own.tensor.sizes()) {
    copies.emplace_back(own.tensor, found->second);
    report.loaded.push_back(own.name);
  } else if (in_head(model, own.name)) {
    report.left_alone.push_back(own.name);
  } else {
    misfits.shapes.push_back(own.name);
  }
  given.erase(found);
}

}  // namespace

void save_safetensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                      const std::map<std::string, std::string>& metadata) {
  std::vector<SafetensorsEntry> entries;
  for (const NamedTensor& named : tensors) {
    entries.push_back({named.name, type_name(named.tensor.scalar_type()), named.tensor.sizes().vec(), 0, 0});
  }
  const std::string front = format_safetensors_front(entries, metadata);
  const std::string partial = path + ".partial";
  std::ofstream file(partial, std::ios::binary | std::ios::trunc);
  file.write(front.data(), static_cast<std::streamsize>(front.size()));
  for (const NamedTensor& named : tensors) write_tensor(file, named.tensor);
  file.close();
  std::error_code error;
  if (file) std::filesystem::rename(partial, path, error);
  if (file && !error) return;
  const std::string why = error ? error.message() : base::errno_text();
  std::filesystem::remove(partial, error);
  throw base::StoreError(fmt::format("the weights could not be written to '{}': {}", path, why));
}

std::vector<NamedTensor> read_safetensors(const std::string& path) {
  std::ifstream file = open_file(path);
  const std::uint64_t file_bytes = std::filesystem::file_size(path);
  std::vector<std::byte> front = read_bytes(file, std::min<std::uint64_t>(8, file_bytes), path);
  const std::uint64_t front_bytes = safetensors_front_bytes(front, file_bytes, path);
  file.seekg(0);
  front = read_bytes(file, front_bytes, path);
  std::vector<NamedTensor> tensors;
  for (const SafetensorsEntry& entry : parse_safetensors(front, file_bytes, path).entries) {
    tensors.push_back({entry.name, read_tensor(file, entry, path)});
  }
  return tensors;
}

std::vector<NamedTensor> read_weights(const std::string& path) {
  std::ifstream file = open_file(path);
  std::array<char, 4> magic = {};
  file.read(magic.data(), magic.size());
  const bool is_zip = magic[0] == 'P' && magic[1] == 'K';
  if (!is_zip && !path.ends_with(".safetensors") && (path.ends_with(".pt") || path.ends_with(".pth")))
    throw base::DataError(
        fmt::format("'{}' is not a file that torch.save wrote (since PyTorch 1.6 they are zip archives). It "
                    "may be damaged; save it again, or as safetensors.",
                    path));
  return is_zip ? read_torch_archive(path) : read_safetensors(path);
}

LoadReport load_weights(const Model& model, const std::vector<NamedTensor>& weights,
                        const std::string& source) {
  ByName given;
  for (const NamedTensor& named : weights) given.emplace(named.name, named.tensor);
  Misfits misfits;
  LoadReport report;
  std::vector<std::pair<at::Tensor, at::Tensor>> copies;
  for (const NamedTensor& own : model.state()) match(model, own, given, misfits, report, copies);
  for (const auto& [name, tensor] : given) misfits.unknown.push_back(name);
  misfits.check(model, source);
  const at::NoGradGuard no_grad;
  for (auto& [to, from] : copies) to.copy_(from);
  return report;
}

}  // namespace lockstep::models
