#!/usr/bin/env python3
"""Opens reports in a real Chromium from file:// and looks at them as a reader would.

Environment: LOCKSTEP_SAMPLES, a program that writes sample reports (NAME.html, NAME.json) into a folder;
LOCKSTEP_AXE, the file axe.min.js, or nothing where it could not be had; LOCKSTEP_SCREENSHOTS, a folder for pictures.
"""

import base64
import json
import math
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import webdriver  # noqa: E402  (beside this file)

HERE = Path(__file__).resolve().parent
CHECKS = (HERE / "page_checks.js").read_text(encoding="utf-8")
SCREENS = [(width, scheme) for width in (360, 1280) for scheme in ("light", "dark")]


def number(text):
    return {"nan": math.nan, "infinity": math.inf, "-infinity": -math.inf}.get(text, None) if not is_float(text) else float(text)


def is_float(text):
    try:
        float(text)
        return True
    except (TypeError, ValueError):
        return False


class ReportInBrowser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="lockstep-report-")
        subprocess.run([os.environ["LOCKSTEP_SAMPLES"], cls.folder.name], check=True, timeout=120)
        cls.pages = sorted(Path(cls.folder.name).glob("*.html"))
        cls.browser = webdriver.Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.folder.cleanup()

    def open(self, page, width=1280, scheme="light"):
        self.browser.show_as(width, scheme)
        self.browser.open(page.as_uri())

    def check(self, function):
        return self.browser.run(CHECKS + f"\nreturn {function}();")

    def each(self):
        self.assertGreaterEqual(len(self.pages), 3)
        return [(page, json.loads(page.with_suffix(".json").read_text(encoding="utf-8"))) for page in self.pages]

    def test_it_opens_from_a_file_without_a_request_or_a_console_error(self):
        for page, _ in self.each():
            self.browser.requests()
            self.browser.console()
            self.open(page)
            asked = [url for url in self.browser.requests() if not url.startswith("data:")]
            self.assertEqual(set(asked), {page.as_uri()})
            self.assertEqual([entry["message"] for entry in self.browser.console()], [])

    def test_its_policy_lets_no_other_script_or_style_in(self):
        self.open(self.pages[0])
        ran = self.browser.run("""
            const script = document.createElement('script');
            script.textContent = 'document.body.dataset.intruder = 1';
            document.body.append(script);
            return document.body.dataset.intruder || 'kept out';""")
        self.assertEqual(ran, "kept out")
        self.browser.console()

    def test_no_label_is_clipped_or_overlaps(self):
        for page, _ in self.each():
            for width, scheme in SCREENS:
                with self.subTest(page=page.stem, width=width, scheme=scheme):
                    self.open(page, width, scheme)
                    self.keep_picture(f"{page.stem}-{width}-{scheme}")
                    self.assertEqual(self.check("chartFaults"), [])
                    self.assertEqual(self.check("pageFaults"), [])

    def keep_picture(self, name):
        folder = os.environ.get("LOCKSTEP_SCREENSHOTS")
        if folder:
            picture = self.browser.devtools("Page.captureScreenshot", captureBeyondViewport=True, format="png")
            Path(folder, name + ".png").write_bytes(base64.b64decode(picture["data"]))

    def test_axe_finds_nothing_serious(self):
        source = os.environ.get("LOCKSTEP_AXE", "")
        if not Path(source).is_file():
            self.skipTest("axe-core could not be had (npm is missing or offline)")
        axe = Path(source).read_text(encoding="utf-8")
        for page, _ in self.each():
            for width, scheme in SCREENS:
                self.open(page, width, scheme)
                found = self.browser.run_async(axe + """
                    ;const done = arguments[arguments.length - 1];
                    axe.run({iframes: false, resultTypes: ['violations']}).then(result => done(result.violations.map(
                        one => [one.impact, one.id, one.nodes.slice(0, 3).map(node => node.html.slice(0, 160))])));""")
                serious = [one for one in found if one[0] in ("serious", "critical")]
                self.assertEqual(serious, [], f"{page.stem} at {width} pixels, {scheme}")

    def test_figures_and_tables_are_there_with_scripts_off(self):
        for page, report in self.each():
            self.browser.devtools("Emulation.setScriptExecutionDisabled", value=True)
            try:
                self.open(page)
                seen = self.browser.devtools("DOM.getDocument", depth=0)["root"]["nodeId"]
                count = lambda what: len(self.browser.devtools("DOM.querySelectorAll", nodeId=seen, selector=what)["nodeIds"])
                self.assertEqual(count("figure svg.chart"), len(report["charts"]))
                self.assertEqual(count("figure details table"), len(report["charts"]))
                self.assertEqual(count("main > .scroll table"), len(report["tables"]))
                self.assertEqual(count(".legend button"), 0)
            finally:
                self.browser.devtools("Emulation.setScriptExecutionDisabled", value=False)

    def test_every_plotted_number_is_the_one_of_the_json(self):
        for page, report in self.each():
            self.open(page)
            charts = self.check("plotted")
            self.assertEqual(len(charts), len(report["charts"]))
            for drawn, told in zip(charts, report["charts"]):
                self.compare_chart(drawn, told)

    def compare_chart(self, drawn, told):
        marks = {(int(mark["series"]), float(mark["x"]), float(mark["y"])): mark for mark in drawn["marks"]}
        points = [(index, point) for index, series in enumerate(told["series"]) for point in series["points"]
                  if told["y"]["scale"] == "linear" or point["y"] > 0]
        self.assertEqual(len(drawn["marks"]), len(points), told["title"])
        for index, point in points:
            mark = marks[(index, point["x"], point["y"])]
            for key in ("low", "high", "value"):
                told_number = point.get(key)
                if isinstance(told_number, str):
                    told_number = float(told_number)  # "infinity"
                self.assertEqual(float(mark[key]) if key in mark else None, told_number)
            self.compare_place(drawn, told, mark)

    def compare_place(self, drawn, told, mark):
        """A mark lies where the ticks beside it say."""
        if told["kind"] in ("line", "scatter"):
            for axis, offset in (("x", 0), ("y", -4)):
                expected = self.place(drawn[axis], float(mark[axis]), told[axis]["scale"])
                if expected is not None:
                    self.assertAlmostEqual(float(mark["p" + axis]), expected + offset, delta=0.2)
        elif told["kind"] in ("bar", "stacked_bar") and told["y"]["scale"] == "linear":
            zero, end = (self.place(drawn["y"], value, "linear") for value in (0, max(0, float(mark["y"]))))
            if zero is not None:
                self.assertAlmostEqual(float(mark["length"]), end - zero, delta=0.2)

    @staticmethod
    def place(ticks, value, scale):
        if len(ticks) < 2:
            return None
        (first, first_at), (last, last_at) = [(float(tick), float(at)) for tick, at in (ticks[0], ticks[-1])]
        unbent = math.log if scale == "log" else float
        share = (unbent(value) - unbent(first)) / (unbent(last) - unbent(first))
        return first_at + share * (last_at - first_at)

    def test_every_tabulated_number_is_the_one_of_the_json(self):
        for page, report in self.each():
            self.open(page)
            for drawn, told in zip(self.check("tabulated"), report["tables"]):
                self.assertEqual(drawn["name"], told["name"])
                expected = [[cell["value"] if isinstance(cell, dict) else None for cell in row] for row in told["rows"]]
                self.assertEqual([[None if cell is None else number(cell) for cell in row] for row in drawn["rows"]], expected)

    def test_legend_entries_hide_their_series_and_the_pointer_shows_values(self):
        self.open(self.pages[0])
        hidden = self.browser.run("""
            const button = document.querySelector('.legend button');
            button.click();
            const figure = button.closest('figure');
            const part = figure.querySelector('svg [data-legend="' + button.closest('li').dataset.legend + '"]');
            return [getComputedStyle(part).display, button.getAttribute('aria-pressed')];""")
        self.assertEqual(hidden, ["none", "false"])
        tip = self.browser.run("""
            const mark = document.querySelector('svg.chart .mark');
            mark.dispatchEvent(new PointerEvent('pointermove', {bubbles: true, clientX: 50, clientY: 50}));
            const tip = document.getElementById('tip');
            return [tip.hidden, tip.textContent.length > 3];""")
        self.assertEqual(tip, [False, True])

    def test_on_paper_it_is_black_on_white_with_every_number_open(self):
        for page, _ in self.each():
            self.open(page, 1280, "dark")
            self.browser.devtools("Emulation.setEmulatedMedia", media="print",
                                  features=[{"name": "prefers-color-scheme", "value": "dark"}])
            paper = self.browser.run("return getComputedStyle(document.body).backgroundColor;")
            self.assertEqual(paper, "rgb(255, 255, 255)")
            opened = self.browser.run("""
                window.dispatchEvent(new Event('beforeprint'));
                return document.querySelectorAll('details:not([open])').length;""")
            self.assertEqual(opened, 0)


if __name__ == "__main__":
    absent = webdriver.missing_programs()
    if absent:
        print(f"skipped: {absent}; make test-web installs them")
        sys.exit(77)
    unittest.main()
