// The file of one rank:
//
//   lockstep checkpoint part 1\n
//   length of the facts (u64, little-endian), the facts (JSON)
//   the tensors, as a safetensors file: length, header, values without holes
//
// Tensors are kept in their logical order, whatever their order in memory.
#pragma once

#include <filesystem>
#include <string>

#include "lockstep/train/checkpoint.h"
#include "lockstep/train/checkpoint_file.h"

namespace lockstep::train {

// Everything that stands before the values, and how long the file will be.
struct PartFront {
  std::string text;
  std::uint64_t file_bytes = 0;
};
// Throws StoreError for a type the format does not have.
PartFront front_of(const CheckpointPart& part);
void write_values(DurableFile& file, const CheckpointPart& part);

// Throws DataError for a file that is none or is damaged so that it shows.
CheckpointPart parse_part(const std::filesystem::path& path);

}  // namespace lockstep::train
