#include "lockstep/train/checkpoint_part.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <array>
#include <fstream>
#include <span>

#include "lockstep/base/error.h"
#include "lockstep/base/json.h"
#include "lockstep/models/safetensors.h"

namespace lockstep::train {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "lockstep checkpoint part 1\n";
constexpr std::size_t kLengthBytes = 8;

struct TypeName {
  at::ScalarType type;
  const char* name;
};
constexpr std::array kTypes = {TypeName{at::kFloat, "F32"}, TypeName{at::kDouble, "F64"},
                               TypeName{at::kBFloat16, "BF16"}, TypeName{at::kLong, "I64"},
                               TypeName{at::kByte, "U8"}};

[[noreturn]] void refuse(const fs::path& path, const std::string& why) {
  throw base::DataError(fmt::format("'{}' is not a whole part of a checkpoint: {}", path.string(), why));
}

std::string type_name(const models::NamedTensor& named) {
  for (const TypeName& known : kTypes) {
    if (known.type == named.tensor.scalar_type()) return known.name;
  }
  throw base::StoreError(fmt::format("'{}' cannot be kept in a checkpoint: its type is {}", named.name,
                                     at::toString(named.tensor.scalar_type())));
}

at::ScalarType type_of(const models::SafetensorsEntry& entry, const fs::path& path) {
  for (const TypeName& known : kTypes) {
    if (entry.dtype == known.name) return known.type;
  }
  refuse(path, fmt::format("'{}' has the unknown type {}", entry.name, entry.dtype));
}

// Reads a file front to back and refuses to read beyond its end.
class Reader {
 public:
  explicit Reader(const fs::path& path) : path_(path), file_(path, std::ios::binary) {
    std::error_code error;
    left_ = fs::file_size(path, error);
    if (error || !file_) refuse(path, "it cannot be opened");
  }
  std::uint64_t left() const { return left_; }
  void read(void* to, std::uint64_t count) {
    if (count > left_) refuse(path_, "it ends too early");
    if (!file_.read(static_cast<char*>(to), static_cast<std::streamsize>(count)))
      refuse(path_, "it cannot be read");
    left_ -= count;
  }
  std::string text(std::uint64_t count) {
    if (count > left_) refuse(path_, "it ends too early");
    std::string text(count, '\0');
    read(text.data(), count);
    return text;
  }

 private:
  fs::path path_;
  std::ifstream file_;
  std::uint64_t left_ = 0;
};

nlohmann::json read_facts(Reader& reader, const fs::path& path) {
  if (reader.text(kMagic.size()) != kMagic) refuse(path, "it begins with something else");
  std::uint64_t length = 0;
  reader.read(&length, kLengthBytes);
  nlohmann::json facts = base::try_parse_json(reader.text(length));
  if (facts.is_discarded()) refuse(path, "its facts are not JSON");
  return facts;
}

models::SafetensorsHeader read_header(Reader& reader, const fs::path& path) {
  const std::uint64_t block_bytes = reader.left();
  std::string front = reader.text(kLengthBytes);
  const auto bytes = [](const std::string& text) { return std::as_bytes(std::span(text)); };
  const std::uint64_t front_bytes = models::safetensors_front_bytes(bytes(front), block_bytes, path.string());
  front += reader.text(front_bytes - kLengthBytes);
  return models::parse_safetensors(bytes(front), block_bytes, path.string());
}

}  // namespace

PartFront front_of(const CheckpointPart& part) {
  const std::string facts = base::json_text(part.facts);
  const std::uint64_t length = facts.size();
  std::vector<models::SafetensorsEntry> entries;
  for (const models::NamedTensor& named : part.tensors) {
    entries.push_back({named.name, type_name(named), named.tensor.sizes().vec(), 0, 0});
  }
  PartFront front;
  front.text = std::string(kMagic) + std::string(reinterpret_cast<const char*>(&length), kLengthBytes) +
               facts + models::format_safetensors_front(entries, {});
  front.file_bytes = front.text.size() + (entries.empty() ? 0 : entries.back().end);
  return front;
}

void write_values(DurableFile& file, const CheckpointPart& part) {
  for (const models::NamedTensor& named : part.tensors) {
    const at::Tensor plain = named.tensor.detach().to(at::kCPU).contiguous();
    file.write(plain.data_ptr(), plain.nbytes());
  }
}

CheckpointPart parse_part(const fs::path& path) {
  Reader reader(path);
  CheckpointPart part;
  part.facts = read_facts(reader, path);
  for (const models::SafetensorsEntry& entry : read_header(reader, path).entries) {
    at::Tensor tensor = at::empty(entry.shape, at::TensorOptions().dtype(type_of(entry, path)));
    reader.read(tensor.data_ptr(), entry.end - entry.begin);
    part.tensors.push_back({entry.name, tensor});
  }
  return part;
}

}  // namespace lockstep::train
