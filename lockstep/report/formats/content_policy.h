// The content policy of a page that asks nobody for anything: only this style and this script, by their
// hashes.
#pragma once

#include <string>
#include <string_view>

namespace lockstep::report {

// "'sha256-...'" of an element's text.
std::string policy_hash(std::string_view text);
std::string content_policy(std::string_view style, std::string_view script);

}  // namespace lockstep::report
