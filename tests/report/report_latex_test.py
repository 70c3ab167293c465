#!/usr/bin/env python3
"""Compiles the LaTeX of sample reports. Environment: LOCKSTEP_SAMPLES, the program that writes them."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path


def compiler():
    return next((shutil.which(name) for name in ("pdflatex", "tectonic") if shutil.which(name)), None)


class Latex(unittest.TestCase):
    def test_every_report_compiles(self):
        with tempfile.TemporaryDirectory(prefix="lockstep-latex-") as folder:
            subprocess.run([os.environ["LOCKSTEP_SAMPLES"], folder], check=True, timeout=120)
            sources = sorted(Path(folder).glob("*.tex"))
            self.assertGreaterEqual(len(sources), 3)
            for source in sources:
                options = ["-interaction=nonstopmode", "-halt-on-error"] if "pdflatex" in compiler() else []
                run = subprocess.run([compiler(), *options, source.name], cwd=folder, capture_output=True, text=True,
                                     errors="replace", timeout=240)
                self.assertEqual(run.returncode, 0, run.stdout[-2000:])
                self.assertTrue(source.with_suffix(".pdf").is_file())


if __name__ == "__main__":
    if not compiler():
        print("skipped: neither pdflatex nor tectonic is here (Debian: texlive-latex-recommended)")
        sys.exit(77)
    unittest.main()
