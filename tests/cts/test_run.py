#!/usr/bin/env python3
"""What run.py makes of cases that pass, fail, crash, hang, are not supported, and of modes that do not agree."""

import os
import subprocess
import sys
import tempfile
import unittest
from xml.etree import ElementTree

RUN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "run.py")

# A suite in a few lines: what a case does is its last word. VK_INSTANCE_LAYERS says whether the layer is there.
SUITE = """#!/bin/sh
with=${VK_INSTANCE_LAYERS:+yes}
for argument; do
    case $argument in
    --deqp-runmode=*)
        for name in passes fails crashes hangs unsupported with-fails with-crashes with-differs; do
            echo "TEST: t.group.$name"
        done
        exit 0 ;;
    --deqp-case=*) name=${argument##*.} ;;
    esac
done
result=1
case $name$with in
fails*|with-failsyes) echo "  Fail (wrong)"; exit 1 ;;
crashes*|with-crashesyes) kill -SEGV $$ ;;
hangs*) sleep 60 ;;
unsupported*) echo "  NotSupported (what it takes)"; exit 0 ;;
with-differsyes) result=2 ;;
esac
echo "  Result: $result"
echo "  Pass (good)"
"""


class Runs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.suite = self.folder.name + "/suite"
        self.driver = self.folder.name + "/driver.json"
        with open(self.suite, "w", encoding="utf-8") as file:
            file.write(SUITE)
        os.chmod(self.suite, 0o755)
        with open(self.driver, "w", encoding="utf-8") as file:
            file.write("{}")

    def tearDown(self):
        self.folder.cleanup()

    def run_cases(self, *arguments):
        junit = self.folder.name + "/junit.xml"
        done = subprocess.run([sys.executable, RUN, "--build", self.folder.name, "--driver", self.driver, "--program",
                               self.suite, "--modes", "off,idle", "--limit", "1", "--junit", junit, *arguments],
                              capture_output=True, text=True, check=False)
        found = {}
        if os.path.exists(junit):
            for case in ElementTree.parse(junit).iter("testcase"):
                found[case.get("name")] = case[0].tag if len(case) else "passed"
        return done, found

    def test_all_kinds(self):
        done, found = self.run_cases()
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(found, {"passes": "passed", "fails": "skipped", "crashes": "skipped", "hangs": "skipped",
                                 "unsupported": "skipped", "with-fails": "failure", "with-crashes": "error",
                                 "with-differs": "failure"})
        self.assertIn("1 pass, 2 fail, 1 crash, 1 not supported, 3 fail without us", done.stdout)

    def test_by_name_and_pattern(self):
        done, found = self.run_cases("--deqp-case", "t.group.passes")
        self.assertEqual((done.returncode, found), (0, {"passes": "passed"}), done.stderr)
        done, found = self.run_cases("t.*with-*")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(found), 3)

    def test_by_config(self):
        config = self.folder.name + "/config.json"
        with open(config, "w", encoding="utf-8") as file:
            file.write('{"program": "%s", "cases": ["t.group.passes"], "modes": ["off", "idle"]}' % self.suite)
        done = subprocess.run([sys.executable, RUN, "--build", self.folder.name, "--driver", self.driver, "--config",
                               config], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("1 cases in 2 modes", done.stdout)

    def test_nothing_matches(self):
        done, _ = self.run_cases("nothing.*")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no case matches", done.stderr)


if __name__ == "__main__":
    unittest.main()
