#include "lockstep/train/checkpoint_manifest.h"

#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "lockstep/base/error.h"
#include "lockstep/base/json.h"
#include "lockstep/base/sha256.h"

namespace lockstep::train {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::string_view kFormat = "lockstep checkpoint 1";
constexpr std::string_view kStepPrefix = "step-";

json to_json(const Manifest& manifest) {
  json files = json::array();
  for (const CheckpointFile& file : manifest.files) {
    files.push_back({{"name", file.name}, {"bytes", file.bytes}, {"sha256", file.sha256}});
  }
  return {{"format", kFormat}, {"step", manifest.step}, {"files", files}};
}

Manifest from_json(const json& from) {
  Manifest manifest;
  manifest.step = from.at("step").get<std::uint64_t>();
  for (const json& file : from.at("files")) {
    manifest.files.push_back({file.at("name").get<std::string>(), file.at("bytes").get<std::uint64_t>(),
                              file.at("sha256").get<std::string>()});
  }
  return manifest;
}

Manifest parse(const std::string& text) {
  try {
    return from_json(base::parse_json(text));
  } catch (const json::exception&) {
    throw base::DataError("its manifest is damaged");
  }
}

}  // namespace

std::string format_manifest(const Manifest& manifest) {
  json all = to_json(manifest);
  all["checksum"] = base::sha256_hex(base::json_text(all));
  return base::json_text(all, 1) + "\n";
}

Manifest read_manifest(const fs::path& checkpoint) {
  std::ifstream file(checkpoint / kManifestName, std::ios::binary);
  if (!file) throw base::DataError("it has no manifest: it was never finished");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  Manifest manifest = parse(text);
  if (format_manifest(manifest) != text) throw base::DataError("its manifest is damaged");
  return manifest;
}

std::string checkpoint_name(std::uint64_t step) {
  return fmt::format("{}{:08}", kStepPrefix, step);
}

std::optional<std::uint64_t> step_of(const fs::path& checkpoint) {
  const std::string name = checkpoint.filename().string();
  if (!name.starts_with(kStepPrefix)) return std::nullopt;
  std::uint64_t step = 0;
  const char* end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data() + kStepPrefix.size(), end, step);
  if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  return step;
}

std::string part_prefix(int rank) {
  return fmt::format("rank-{:05}.", rank);
}

}  // namespace lockstep::train
