#include "lockstep/report/formats/page.h"

#include "lockstep/report/svg/draw.h"

namespace lockstep::report {
namespace {

constexpr const char* kPage = R"(
*{box-sizing:border-box}
html{color-scheme:light dark;-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,'DejaVu Sans',sans-serif}
header,main,footer{max-width:1240px;margin:0 auto;padding:0 16px}
header{padding-top:16px}
h1{font-size:1.6rem;line-height:1.2;margin:.4em 0}
h2{font-size:1.2rem;line-height:1.3;margin:1.6em 0 .5em}
h3{font-size:1rem;line-height:1.3;margin:1.2em 0 .3em}
figcaption h3{margin-top:0}
h1,h2,h3,p,li,dt,dd{overflow-wrap:anywhere}
p{max-width:75ch;margin:.5em 0}
.cut{border-left:4px solid var(--s1);padding:.3em .8em;margin:0}
.note{color:var(--soft);font-size:.875rem}
.try{font-weight:600}
.figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,340px),1fr));gap:24px}
figure{margin:0;min-width:0;max-width:460px;break-inside:avoid}
.chart{display:block;width:100%;height:auto}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:2px 14px;margin:.3em 0;padding:0;font-size:.8125rem}
.legend li{display:flex;align-items:baseline;gap:6px;min-width:0}
.legend button{all:unset;cursor:pointer;display:flex;align-items:baseline;gap:6px;min-height:24px}
.legend button:focus-visible,summary:focus-visible,.scroll:focus-visible{outline:2px solid var(--s0);outline-offset:2px}
.legend button[aria-pressed=false]{text-decoration:line-through;color:var(--soft)}
.swatch{flex:none;display:inline-block;width:12px;height:9px;background:var(--c,var(--s5))}
.swatch.reference,.swatch.rule{height:0;background:none;border-top:2px dashed var(--c,var(--s5));align-self:center}
.legend .key{flex:none;width:12px;height:12px;align-self:center}
.legend .key.reference{width:23px}
.hidden-series{display:none}
.scroll{--shade:color-mix(in srgb,var(--ink) 28%,transparent);overflow-x:auto;max-width:100%;margin:.5em 0;background:
linear-gradient(to right,var(--paper),transparent) 0 0/40px 100% no-repeat local,
linear-gradient(to left,var(--paper),transparent) 100% 0/40px 100% no-repeat local,
linear-gradient(to right,var(--shade),transparent) 0 0/14px 100% no-repeat scroll,
linear-gradient(to left,var(--shade),transparent) 100% 0/14px 100% no-repeat scroll}
.hint{color:var(--soft);font-size:.8125rem;margin:.3em 0 0}
.hint[hidden]{display:none}
table{border-collapse:collapse;font-size:.875rem;font-variant-numeric:tabular-nums}
th,td{padding:.25em .6em;border-bottom:1px solid var(--line);text-align:left;vertical-align:top;white-space:nowrap}
th{font-weight:600}
thead th{border-bottom:2px solid var(--soft)}
.number{text-align:right}
.text{white-space:normal;min-width:9em;max-width:28em}
.published{font-style:italic;background:color-mix(in srgb,var(--s4) 12%,var(--paper))}
details{margin:.4em 0;font-size:.875rem}
summary{cursor:pointer;min-height:24px}
dl{max-width:75ch}
dt{font-weight:600}
dd{margin:0 0 .6em}
#tip{position:absolute;z-index:2;pointer-events:none;max-width:min(300px,90vw);padding:4px 8px;font-size:.8125rem;background:var(--ink);color:var(--paper);border-radius:4px}
#tip[hidden]{display:none}
footer{padding-bottom:32px}
@media print{
body{font-size:11pt}
.figures{grid-template-columns:1fr 1fr}
.scroll{overflow:visible;background:none}
.hint{display:none}
table{font-size:7.5pt}
th,td{white-space:normal;padding:.15em .3em}
details::details-content{content-visibility:visible;block-size:auto}
#tip{display:none}
}
)";

constexpr const char* kScript = R"(
'use strict';
const tip = document.getElementById('tip');
function placeTip(event, text) {
  tip.textContent = text;
  tip.hidden = false;
  const room = document.documentElement.clientWidth;
  const left = Math.max(4, Math.min(event.pageX + 12, window.scrollX + room - tip.offsetWidth - 4));
  tip.style.left = left + 'px';
  tip.style.top = (event.pageY + 14) + 'px';
}
for (const mark of document.querySelectorAll('svg.chart .mark, svg.chart .ring')) {
  const title = mark.querySelector('title');
  if (!title) continue;
  const text = title.textContent;
  title.remove();
  mark.addEventListener('pointermove', event => placeTip(event, text));
  mark.addEventListener('pointerdown', event => placeTip(event, text));
  mark.addEventListener('pointerleave', () => { tip.hidden = true; });
}
for (const item of document.querySelectorAll('.legend li[data-legend]')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.setAttribute('aria-pressed', 'true');
  button.title = 'show or hide';
  while (item.firstChild) button.append(item.firstChild);
  item.append(button);
  const shown = item.closest('figure').querySelectorAll('svg [data-legend="' + item.dataset.legend + '"]');
  button.addEventListener('click', () => {
    const on = button.getAttribute('aria-pressed') !== 'true';
    button.setAttribute('aria-pressed', String(on));
    for (const part of shown) part.classList.toggle('hidden-series', !on);
  });
}
for (const box of document.querySelectorAll('.scroll')) {
  const hint = document.createElement('p');
  hint.className = 'hint';
  hint.hidden = true;
  hint.textContent = 'Wider than the page: scroll it sideways \u2192';
  box.before(hint);
  new ResizeObserver(() => { hint.hidden = box.scrollWidth <= box.clientWidth + 1; }).observe(box);
}
let opened = [];
window.addEventListener('beforeprint', () => {
  opened = [...document.querySelectorAll('details:not([open])')];
  for (const one of opened) one.open = true;
});
window.addEventListener('afterprint', () => { for (const one of opened) one.open = false; });
)";

}  // namespace

std::string page_style() {
  return chart_style(":root") + kPage;
}

std::string page_script() {
  return kScript;
}

}  // namespace lockstep::report
