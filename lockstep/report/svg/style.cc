// The style of charts, light and dark. Eight colours that stay apart for the colour-blind and have a contrast
// of at least 3 to 1 with the paper.
#include "lockstep/report/svg/draw.h"

namespace lockstep::report {

std::string chart_style(const std::string& root) {
  const std::string light =
      "--paper:#fff;--ink:#1b1f24;--soft:#5a6470;--line:#d5dae0;--heat:#9ccbf0;"
      "--s0:#0b63b5;--s1:#c2410c;--s2:#0f7b55;--s3:#8b2fa8;--s4:#8a6d00;--s5:#c01f5b;--s6:#2f7f95;--s7:#"
      "5b5f66";
  const std::string dark =
      "--paper:#14181d;--ink:#e8ecf1;--soft:#a7b1bd;--line:#363e48;--heat:#1d5c93;"
      "--s0:#6cb2f5;--s1:#ff9a5c;--s2:#4fcf9b;--s3:#d59bf0;--s4:#e5c441;--s5:#ff8fb4;--s6:#7fd3e6;--s7:#"
      "b5bcc6";
  std::string style = root + "{" + light + "}@media(prefers-color-scheme:dark){" + root + "{" + dark + "}}";
  // Paper is white, whatever the screen was.
  style += "@media print{" + root + "{" + light + "}}";
  style +=
      ".chart{font-family:system-ui,'DejaVu Sans',sans-serif;font-size:12px}"
      ".chart text{fill:var(--ink)}.chart .tick{font-size:11px;fill:var(--soft)}"
      ".chart .title{font-size:14px;font-weight:600}"
      ".chart .paper{fill:var(--paper)}"
      ".chart .grid{stroke:var(--line);stroke-width:1}.chart .axis{stroke:var(--soft);stroke-width:1}"
      ".chart .line{fill:none;stroke:var(--c);stroke-width:2}"
      ".chart .mark circle,.chart .mark path,.chart .mark rect{fill:var(--c)}"
      ".chart .mark rect.heat{fill:var(--heat)}.chart .mark rect.bar{stroke:var(--paper);stroke-width:1}"
      ".chart .mark.hollow circle,.chart .mark.hollow path,.chart .mark.hollow rect{fill:var(--paper);"
      "stroke:var(--c);stroke-width:1.5}"
      ".key circle,.key path,.key rect{fill:var(--c)}"
      ".key .line{fill:none;stroke:var(--c);stroke-width:1.5;stroke-dasharray:5 4}"
      ".chart .error{stroke:var(--ink);stroke-width:1;opacity:.75}"
      ".chart .reference .line{stroke-dasharray:5 4;stroke-width:1.5}"
      ".chart .rule{stroke:var(--s5);stroke-width:1.5;stroke-dasharray:2 3}"
      ".chart .ring{fill:none;stroke:var(--ink);stroke-width:1.5}"
      ".chart .swatch{fill:var(--c,var(--s5))}";
  for (int i = 0; i < kSeriesColors; ++i) {
    const std::string number = std::to_string(i);
    style += ".s" + number + "{--c:var(--s" + number + ")}";
  }
  return style;
}

}  // namespace lockstep::report
