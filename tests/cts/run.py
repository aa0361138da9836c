#!/usr/bin/env python3
"""Runs cases in the style of the conformance suite, each in a process of its own, without the layer and with it in
several modes, and compares: a case that ends otherwise with us, or draws something else, fails.

    run.py --build build/release --driver lavapipe-25 [--every N] [PATTERN...]       our own cases (pm_cts)
    run.py --build build/release --driver FILE.json --config suite.json              those of any dEQP binary

PATTERN is a shell pattern of names ("pm.graphics.linked.*"); each match of one runs. --every N takes each N-th of
what matches. A config says how to run another binary:

    {"program": "./deqp-vk", "folder": "…/external/vulkancts/modules/vulkan",   where it is started
     "arguments": ["--deqp-log-images=disable"], "cases": ["dEQP-VK.draw.*"] or "list": "mustpass.txt",
     "modes": ["off", "zeros"], "limit": 120}

or all of it by options: --program, --argument (any number), --deqp-case PATTERN, --list FILE. Of a program that is no dEQP
binary a config says how it is told of a case, {case} being its name in "arguments" or "environment"; it passes with
status 0 and fails with any other:

    {"program": "./d3d12", "environment": {"VKD3D_TEST_MATCH": "{case}"}, "list_arguments": ["--list-tests"],
     "unsupported": "0 tests executed", a line that tells so,                    both are regular expressions
     "result": "tests executed (.*)"}   of what it says in this group, all must be the same

Modes: off (no layer); idle (the layer, never sampling); blocks, zeros, turns and constants (every call counts all of a
kind); specialized (with every shader specialized that what the modes before it counted leads to, whatever it gains, but
for known words); everything (likewise, for known words of push constants and uniforms too, each word that was seen
counting as seen often, and with all that is beyond AZP); passes (likewise, with compute shaders cut into the smallest
passes); recipes (every shader made by a recipe of A-Z testing that changes it, drawn by the names of case and shader).
What is not supported, or already fails or crashes without us, says nothing of us, and is listed as such; but what is
not supported may not become something else, and what fails may not crash or hang.
What a case came to is read from the log that another binary writes (--deqp-log-filename, which is set here), else from
its standard output. That nothing disagrees says nothing where nothing was done: a run fails where the layer was in no
process of a mode, or nothing was sampled, or nothing specialized, in all of its cases, unless --may-see-nothing, or
"may_see_nothing" in a config, allows it.

--validation runs all under the system's validation layer, which is below ours and so sees what the driver is given: a kind
of message that a mode has, and the mode off has not, fails the case.

JUnit: --junit FILE. Exit status: 0 when all modes agree, no case failed for us and something was seen, 1 else, 2 wrong
usage, 130 when it was interrupted (SIGINT, SIGTERM): what ran by then is counted and written all the same.
"""

import argparse
import concurrent.futures
import fnmatch
import html
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import zlib
from xml.etree import ElementTree

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import validation  # pylint: disable=wrong-import-position

KINDS = {"blocks": "block", "zeros": "zero", "turns": "turns", "constants": "constant"}  # of modes that sample
SPECIALIZED = ["specialized", "everything", "passes"]
RECIPES = "recipes"
MODES = ["off", "idle", *KINDS, *SPECIALIZED, RECIPES]
# What the layer's log has a line of, and in which modes.
SEEN = {"checkpoints": ("wrote a checkpoint", list(KINDS)),
        "uses of specialized shaders": (", specialized, is used", SPECIALIZED),
        "shaders changed by blocks": (" changes by blocks", SPECIALIZED),
        "shaders for words of uniforms": (" words of uniforms, ", SPECIALIZED[1:]),
        "binds for pushed words": ("a variant for known words is bound", SPECIALIZED[1:]),
        "dispatches in passes": ("a dispatch runs in ", SPECIALIZED[2:]),
        "uses of recipes": (" is in use", [RECIPES])}
# What a run fails for that saw none of it (--may-see-nothing, --all-seen).
WHAT_FOR = ["checkpoints", "uses of specialized shaders", "uses of recipes"]
RECIPE = re.compile(r"the recipe (\S+) is in use")
STATUS = re.compile(r"^\s*(Pass|Fail|NotSupported|QualityWarning|CompatibilityWarning|ResourceError|InternalError|"
                    r"Waiver) \((.*)\)\s*$", re.M)
RESULT = re.compile(r"^\s*Result: (\w+)\s*$", re.M)
IN_LOG = re.compile(r'<Result StatusCode="(\w+)">(.*?)</Result>', re.S)
LOG_FILE = "--deqp-log-filename="
CASE = "{case}"  # its name, in what another program is told
COMPLAINT = re.compile(r"^.* (?:warning|error): .*$", re.M)
# Where the game's callbacks have no memory the layer may say that it has none: drivers ask them for ours, too.
FAILING, NO_MEMORY = "pm.allocation.", "(VkResult -1)"


OURS = "/tests/cts/pm_cts"
OUR_LAYER = "VK_LAYER_PIECEMEAL_cooperative_pgo"


class Interrupted(Exception):
    """No case begins any more."""


def read_log(path, name):
    """(status, text) of a case in a dEQP log (.qpa); None: it has none of it. A case that does not end there crashed."""
    part = None
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.startswith("#beginTestCaseResult ") and line.split(" ", 1)[1].strip() == name:
                    part = []
                elif line.startswith("#endTestCaseResult") and part is not None:
                    found = IN_LOG.search("".join(part))
                    return (found.group(1), html.unescape(found.group(2)).strip()) if found else None
                elif line.startswith("#terminateTestCaseResult") and part is not None:
                    return "Crash", line.strip()
                elif part is not None and ("<Result" in line or part):
                    part.append(line)  # not the images before it, which are large
    except OSError:
        return None
    return None if part is None else ("Crash", "the log ends in the middle of the case")


class Suite:
    """A binary with cases."""

    def __init__(self, options, config):
        self.folder = options.folder or config.get("folder") or os.getcwd()
        # A config's is found where it is started.
        self.program = os.path.abspath(options.program or os.path.join(self.folder, config["program"]))
        # Each process has a log of its own.
        self.arguments = [a for a in config.get("arguments", []) + options.argument if not a.startswith(LOG_FILE)]
        self.environment = config.get("environment", {})
        self.by_status = any(CASE in a for a in [*self.arguments, *self.environment.values()])
        self.unsupported, self.result = config.get("unsupported"), config.get("result")
        self.list_arguments = config.get("list_arguments", ["--deqp-runmode=stdout-caselist"])
        self.logs = not self.by_status and self.program != os.path.abspath(options.build + OURS)
        self.patterns = options.deqp_case + options.patterns + config.get("cases", [])
        self.list_file = options.list or config.get("list")
        self.modes = options.modes.split(",") if options.modes else config.get("modes", MODES)
        self.limit = options.limit or config.get("limit", 120)
        self.may_see_nothing = options.may_see_nothing or config.get("may_see_nothing", False)

    def names(self):
        if self.list_file:
            with open(self.list_file, encoding="utf-8") as file:
                names = [line.strip().removeprefix("TEST: ") for line in file]
            names = [n for n in names if n and not n.startswith(("#", "GROUP:"))]
        elif self.patterns and not any(c in p for p in self.patterns for c in "*?["):
            return self.patterns  # by their names; a large suite takes long to list all
        else:
            arguments = [self.program, *self.list_arguments, *(a for a in self.arguments if CASE not in a)]
            out = subprocess.run(arguments, cwd=self.folder, capture_output=True, text=True, check=True).stdout
            names = [line.strip().removeprefix("TEST: ") for line in out.splitlines()
                     if self.by_status or line.startswith("TEST: ")]
        if not self.patterns:
            return names
        return [n for n in names if any(fnmatch.fnmatchcase(n, p) for p in self.patterns)]


    def command(self, name):
        if self.by_status:
            return [self.program, *(a.replace(CASE, name) for a in self.arguments)]
        return [self.program, "--deqp-case=" + name, *self.arguments]

    def verdict(self, said, code):
        """(status, text, what it drew) of what a program that tells by its status said; None: it crashed."""
        if code < 0:
            return None
        result = "; ".join(m.group(1) for m in re.finditer(self.result, said, re.M)) if self.result else None
        unsupported = self.unsupported and re.search(self.unsupported, said, re.M)
        if unsupported:
            return "NotSupported", unsupported.group(0), result
        return "Fail" if code else "Pass", "status %d" % code, result


class Runner:
    def __init__(self, suite, builds, driver, scratch):
        builds = [os.path.abspath(build) for build in builds]
        self.suite, self.build, self.scratch = suite, builds[0], scratch
        self.layers = ":".join(build + "/share/vulkan/explicit_layer.d" for build in builds)
        self.seen = dict.fromkeys(SEEN, 0)  # lines of the layer's log
        self.logged = set()  # modes in which it wrote one
        self.settings = None  # the validation layer's, which is there then
        self.validated, self.said_validation = set(), {}  # modes in which it was; by mode: how often which kind
        self.recipes = set()  # that were in use
        self.lock, self.running, self.stopped = threading.Lock(), set(), False
        self.clean = {k: v for k, v in os.environ.items()
                      if not k.startswith(("PIECEMEAL_", "VK_", "XDG_", "PM_TEST_"))}
        self.clean.update(VK_DRIVER_FILES=driver, VK_ICD_FILENAMES=driver, NODEVICE_SELECT="1",
                          VK_LOADER_LAYERS_DISABLE="~implicit~", MESA_SHADER_CACHE_DISABLE="true")

    def validate(self):
        """From here on with the validation layer."""
        self.settings = self.scratch + "/validation"
        with open(self.settings, "w", encoding="utf-8") as file:
            file.write(validation.SETTINGS)

    def environment(self, mode, home, name=""):
        env = dict(self.clean, XDG_DATA_HOME=home, XDG_CACHE_HOME=home, XDG_CONFIG_HOME=home, XDG_RUNTIME_DIR=home)
        layers = [OUR_LAYER] if mode != "off" else []
        if self.settings:
            layers.append(validation.LAYER)
            env["VK_LAYER_SETTINGS_PATH"] = self.settings
        if layers:
            env["VK_INSTANCE_LAYERS"] = ":".join(layers)
        if mode == "off":
            return env
        env.update(VK_ADD_LAYER_PATH=self.layers, PIECEMEAL_LOG_FILE=home + "/log",
                   PIECEMEAL_LOG_LEVEL="debug", PIECEMEAL_SAMPLER_SEED="1",
                   PIECEMEAL_SPOOL=home + "/piecemeal/local/spool",
                   PIECEMEAL_DATABASES=home + "/piecemeal/local/databases")
        if mode == "idle":
            env["PIECEMEAL_SAMPLER_WINDOW_PROBABILITY"] = "1e-15"
            return env
        env.update(PIECEMEAL_DEBUG_SYNCHRONOUS="true", PIECEMEAL_LIMITS_VARIANTS="4096",
                   PIECEMEAL_DEBUG_SPECIALIZE="all")
        if mode in KINDS:
            env.update(PIECEMEAL_SAMPLER_WINDOW_PROBABILITY="1", PIECEMEAL_SAMPLER_API_PROBABILITY="1",
                       PIECEMEAL_SAMPLER_BATCH="all" if mode == "blocks" else "128",
                       PIECEMEAL_SAMPLER_KINDS=KINDS[mode],
                       PIECEMEAL_DEBUG_CHECKPOINT_HEARTBEATS="1")
            return env
        env.update(PIECEMEAL_SAMPLER_WINDOW_PROBABILITY="0", PIECEMEAL_DEBUG_TRUST_VARIANTS="true")
        if mode == RECIPES:
            env.update(PIECEMEAL_DEBUG_RECIPE="any", PIECEMEAL_SAMPLER_SEED=str(zlib.crc32(name.encode())))
        if mode == "specialized":
            env["PIECEMEAL_OPTIMIZE_CONSTANTS"] = "false"
        elif mode != RECIPES:
            env["PIECEMEAL_DEBUG_BEYOND"] = "all"
        if mode == "passes":
            env.update(PIECEMEAL_OPTIMIZE_PARTITION="true", PIECEMEAL_DEBUG_PARTITION_LIMITS="8")
        return env

    def process(self, arguments, env, folder):
        """Its output and exit status; None: it ran past the limit."""
        with self.lock:
            if self.stopped:
                raise Interrupted
            process = subprocess.Popen(arguments, cwd=folder, env=env, stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
            self.running.add(process)
        try:
            said, code = process.communicate(timeout=self.suite.limit)[0], process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            said, code = process.communicate()[0], None
        with self.lock:
            self.running.discard(process)
            if self.stopped:
                raise Interrupted  # it may have been killed
        return said, code

    def unseen(self, all_of_it):
        """What the modes are for and none of the cases showed; all_of_it: whatever a mode may do."""
        missing = ["the layer in " + mode for mode in self.suite.modes if mode != "off" and mode not in self.logged]
        return missing + [what for what, (_, modes) in SEEN.items()
                          if set(modes) & set(self.suite.modes) and self.seen[what] == 0
                          and (all_of_it or what in WHAT_FOR)]

    def stop(self):
        """Ends what runs: it is in sessions of its own, so that a terminal's interrupt does not reach it."""
        with self.lock:
            self.stopped = True
            for process in self.running:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)

    def once(self, name, mode, home):
        """What a case comes to in a mode: its status, what it drew, what was said."""
        if mode in SPECIALIZED:
            # What the others left becomes a database, as `piecemeal run --local` takes it in.
            local = self.environment("zeros", home)
            del local["VK_INSTANCE_LAYERS"]  # all of them
            said, code = self.process([self.build + "/tools/piecemeal", "run", "--local", "--", "true"], local, home)
            if code != 0:
                return "Fail", None, "the profile is not taken in: " + said
            see_often(home + "/piecemeal/values")
        log = home + "/log"
        if os.path.exists(log):
            os.unlink(log)
        arguments = self.suite.command(name)
        qpa = home + "/case.qpa"
        if os.path.exists(qpa):
            os.unlink(qpa)
        if self.suite.logs:
            arguments.append(LOG_FILE + qpa)
        env = self.environment(mode, home, name)
        env.update((key, value.replace(CASE, name)) for key, value in self.suite.environment.items())
        said, code = self.process(arguments, env, self.suite.folder)
        if self.suite.by_status:
            logged = self.suite.verdict(said, code) if code is not None else None
            result = logged[2] if logged else None
        else:
            found, drew = STATUS.search(said), RESULT.search(said)
            logged = read_log(qpa, name) or (found.groups() if found else None)
            result = drew.group(1) if drew else None
        if code is None:
            return "Timeout", None, said
        if code < 0 or not logged or logged[0] == "Crash":
            said = "%s\n%s" % (logged[1], said) if logged else said
            return "Crash", None, "%s\n%s" % ("signal %d" % -code if code < 0 else "status %d" % code, said)
        if os.path.exists(log):
            with open(log, encoding="utf-8", errors="replace") as file:
                text = file.read()
            with self.lock:
                self.logged.add(mode)
                for what, (line, modes) in SEEN.items():
                    self.seen[what] += text.count(line) if mode in modes else 0
                self.recipes.update(RECIPE.findall(text) if mode == RECIPES else ())
            complaints = [line for line in COMPLAINT.findall(text)
                          if not (name.startswith(FAILING) and NO_MEMORY in line)]
            if complaints:
                return "Complaint", None, complaints[0]
        return logged[0], result, "%s\n%s" % (logged[1], said)

    def case(self, name):
        """(name, outcome, why, seconds): outcome is pass, unsupported, driver, fail or crash."""
        begin = time.monotonic()
        found = {}
        home = tempfile.mkdtemp(dir=self.scratch)
        try:
            for mode in self.suite.modes:
                if mode in ("off", "idle"):
                    shutil.rmtree(home, ignore_errors=True)
                    os.mkdir(home, 0o700)
                found[mode] = self.once(name, mode, home)
        finally:
            shutil.rmtree(home, ignore_errors=True)
        outcome = judge(found)
        if self.settings:
            with self.lock:
                outcome = self.judge_validation(found, outcome)
        return (name, *outcome, time.monotonic() - begin)

    def judge_validation(self, found, outcome):
        """What the case comes to by what the validation layer said; outcome: without that."""
        kinds = {mode: set(validation.SAID.findall(said)) for mode, (_, _, said) in found.items()}
        for mode, (_, _, said) in found.items():
            if validation.IS_THERE in said:
                self.validated.add(mode)
            for kind in kinds[mode]:
                self.said_validation.setdefault(mode, {}).setdefault(kind, 0)
                self.said_validation[mode][kind] += 1
        for mode in kinds if outcome[0] in ("pass", "unsupported") else []:
            ours = kinds[mode] - kinds["off"] - validation.KNOWN
            if ours:
                lines = [line for line in found[mode][2].splitlines() if any(kind in line for kind in ours)]
                return "fail", "%s: of us alone: %s\n%s" % (mode, " ".join(sorted(ours)), "\n".join(lines))
        return outcome

    def tell_validation(self):
        """How many cases have messages, without us and with us, and which of ours may be."""
        kinds = {mode: set(counts) for mode, counts in self.said_validation.items()}
        without = kinds.get("off", set())
        ours = set().union(*kinds.values()) - without if kinds else set()
        print("validation: %d kinds of messages without us, %d with us alone%s" %
              (len(without), len(ours), "".join("\n  %s, in %s" % (kind, ", ".join(
                  "%d of %s" % (counts[kind], mode) for mode, counts in self.said_validation.items() if kind in counts))
                  for kind in sorted(ours | without))))


def see_often(folder):
    """Words that a case loaded a few times are as steady as those of a program that draws for minutes."""
    for name in os.listdir(folder) if os.path.isdir(folder) else []:
        with open(folder + "/" + name, encoding="utf-8") as file:
            head, *lines = file.read().splitlines() or [""]
        for i, line in enumerate(lines):  # KEY SPACE POINT LOADS ZEROS VALUE:COUNT…
            words = line.split()
            if int(words[3]) < 64:
                values = [v.split(":") for v in words[5:]]
                lines[i] = " ".join([*words[:3], str(int(words[3]) * 64), str(int(words[4]) * 64),
                                     *("%s:%d" % (value, int(count) * 64) for value, count in values)])
        with open(folder + "/" + name, "w", encoding="utf-8") as file:
            file.write("\n".join([head, *lines]) + "\n")


def judge(found):
    """(outcome, why) of what a case came to in each mode. What fails without us may fail in any way, but ends."""
    first = next(iter(found.values()))
    for mode, (status, result, said) in found.items():
        if status in ("Crash", "Timeout") and first[0] not in ("Crash", "Timeout"):
            return "crash", "%s: %s\n%s" % (mode, status, said)
        if (status, result) != first[:2] and first[0] not in ("Crash", "Timeout", "Fail"):
            return "fail", "%s: %s %s, without us %s %s\n%s" % (mode, status, result, first[0], first[1], said)
    if first[0] in ("Pass", "QualityWarning", "CompatibilityWarning", "Waiver"):
        return "pass", ""
    if first[0] == "NotSupported":
        return "unsupported", first[2]
    return "driver", "without us: %s\n%s" % (first[0], first[2])


def write_junit(path, outcomes, seconds):
    suites = {}
    for name, outcome, why, took in outcomes:
        group, _, case = name.rpartition(".")
        suites.setdefault(group, []).append((case, outcome, why, took))
    root = ElementTree.Element("testsuites", tests=str(len(outcomes)), time="%.2f" % seconds)
    for group, cases in sorted(suites.items()):
        suite = ElementTree.SubElement(
            root, "testsuite", name=group, tests=str(len(cases)),
            failures=str(sum(o == "fail" for _, o, _, _ in cases)),
            errors=str(sum(o == "crash" for _, o, _, _ in cases)),
            skipped=str(sum(o in ("unsupported", "driver") for _, o, _, _ in cases)))
        for case, outcome, why, took in cases:
            element = ElementTree.SubElement(suite, "testcase", classname=group, name=case, time="%.3f" % took)
            if outcome != "pass":
                tag = {"fail": "failure", "crash": "error"}.get(outcome, "skipped")
                text = re.sub("[^\t\n\r -\ud7ff\ue000-\ufffd]", "?", why)
                ElementTree.SubElement(element, tag, message=text.split("\n")[0][:300]).text = text
    ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def driver_manifest(name, build):
    if name.endswith(".json"):
        return os.path.abspath(name)
    if name == "lavapipe-22":
        return "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json"
    source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return "%s/build/drivers/%s/icd.json" % (source, name)


def run_all(runner, names, jobs):
    """The outcomes of the cases, in their order; once it is interrupted, of those that ran."""
    found, done, asked = {}, queue.SimpleQueue(), []
    for which in (signal.SIGINT, signal.SIGTERM):
        signal.signal(which, lambda *_: asked.append(True))

    def one(name):
        try:
            done.put((name, runner.case(name)))
        except Interrupted:
            pass
        except Exception:  # pylint: disable=broad-except
            # What is wrong here, or was left for us to read, does not cost what the other cases came to.
            done.put((name, (name, "crash", "run.py: " + traceback.format_exc(), 0.0)))

    def take(outcome):
        found[outcome[0]] = outcome[1]
        name, kind, why, _ = outcome[1]
        if kind in ("fail", "crash"):
            print("%s: %s: %s" % (kind, name, why.strip()[:2000]), flush=True)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for name in dict.fromkeys(names):
            pool.submit(one, name)
        # A signal that comes just before a thread waits does not wake it.
        while len(found) < len(set(names)) and not asked:
            try:
                take(done.get(timeout=0.2))
            except queue.Empty:
                pass
        if asked:
            runner.stop()
            pool.shutdown(cancel_futures=True)
            while not done.empty():
                take(done.get())
    return [found[name] for name in dict.fromkeys(names) if name in found]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("patterns", nargs="*")
    parser.add_argument("--build", required=True)
    parser.add_argument("--also", action="append", default=[], metavar="BUILD",
                        help="a further build, the loader finds its layer, too: one of 32 bits")
    parser.add_argument("--driver", required=True, help="lavapipe-22, lavapipe-25, swiftshader, or a manifest")
    parser.add_argument("--config", help="JSON: how to run another binary")
    parser.add_argument("--program")
    parser.add_argument("--folder")
    parser.add_argument("--argument", action="append", default=[])
    parser.add_argument("--deqp-case", action="append", default=[], metavar="PATTERN")
    parser.add_argument("--list", help="file of names")
    parser.add_argument("--modes", help="of " + ",".join(MODES))
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--from", type=int, default=0, dest="first")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--limit", type=float, help="seconds for a case in a mode")
    parser.add_argument("--all-seen", action="store_true", help="fail where a mode did nothing of what it may do")
    parser.add_argument("--may-see-nothing", action="store_true",
                        help="do not fail where nothing was sampled or specialized, or the layer in no process")
    parser.add_argument("--least-recipes", type=int, default=0, help="fail where fewer were in use in the mode recipes")
    parser.add_argument("--validation", action="store_true", help="with the validation layer below ours")
    parser.add_argument("--junit")
    options = parser.parse_args()
    config = {}
    if options.config:
        with open(options.config, encoding="utf-8") as file:
            config = json.load(file)
    elif not options.program:
        options.program = options.build + OURS
    suite = Suite(options, config)
    if any(mode not in MODES for mode in suite.modes):
        parser.error("modes are " + ", ".join(MODES))
    if options.validation and "off" not in suite.modes:
        parser.error("what the validation layer says of us is what it does not in the mode off")
    driver = driver_manifest(options.driver, options.build)
    if not os.path.exists(driver):
        print("no driver " + driver, file=sys.stderr)
        return 77
    names = suite.names()[options.first::options.every]
    if not names:
        parser.error("no case matches")
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="cts-") as scratch:
        runner = Runner(suite, [options.build, *options.also], driver, scratch)
        if options.validation:
            runner.validate()
        outcomes = run_all(runner, names, options.jobs)
    seconds = time.monotonic() - begin
    if runner.stopped:
        print("interrupted: %d of %d cases ran" % (len(outcomes), len(names)))
    if options.junit:
        write_junit(options.junit, outcomes, seconds)
    count = {kind: sum(o[1] == kind for o in outcomes) for kind in ("pass", "fail", "crash", "unsupported", "driver")}
    print("%d cases in %d modes in %.1f s: %d pass, %d fail, %d crash, %d not supported, %d fail without us" %
          (len(outcomes), len(suite.modes), seconds, count["pass"], count["fail"], count["crash"],
           count["unsupported"], count["driver"]), flush=True)
    wanted = [what for what, (_, modes) in SEEN.items() if set(modes) & set(suite.modes)]
    print(", ".join("%d %s" % (runner.seen[what], what) for what in wanted) or "nothing was looked for")
    if RECIPES in suite.modes:
        print("%d recipes: %s" % (len(runner.recipes), " ".join(sorted(runner.recipes))))
    if options.validation:
        runner.tell_validation()
    if runner.stopped:
        return 130
    unseen = [] if suite.may_see_nothing else runner.unseen(options.all_seen)
    if options.validation:
        unseen += ["the validation layer in " + mode for mode in suite.modes if mode not in runner.validated]
    if count["pass"] == 0 or unseen:
        print("nothing was seen: " + (", ".join(unseen) or "no case passed"))
        return 1
    if len(runner.recipes) < options.least_recipes:
        print("fewer recipes were in use than %d" % options.least_recipes)
        return 1
    return 1 if count["fail"] or count["crash"] else 0


if __name__ == "__main__":
    sys.exit(main())
