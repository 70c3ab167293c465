// Where output goes: results to standard output, everything else to standard error; colour only where it is
// wanted. What both write is fit for a terminal, whatever bytes it quotes (base/printable.h).
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace lockstep::cli {

// Whoever read our output has gone away (`lockstep ... | head`): the program ends quietly.
struct ReaderGone : std::runtime_error {
  ReaderGone() : std::runtime_error("the reader of the output is gone") {}
};

enum class Tone { plain, good, warning, bad, heading, quiet };

class Console {
 public:
  // `color` is auto, always or never; auto asks NO_COLOR, TERM and whether the stream is a terminal.
  explicit Console(const std::string& color = "auto");

  // Writes results, all of them. Throws StoreError when the file or disk does not take them, ReaderGone when
  // the reading end of a pipe is closed.
  void print(std::string_view text) const;
  // Writes a message for people; a failure to do so has nowhere to be reported.
  void note(std::string_view text) const noexcept;

  // The text in a tone, as the stream's colours allow.
  std::string styled(std::string_view text, Tone tone) const { return paint(text, tone, color_out_); }
  std::string styled_note(std::string_view text, Tone tone) const { return paint(text, tone, color_err_); }

 private:
  static std::string paint(std::string_view text, Tone tone, bool color);
  bool color_out_;
  bool color_err_;
};

}  // namespace lockstep::cli
