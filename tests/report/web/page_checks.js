// Functions that the web test runs inside the page.

function rectangle(node) {
  const box = node.getBoundingClientRect();
  return {left: box.left, right: box.right, top: box.top, bottom: box.bottom, text: node.textContent.trim()};
}

function overlap(one, other) {
  const wide = Math.min(one.right, other.right) - Math.max(one.left, other.left);
  const high = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
  return wide > 1 && high > 2;
}

// Texts of charts that leave their chart or lie on one another.
function chartFaults() {
  const faults = [];
  for (const chart of document.querySelectorAll('svg.chart')) {
    const frame = rectangle(chart);
    const texts = [...chart.querySelectorAll('text')].map(rectangle).filter(one => one.text);
    for (const one of texts) {
      if (one.left < frame.left - 1 || one.right > frame.right + 1 || one.top < frame.top - 1 || one.bottom > frame.bottom + 1)
        faults.push(chart.dataset.chart + ': clipped: ' + one.text);
    }
    for (let i = 0; i < texts.length; ++i)
      for (let j = i + 1; j < texts.length; ++j)
        if (overlap(texts[i], texts[j]))
          faults.push(chart.dataset.chart + ': overlap: ' + texts[i].text + ' / ' + texts[j].text);
  }
  return faults;
}

// Texts of the page that leave the page or their own box, legend entries on one another, a page that scrolls sideways.
function pageFaults() {
  const faults = [];
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width) faults.push('the page scrolls sideways: ' + document.documentElement.scrollWidth);
  for (const node of document.querySelectorAll('h1,h2,h3,p,li,dt,dd,summary,figcaption,.legend li,figure')) {
    if (node.closest('.scroll')) continue;
    const box = rectangle(node);
    if (box.right > width + 1 || box.left < -1) faults.push('beyond the page: ' + box.text.slice(0, 60));
    if (node.scrollWidth > node.clientWidth + 1 && node.clientWidth > 0) faults.push('clipped: ' + box.text.slice(0, 60));
  }
  for (const legend of document.querySelectorAll('.legend')) {
    const items = [...legend.children].map(rectangle);
    for (let i = 0; i + 1 < items.length; ++i)
      if (overlap(items[i], items[i + 1])) faults.push('legend: ' + items[i].text + ' / ' + items[i + 1].text);
  }
  return faults;
}

// What each chart plots: the numbers of its marks, where they lie, and where its ticks lie.
function plotted() {
  const numbers = data => Object.fromEntries(Object.entries(data).filter(([key]) => key !== 'legend'));
  return [...document.querySelectorAll('svg.chart')].map(chart => ({
    name: chart.dataset.chart,
    marks: [...chart.querySelectorAll('.mark')].map(mark => numbers(mark.dataset)),
    x: [...chart.querySelectorAll('[data-tick-x]')].map(tick => [tick.dataset.tickX, tick.getAttribute('x')]),
    y: [...chart.querySelectorAll('[data-tick-y]')].map(
        tick => [tick.dataset.tickY, tick.dataset.at ?? tick.getAttribute('y')]),
  }));
}

// The numbers of each table of the report, row by row; null where a cell has none.
function tabulated() {
  return [...document.querySelectorAll('main > .scroll table')].map(table => ({
    name: table.dataset.table,
    rows: [...table.tBodies[0].rows].map(row => [...row.cells].map(cell => cell.dataset.value ?? null)),
  }));
}
