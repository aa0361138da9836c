#!/usr/bin/env python3
"""What run.py makes of cases that pass, fail, crash, hang, are not supported, and of modes that do not agree."""

import collections
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from xml.etree import ElementTree

# What the layer does in a process at least: it writes a log.
LOADED = """[ -z "$PIECEMEAL_LOG_FILE" ] || echo "info: a game" >>"$PIECEMEAL_LOG_FILE"
"""

RUN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "run.py")

# A suite in a few lines: what a case does is its last word. VK_INSTANCE_LAYERS says whether the layer is there.
SUITE = """#!/bin/sh
""" + LOADED + """with=${VK_INSTANCE_LAYERS:+yes}
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


# A dEQP binary that says nothing but in its log, as one without a console does.
LOGGING = """#!/bin/sh
""" + LOADED + """with=${VK_INSTANCE_LAYERS:+yes}
for argument; do
    case $argument in
    --deqp-case=*) name=${argument#*=} ;;
    --deqp-log-filename=*) log=${argument#*=} ;;
    esac
done
begin() {
    echo "#sessionInfo releaseName none"
    echo "#beginSession"
    echo "#beginTestCaseResult $name"
    echo '<TestCaseResult Version="0.3.4" CasePath="'$name'">'
    echo ' <Image Name="Result"><![CDATA[ Fail (not this) ]]></Image>'
}
result() {
    echo ' <Result StatusCode="'$1'">'"$2"'</Result>'
    echo '</TestCaseResult>'
    echo '#endTestCaseResult'
    echo '#endSession'
}
case ${name##*.}$with in
fails*|with-failsyes) { begin; result Fail "a &lt; b"; } >"$log" ;;
ends*|with-endsyes) begin >"$log" ;;
lost*|with-lostyes) { begin; echo "#terminateTestCaseResult DeviceLost"; } >"$log" ;;
other*) name=t.group.another; { begin; result Pass "of another"; } >"$log" ;;
unsupported*) { begin; result NotSupported "what it takes"; } >"$log" ;;
*) { begin; result Pass "two
lines"; } >"$log" ;;
esac
"""


# A suite that is no dEQP binary: it is told of a case by the environment, and tells by its status and its last line.
BY_STATUS = """#!/bin/sh
""" + LOADED + """with=${VK_INSTANCE_LAYERS:+yes}
if [ "$1" = --list-tests ]; then
    printf '%s\\n' passes fails crashes hangs unsupported with-fails with-crashes with-differs
    exit 0
fi
[ "$1" = "--told=$MATCH" ] || exit 3
failed=0
case $MATCH$with in
fails*|with-failsyes) failed=1 ;;
crashes*|with-crashesyes) kill -SEGV $$ ;;
hangs*) sleep 60 ;;
unsupported*) echo "Test skipped: what it takes." ;;
with-differsyes) todo=1 ;;
esac
echo "9 tests executed ($failed failures, ${todo:-0} todo)"
exit $failed
"""


# The layer, as far as a mode shows in the environment: what the cases drew is written down, and in use but for one case.
RECIPES = """#!/bin/sh
""" + LOADED + """
for argument; do
    case $argument in
    --deqp-case=*) name=${argument##*.} ;;
    esac
done
if [ -n "$PIECEMEAL_DEBUG_RECIPE" ]; then
    echo "$name $PIECEMEAL_DEBUG_RECIPE $PIECEMEAL_SAMPLER_SEED" >>SEEN
    [ "$name" = unfit ] || echo "the recipe fake-$name is in use" >>"$PIECEMEAL_LOG_FILE"
fi
echo "  Result: 1"
echo "  Pass (good)"
"""


# The validation layer, as far as it shows: what it says of each case, without us and with us, as those of Debian 12 and 13 do.
VALIDATED = """#!/bin/sh
""" + LOADED + """
for argument; do
    case $argument in
    --deqp-case=*) name=${argument##*.} ;;
    esac
done
case $VK_INSTANCE_LAYERS in
*PIECEMEAL*:VK_LAYER_KHRONOS_validation) with=yes ;;
VK_LAYER_KHRONOS_validation) with= ;;
*) exit 3 ;;
esac
[ -s "$VK_LAYER_SETTINGS_PATH" ] || exit 3
[ "$name$with" = gone-yes ] || echo "Validation Information: [ x ] Khronos Validation Layer Active: none"
case $name$with in
games*|mixed*) echo "VUID-the-games(ERROR / SPEC): msgNum: -17 - Validation Error: [ VUID-the-games ] Object 0: x" ;;
esac
case $name$with in
mixedyes) echo "VUID-of-us(WARN / SPEC): msgNum: 17 - Validation Warning: [ VUID-of-us ] Object 0: x" ;;
oursyes) echo "Validation Error: [ VUID-of-us ] | MessageID = 0x1" ;;
knownyes) echo "Validation Error: [ VUID-vkCmdDraw-None-08879 ] | MessageID = 0x1" ;;
esac
echo "  Result: 1"
echo "  Pass (good)"
"""


class OurOwnCases(unittest.TestCase):
    def test_there_are_enough_of_every_kind(self):
        """What pm_cts lists: at least 2,000, each once, of each way at least so many."""
        done = subprocess.run([os.environ["PM_CTS"], "--deqp-runmode=stdout-caselist"], capture_output=True, text=True,
                              timeout=60, check=True)
        names = [re.fullmatch(r"TEST: (pm(?:\.[a-z0-9_]+){2,})", line).group(1) for line in done.stdout.splitlines()]
        self.assertGreaterEqual(len(names), 2000)
        self.assertEqual(len(names), len(set(names)))
        kinds = collections.Counter(name.split(".")[1] for name in names)
        for kind, least in {"graphics": 1400, "compute": 700, "objects": 150, "newer": 300, "destroy": 72, "allocation": 32,
                            "devices": 15, "threads": 8, "fork": 3, "instances": 3}.items():
            self.assertGreaterEqual(kinds[kind], least, kind)


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

    def test_what_fails_without_us(self):
        """It may not crash or hang with us; what crashes or hangs without us says nothing."""
        endings = {"Fail": 'echo "  Fail (wrong)"; exit 1', "Crash": "kill -SEGV $$", "Timeout": "sleep 60"}
        for without, with_us, kind in (("Fail", "Fail", "skipped"), ("Fail", "Crash", "error"),
                                       ("Fail", "Timeout", "error"), ("Crash", "Timeout", "skipped"),
                                       ("Timeout", "Crash", "skipped")):
            with self.subTest(without=without, with_us=with_us):
                with open(self.suite, "w", encoding="utf-8") as file:
                    file.write("#!/bin/sh\n" + LOADED + 'if [ -z "$VK_INSTANCE_LAYERS" ]; then %s; else %s; fi\n'
                               % (endings[without], endings[with_us]))
                done, found = self.run_cases("--deqp-case", "t.group.it")
                self.assertEqual(found, {"it": kind}, done.stdout + done.stderr)
                if kind == "error":
                    self.assertIn("crash: t.group.it: idle: " + with_us, done.stdout)

    def test_complaints(self):
        """A warning in the layer's log fails a case, but for a case without memory one that says so."""
        for case, line, kind in (("t.group.it", "all is well", "passed"),
                                 ("t.group.it", "none (VkResult -1)", "failure"),
                                 ("pm.allocation.it", "none (VkResult -1)", "passed"),
                                 ("pm.allocation.it", "none (VkResult -2)", "failure")):
            with self.subTest(case=case, line=line):
                level = "info" if line == "all is well" else "warning"
                with open(self.suite, "w", encoding="utf-8") as file:
                    file.write(SUITE.replace("info: a game", "piecemeal: %s: %s" % (level, line)))
                done, found = self.run_cases("--deqp-case", case)
                self.assertEqual(found, {"it": kind}, done.stdout + done.stderr)

    def test_why_it_is_not_supported(self):
        """A report's reader sees the reason, not what the binary said first."""
        for text, first in ((SUITE, "Test case"), (LOGGING, "Writing test log")):
            with open(self.suite, "w", encoding="utf-8") as file:
                file.write(text.replace("#!/bin/sh\n", "#!/bin/sh\necho '%s'\n" % first))
            self.run_cases("--deqp-case", "t.group.unsupported")
            case = next(ElementTree.parse(self.folder.name + "/junit.xml").iter("testcase"))
            self.assertEqual((case[0].tag, case[0].get("message")), ("skipped", "what it takes"))
            self.assertIn(first, case[0].text)

    def test_a_config_names_its_program_from_its_folder(self):
        config = self.folder.name + "/config.json"
        with open(config, "w", encoding="utf-8") as file:
            json.dump({"program": "./suite", "folder": self.folder.name, "cases": ["t.group.passes"]}, file)
        done = subprocess.run([sys.executable, RUN, "--build", self.folder.name, "--driver", self.driver, "--config",
                               config, "--modes", "off"], capture_output=True, text=True, check=False, cwd="/")
        self.assertIn("1 pass, 0 fail", done.stdout, done.stderr)

    def test_a_program_that_tells_by_its_status(self):
        config = self.folder.name + "/config.json"
        with open(self.suite, "w", encoding="utf-8") as file:
            file.write(BY_STATUS)
        with open(config, "w", encoding="utf-8") as file:
            json.dump({"arguments": ["--told={case}"], "environment": {"MATCH": "{case}"},
                       "list_arguments": ["--list-tests"], "unsupported": "^Test skipped.*",
                       "result": r"tests executed \((.*)\)"}, file)
        done, found = self.run_cases("--config", config)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(found, {"passes": "passed", "fails": "skipped", "crashes": "skipped", "hangs": "skipped",
                                 "unsupported": "skipped", "with-fails": "failure", "with-crashes": "error",
                                 "with-differs": "failure"})
        self.assertIn("idle: Pass 0 failures, 1 todo, without us Pass 0 failures, 0 todo", done.stdout)
        done, found = self.run_cases("--config", config, "with-*s")
        self.assertEqual(sorted(found), ["with-crashes", "with-differs", "with-fails"], done.stdout)
        done, found = self.run_cases("--config", config, "passes")  # not listed
        self.assertEqual((done.returncode, found), (0, {"passes": "passed"}), done.stderr)

    def test_by_name_and_pattern(self):
        done, found = self.run_cases("--deqp-case", "t.group.passes")
        self.assertEqual((done.returncode, found), (0, {"passes": "passed"}), done.stderr)
        done, found = self.run_cases("t.*with-*")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(found), 3)

    def test_recipes(self):
        """Each case draws by its name, and what was in use is counted."""
        seen = self.folder.name + "/seen"
        with open(self.suite, "w", encoding="utf-8") as file:
            file.write(RECIPES.replace("SEEN", seen))
        cases = ["--modes", "off,recipes", "--deqp-case", "t.a", "--deqp-case", "t.b", "--deqp-case", "t.unfit"]
        drawn = []
        for least, status in ((2, 0), (3, 1)):
            done, _ = self.run_cases(*cases, "--all-seen", "--least-recipes", str(least))
            self.assertEqual(done.returncode, status, done.stdout + done.stderr)
            self.assertIn("2 uses of recipes\n2 recipes: fake-a fake-b\n", done.stdout)
            with open(seen, encoding="utf-8") as file:
                drawn.append(sorted(file.read().splitlines()))
            os.unlink(seen)
        self.assertEqual(drawn[0], drawn[1])
        self.assertEqual([line.split()[:2] for line in drawn[0]], [["a", "any"], ["b", "any"], ["unfit", "any"]])
        self.assertEqual(len({line.split()[2] for line in drawn[0]}), 3)
        done, _ = self.run_cases("--modes", "off,recipes", "--deqp-case", "t.unfit", "--all-seen")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("nothing was seen: uses of recipes", done.stdout)

    def test_validation(self):
        """What the validation layer says with us and not without fails the case; so does the run if it was not there."""
        with open(self.suite, "w", encoding="utf-8") as file:
            file.write(VALIDATED)
        cases = [a for name in ("plain", "games", "mixed", "ours", "known") for a in ("--deqp-case", "t." + name)]
        done, found = self.run_cases("--validation", *cases)
        self.assertEqual(found, {"plain": "passed", "games": "passed", "mixed": "failure", "ours": "failure",
                                 "known": "passed"}, done.stdout + done.stderr)
        self.assertEqual(done.returncode, 1)
        self.assertIn("idle: of us alone: VUID-of-us\n", done.stdout)
        self.assertIn("validation: 1 kinds of messages without us, 2 with us alone\n", done.stdout)
        self.assertIn("  VUID-the-games, in 2 of off, 2 of idle\n", done.stdout)
        self.assertIn("  VUID-of-us, in 2 of idle\n", done.stdout)
        done, _ = self.run_cases("--validation", *cases[:4])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        done, _ = self.run_cases("--validation", "--may-see-nothing", "--deqp-case", "t.gone-")
        self.assertEqual(done.returncode, 1)
        self.assertIn("nothing was seen: the validation layer in idle\n", done.stdout)
        done, _ = self.run_cases("--validation", "--modes", "idle", *cases)
        self.assertEqual(done.returncode, 2)

    def test_nothing_was_done(self):
        """A run in which the layer was not, or did nothing of what a mode is for, fails, however few its cases and by
        config, too, unless it may."""
        config = self.folder.name + "/config.json"
        did = {"blocks": "wrote a checkpoint", "specialized": "x, specialized, is used",
               "recipes": "the recipe r is in use"}
        for modes, said, missing in (
                ("off,idle", "", "the layer in idle"),
                ("off,idle,blocks", did["blocks"], ""),
                ("off,blocks", "a line", "checkpoints"),
                ("off,blocks,specialized", did["blocks"], "uses of specialized shaders"),
                ("off,blocks,specialized", did["blocks"] + did["specialized"], ""),
                ("off,recipes", "a line", "uses of recipes"),
                ("off,recipes", did["recipes"], "")):
            with self.subTest(modes=modes, said=said):
                os.makedirs(self.folder.name + "/tools", exist_ok=True)
                with open(self.folder.name + "/tools/piecemeal", "w", encoding="utf-8") as file:
                    file.write("#!/bin/sh\n")
                os.chmod(self.folder.name + "/tools/piecemeal", 0o755)
                log = '[ -z "$PIECEMEAL_LOG_FILE" ] || echo "%s" >>"$PIECEMEAL_LOG_FILE"\n' % said if said else ""
                with open(self.suite, "w", encoding="utf-8") as file:
                    file.write(SUITE.replace(LOADED, log))
                for may in (False, True) if missing else (False,):
                    with open(config, "w", encoding="utf-8") as file:
                        json.dump({"program": self.suite, "cases": ["t.group.passes"], "may_see_nothing": may}, file)
                    for by in (["--deqp-case", "t.group.passes"] + ["--may-see-nothing"] * may, ["--config", config]):
                        done, _ = self.run_cases("--modes", modes, *by)
                        fails = bool(missing) and not may
                        self.assertEqual(done.returncode, int(fails), done.stdout + done.stderr)
                        if fails:
                            self.assertIn("nothing was seen: %s\n" % missing, done.stdout)

    def test_by_config(self):
        config = self.folder.name + "/config.json"
        with open(config, "w", encoding="utf-8") as file:
            file.write('{"program": "%s", "cases": ["t.group.passes"], "modes": ["off", "idle"]}' % self.suite)
        done = subprocess.run([sys.executable, RUN, "--build", self.folder.name, "--driver", self.driver, "--config",
                               config], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("1 cases in 2 modes", done.stdout)

    def test_a_further_build(self):
        """A program of 32 bits finds its layer beside the other one."""
        with open(self.suite, "w", encoding="utf-8") as file:
            file.write(RECIPES.replace('echo "  Result: 1"', 'echo "  Result: 1"; echo "$VK_ADD_LAYER_PATH" >>SEEN')
                       .replace("SEEN", self.folder.name + "/seen"))
        done, found = self.run_cases("--deqp-case", "t.a", "--also", "/other")
        self.assertEqual((done.returncode, found), (0, {"a": "passed"}), done.stdout + done.stderr)
        with open(self.folder.name + "/seen", encoding="utf-8") as file:
            folder = "/share/vulkan/explicit_layer.d"
            self.assertEqual(file.read().split(), [self.folder.name + folder + ":/other" + folder])

    def test_the_log_of_a_deqp_binary(self):
        with open(self.suite, "w", encoding="utf-8") as file:
            file.write(LOGGING)
        cases = ["passes", "fails", "ends", "lost", "other", "unsupported", "with-fails", "with-ends", "with-lost"]
        # A log that all processes would write to at once is not used.
        done, found = self.run_cases("--argument=--deqp-log-filename=" + self.folder.name + "/all.qpa",
                                     *[a for name in cases for a in ("--deqp-case", "t.group." + name)])
        self.assertEqual(found, {"passes": "passed", "fails": "skipped", "ends": "skipped", "lost": "skipped",
                                 "other": "skipped", "unsupported": "skipped", "with-fails": "failure",
                                 "with-ends": "error", "with-lost": "error"}, done.stdout + done.stderr)
        self.assertEqual(done.returncode, 1)
        self.assertIn("1 pass, 1 fail, 2 crash, 1 not supported, 4 fail without us", done.stdout)
        self.assertIn("a < b", done.stdout)
        self.assertIn("DeviceLost", done.stdout)
        self.assertIn("in the middle of the case", done.stdout)
        self.assertFalse(os.path.exists(self.folder.name + "/all.qpa"))

    def test_interrupted(self):
        """What ran is counted and written, what runs is ended, and what would run is not begun."""
        for which in (signal.SIGINT, signal.SIGTERM):
            mark, junit = self.folder.name + "/mark", self.folder.name + "/junit.xml"
            with open(self.suite, "w", encoding="utf-8") as file:
                file.write(SUITE.replace("hangs*) sleep 60", "hangs*) echo $$ >%s.new; mv %s.new %s; exec sleep 600"
                                         % (mark, mark, mark)))
            names = ["passes", "with-fails", "unsupported", "hangs", "with-crashes"]
            process = subprocess.Popen(
                [sys.executable, RUN, "--build", self.folder.name, "--driver", self.driver, "--program", self.suite,
                 "--modes", "off,idle", "--limit", "500", "--jobs", "1", "--junit", junit,
                 *[a for name in names for a in ("--deqp-case", "t.group." + name)]],
                stdout=subprocess.PIPE, text=True)
            while not os.path.exists(mark) and process.poll() is None:
                time.sleep(0.01)
            process.send_signal(which)
            said = process.communicate(timeout=60)[0]
            self.assertEqual(process.returncode, 130, said)
            self.assertIn("interrupted: 3 of 5 cases ran", said)
            self.assertIn("1 pass, 1 fail, 0 crash, 1 not supported, 0 fail without us", said)
            found = {case.get("name"): case[0].tag if len(case) else "passed"
                     for case in ElementTree.parse(junit).iter("testcase")}
            self.assertEqual(found, {"passes": "passed", "with-fails": "failure", "unsupported": "skipped"})
            with open(mark, encoding="utf-8") as file:
                hanging = int(file.read())
            self.assertRaises(ProcessLookupError, os.kill, hanging, 0)
            os.unlink(mark)
            os.unlink(junit)

    def test_what_a_case_left_cannot_be_read(self):
        """An empty file is none, and of what makes no sense the case says so; the others keep what they came to."""
        os.mkdir(self.folder.name + "/tools")
        with open(self.folder.name + "/tools/piecemeal", "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n")
        os.chmod(self.folder.name + "/tools/piecemeal", 0o755)
        left = "mkdir -p $XDG_DATA_HOME/piecemeal/values\nprintf \"%s\" >$XDG_DATA_HOME/piecemeal/values/left\n"
        with open(self.suite, "w", encoding="utf-8") as file:
            file.write(SUITE.replace("result=1\n", "text=; [ $name = fails ] && text='head\\nno line'\n"
                                     + left % "$text" + "result=1\n").replace("fails*|", ""))
        done, found = self.run_cases("--modes", "off,constants,everything", "--deqp-case", "t.group.fails",
                                     "--deqp-case", "t.group.passes")
        self.assertEqual(found, {"fails": "error", "passes": "passed"}, done.stdout + done.stderr)
        self.assertIn("run.py: Traceback", done.stdout)

    def test_nothing_matches(self):
        done, _ = self.run_cases("nothing.*")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no case matches", done.stderr)


if __name__ == "__main__":
    unittest.main()
