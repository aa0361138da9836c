#!/usr/bin/env python3
"""What suite_case.sh makes of a test of Wine's: with a Wine in a few lines."""

import os
import shutil
import subprocess
import tempfile
import time
import unittest

CASE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "suite_case.sh")

# Says what was started, beside what, and runs a test; the first one begins services that hold what they inherit.
WINE = """#!/bin/sh
[ -z "$SERVICES" ] || sleep 20 &
echo "starts $(basename "$1") $2: $PM_WINE_TEST, overrides $WINEDLLOVERRIDES"
for dll in "$(dirname "$1")"/*.dll; do
    [ ! -e "$dll" ] || echo "beside: $(basename "$dll") from $(readlink -f "$dll")"
done
[ -n "$CRASHES" ] || echo "0020:$2: 3 tests executed (0 marked as todo, 0 as flaky, 1 failure), 0 skipped."
exit 5
"""


class SuiteCase(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        for name in ("bin/wine", "suites/x86_64/d3d11_test.exe"):
            path = os.path.join(self.folder, name)
            os.makedirs(os.path.dirname(path))
            with open(path, "w", encoding="utf-8") as file:
                file.write(WINE)
            os.chmod(path, 0o755)
        os.mkdir(self.folder + "/tmp")

    def dxvk(self, *names):
        os.mkdir(self.folder + "/dxvk")
        for name in names:
            with open(self.folder + "/dxvk/" + name, "w", encoding="utf-8"):
                pass
        return self.folder + "/dxvk"

    def run_case(self, **environment):
        env = {k: v for k, v in os.environ.items() if k not in ("PM_DXVK", "PM_WINE_KIND", "WINEDLLOVERRIDES")}
        env.update(environment, PATH=self.folder + "/bin:" + env["PATH"], PM_WINE_SUITES=self.folder + "/suites",
                   TMPDIR=self.folder + "/tmp")
        ran = subprocess.run([CASE, "d3d11.d3d11.test_blend+test_fog"], env=env, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
        self.assertEqual(os.listdir(self.folder + "/tmp"), [])
        return ran

    def test_a_case_that_comes_to_its_end_passes_though_tests_fail(self):
        ran = self.run_case()
        self.assertEqual(ran.returncode, 0)
        self.assertIn("starts d3d11_test.exe d3d11: test_blend+test_fog, overrides \n", ran.stdout)
        self.assertIn("3 tests executed", ran.stdout)
        self.assertNotIn("beside", ran.stdout)

    def test_one_that_does_not_fails(self):
        self.assertEqual(self.run_case(CRASHES="yes").returncode, 5)

    def test_services_are_not_waited_for(self):
        begin = time.monotonic()
        self.assertEqual(self.run_case(SERVICES="yes").returncode, 0)
        self.assertLess(time.monotonic() - begin, 15)

    def test_dxvk_lies_beside_the_program_and_nothing_takes_its_place(self):
        dxvk = self.dxvk("d3d11.dll", "dxgi.dll.so")
        ran = self.run_case(PM_DXVK=dxvk, WINEDLLOVERRIDES="mshtml=")
        self.assertEqual(ran.returncode, 0)
        self.assertIn("beside: d3d11.dll from %s/d3d11.dll\n" % dxvk, ran.stdout)
        self.assertIn("beside: dxgi.dll from %s/dxgi.dll.so\n" % dxvk, ran.stdout)
        self.assertIn("overrides d3d8,d3d9,d3d10core,d3d11,dxgi=n;mshtml=\n", ran.stdout)

    def test_a_folder_without_its_dll_is_refused(self):
        ran = self.run_case(PM_DXVK=self.dxvk("d3d9.dll"))
        self.assertEqual(ran.returncode, 2)
        self.assertIn("no d3d11.dll in ", ran.stdout)
        self.assertNotIn("starts", ran.stdout)


if __name__ == "__main__":
    unittest.main()
