"""Plants violations of the architecture in a small tree and expects tools/check_layers.py to name them."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CHECK = Path(os.environ["LOCKSTEP_SOURCE_DIR"]) / "tools" / "check_layers.py"


class CheckLayersTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name)
        for module in ("base", "measure", "comm", "launch", "cli", "models"):
            self.write(f"lockstep/{module}/README.md", "# a module\n")
        self.write("lockstep/base/CMakeLists.txt", "lockstep_module(base SOURCES text.cc)\n")
        self.write("lockstep/base/text.h", "// Text.\n#include <string>\n")
        self.write("lockstep/base/text.cc", '#include "lockstep/base/text.h"\n')
        self.write("tests/base/CMakeLists.txt", "lockstep_test(text_test SOURCES text_test.cc)\n")
        self.write("tests/base/text_test.cc", "// Tests of text.\n")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def check(self):
        done = subprocess.run([sys.executable, str(CHECK), str(self.root)], capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout

    def expect_violation(self, *words):
        code, output = self.check()
        self.assertEqual(code, 1, output)
        self.assertIn("layers: 1 violations", output)
        for word in words:
            self.assertIn(word, output)

    def test_a_tree_that_keeps_to_the_table_passes(self):
        self.write("lockstep/comm/work.h", '// Work.\n#include "lockstep/measure/ledger.h"\n#include "lockstep/base/text.h"\n')
        code, output = self.check()
        self.assertEqual(code, 0, output)

    def test_an_include_upwards_is_named_with_file_line_and_what_is_allowed(self):
        self.write("lockstep/measure/ledger.h", '// The ledger.\n\n#include "lockstep/comm/work.h"\n')
        self.expect_violation("lockstep/measure/ledger.h:3:", "measure may not include comm", "allowed: base, record")

    def test_base_may_include_no_other_module(self):
        self.write("lockstep/base/text.h", '// Text.\n#include "lockstep/measure/ledger.h"\n')
        self.expect_violation("lockstep/base/text.h:2:", "allowed: nothing but itself")

    def test_torch_in_a_torch_free_module_is_named(self):
        for header in ("torch/torch.h", "ATen/core/Tensor.h", "c10/util/Half.h"):
            self.write("lockstep/comm/tensor.h", f"// Tensors.\n#include <{header}>\n")
            self.expect_violation("lockstep/comm/tensor.h:2:", "torch-free", header)

    def test_torch_in_a_module_that_may_have_it_passes(self):
        self.write("lockstep/models/unit.h", "// A unit.\n#include <ATen/core/Tensor.h>\n")
        self.assertEqual(self.check()[0], 0)

    def test_torch_at_the_edge_of_a_torch_free_module_stays_there(self):
        self.write("lockstep/data/README.md", "# a module\n")
        self.write("lockstep/data/torch/tensors.h", "// Tensors.\n#include <ATen/core/Tensor.h>\n")
        self.assertEqual(self.check()[0], 0)
        self.write("lockstep/cli/data.h", '// Data.\n#include "lockstep/data/torch/tensors.h"\n')
        self.expect_violation("lockstep/cli/data.h:2:", "torch-free")

    def test_libtorchs_inside_is_included_in_its_one_place_of_a_module_only(self):
        self.write("lockstep/models/layers/direct.h", "// Nodes.\n#include <torch/csrc/autograd/function.h>\n")
        self.assertEqual(self.check()[0], 0)
        self.write("lockstep/models/loss.h", "// Losses.\n#include <torch/csrc/autograd/function.h>\n")
        self.expect_violation("lockstep/models/loss.h:2:", "libtorch's inside", "models/layers/direct.h")

    def test_nothing_includes_cli(self):
        self.write("lockstep/launch/start.h", '// Start.\n#include "lockstep/cli/flags.h"\n')
        self.expect_violation("lockstep/launch/start.h:2:", "may not include cli")

    def test_a_benchmark_may_not_include_cli_either(self):
        self.write("bench/start_bench.cc", '// Start.\n#include "lockstep/cli/flags.h"\n')
        self.expect_violation("bench/start_bench.cc:2:", "nothing includes cli")

    def test_launch_reaches_only_the_rendezvous_of_comm(self):
        self.write("lockstep/launch/start.h", '// Start.\n#include "lockstep/comm/rendezvous/run_server.h"\n')
        self.assertEqual(self.check()[0], 0)
        self.write("lockstep/launch/start.h", '// Start.\n#include "lockstep/comm/session.h"\n')
        self.expect_violation("lockstep/launch/start.h:2:", "allowed: lockstep/comm/rendezvous/")

    def test_a_plugin_is_included_by_itself_only(self):
        self.write("lockstep/comm/gloo/ring.h", '// Ring.\n#include "lockstep/comm/gloo/context.h"\n')
        self.assertEqual(self.check()[0], 0)
        self.write("lockstep/comm/registry.h", '// Registry.\n#include "lockstep/comm/gloo/ring.h"\n')
        self.expect_violation("lockstep/comm/registry.h:2:", "comm/gloo is a plugin")

    def test_a_test_that_no_target_builds_is_named(self):
        self.write("tests/base/units_test.cc", "// Tests of units.\n")
        self.expect_violation("tests/base/units_test.cc:1:", "no CMakeLists.txt names it")

    def test_a_name_in_a_comment_of_a_build_file_builds_nothing(self):
        self.write("tests/base/units_test.cc", "// Tests of units.\n")
        self.write("tests/base/CMakeLists.txt", "lockstep_test(t SOURCES text_test.cc) # units_test.cc\n")
        self.expect_violation("tests/base/units_test.cc:1:")

    def test_a_name_in_another_folder_builds_nothing(self):
        self.write("tests/comm/text_test.cc", "// Tests of another text.\n")
        self.expect_violation("tests/comm/text_test.cc:1:")

    def test_a_source_that_no_target_builds_is_named(self):
        self.write("lockstep/base/units.h", "// Units.\n")
        self.write("lockstep/base/units.cc", '#include "lockstep/base/units.h"\n')
        self.expect_violation("lockstep/base/units.cc:1:", "no CMakeLists.txt names it")

    def test_a_module_outside_the_table_is_named(self):
        self.write("lockstep/extra/README.md", "# extra\n")
        self.write("lockstep/extra/thing.h", "// A thing.\n")
        self.expect_violation("lockstep/extra/thing.h:1:", "table of modules")

    def test_json_that_base_does_not_write_or_read_is_named(self):
        for line in ("auto text = json.dump(2);", "auto text = cores->dump();", "auto json = nlohmann::json::parse(text);"):
            self.write("lockstep/comm/work.h", f"// Work.\n{line}\n")
            self.expect_violation("lockstep/comm/work.h:2:", "lockstep/base/json.h")

    def test_a_module_without_a_readme_is_named(self):
        (self.root / "lockstep/comm/README.md").unlink()
        self.expect_violation("lockstep/comm/README.md:1:", "is missing")

    def test_a_header_without_a_purpose_is_named(self):
        self.write("lockstep/base/units.h", "#pragma once\n")
        self.expect_violation("lockstep/base/units.h:1:", "what it is for")

    def test_a_test_may_open_with_the_header_it_tests(self):
        self.write("tests/base/text_test.cc", '#include "lockstep/base/text.h"\n')
        self.assertEqual(self.check()[0], 0)

    def test_a_source_without_a_header_of_ours_needs_a_purpose(self):
        self.write("lockstep/base/CMakeLists.txt", "lockstep_module(base SOURCES text.cc main.cc)\n")
        self.write("lockstep/base/main.cc", "#include <cstdio>\n")
        self.expect_violation("lockstep/base/main.cc:1:", "what it is for")

    def test_statistics_tell_how_finely_the_tree_is_cut(self):
        self.write("lockstep/base/text.h", "// Text.\nstruct Word {};\nstruct Line {\n};\n")
        self.write("lockstep/comm/work.cc", '// Work.\n#include "lockstep/base/text.h"\nLine line;\n')
        self.write("lockstep/comm/cuda/kernel.cu", "// A kernel.\n")
        done = subprocess.run([sys.executable, str(CHECK), "--stats", str(self.root)], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("source files: 4, 3 without GPU code; 9 lines; median 2 lines, 4 under 40", done.stdout)
        self.assertIn("headers: 1, 1 of them included by at most one file of lockstep/, 1 of these by no test either", done.stdout)
        self.assertIn("types in headers: 2, 2 of them with at most one user", done.stdout)
        self.write("tests/base/text_test.cc", '#include "lockstep/base/text.h"\n')
        done = subprocess.run([sys.executable, str(CHECK), "--stats", str(self.root)], capture_output=True, text=True, timeout=60)
        self.assertIn("1 of them included by at most one file of lockstep/, 0 of these by no test either", done.stdout)


if __name__ == "__main__":
    unittest.main()
