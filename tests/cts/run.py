#!/usr/bin/env python3
"""Runs cases in the style of the conformance suite, each in a process of its own, without the layer and with it in
several modes, and compares: a case that ends otherwise with us, or draws something else, fails.

    run.py --build build/release --driver lavapipe-25 [--every N] [PATTERN...]       our own cases (pm_cts)
    run.py --build build/release --driver FILE.json --config suite.json              those of any dEQP binary

PATTERN is a shell pattern of names ("pm.graphics.linked.*"); each match of one runs. --every N takes each N-th of
what matches. A config says how to run another binary:

    {"program": "deqp-vk", "folder": "…/external/vulkancts/modules/vulkan",   where it is started
     "arguments": ["--deqp-log-images=disable"], "cases": ["dEQP-VK.draw.*"] or "list": "mustpass.txt",
     "modes": ["off", "zeros"], "limit": 120}

or all of it by options: --program, --argument (any number), --deqp-case PATTERN, --list FILE.

Modes: off (no layer), idle (the layer, never sampling), blocks and zeros (every call counts all of a kind), specialized
(with every shader specialized that the profile of "zeros" leads to, whatever it gains). What is not supported, or
already fails or crashes without us, says nothing of us, and is listed as such; but it may not become something else.
JUnit: --junit FILE. Exit status: 0 when all modes agree and no case failed for us, 1 else, 2 wrong usage.
"""

import argparse
import concurrent.futures
import fnmatch
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from xml.etree import ElementTree

MODES = ["off", "idle", "blocks", "zeros", "specialized"]
STATUS = re.compile(r"^\s*(Pass|Fail|NotSupported|QualityWarning|CompatibilityWarning|ResourceError|InternalError|"
                    r"Waiver) \((.*)\)\s*$", re.M)
RESULT = re.compile(r"^\s*Result: (\w+)\s*$", re.M)
COMPLAINT = re.compile(r"^.* (?:warning|error): .*$", re.M)


class Suite:
    """A binary with cases."""

    def __init__(self, options, config):
        self.program = os.path.abspath(options.program or config["program"])
        self.folder = config.get("folder") or options.folder or os.getcwd()
        self.arguments = config.get("arguments", []) + options.argument
        self.patterns = options.deqp_case + options.patterns + config.get("cases", [])
        self.list_file = options.list or config.get("list")
        self.modes = options.modes.split(",") if options.modes else config.get("modes", MODES)
        self.limit = options.limit or config.get("limit", 120)

    def names(self):
        if self.list_file:
            with open(self.list_file, encoding="utf-8") as file:
                names = [line.strip().removeprefix("TEST: ") for line in file]
            names = [n for n in names if n and not n.startswith(("#", "GROUP:"))]
        elif self.patterns and not any(c in p for p in self.patterns for c in "*?["):
            return self.patterns  # by their names; a large suite takes long to list all
        else:
            out = subprocess.run([self.program, "--deqp-runmode=stdout-caselist", *self.arguments], cwd=self.folder,
                                 capture_output=True, text=True, check=True).stdout
            names = [line[6:].strip() for line in out.splitlines() if line.startswith("TEST: ")]
        if not self.patterns:
            return names
        return [n for n in names if any(fnmatch.fnmatchcase(n, p) for p in self.patterns)]


class Runner:
    def __init__(self, suite, build, driver, scratch):
        self.suite, self.build, self.scratch = suite, os.path.abspath(build), scratch
        self.seen = {"sampled": 0, "specialized": 0}  # lines of the layer's log that say so
        self.clean = {k: v for k, v in os.environ.items()
                      if not k.startswith(("PIECEMEAL_", "VK_", "XDG_", "PM_TEST_"))}
        self.clean.update(VK_DRIVER_FILES=driver, VK_ICD_FILENAMES=driver, NODEVICE_SELECT="1",
                          VK_LOADER_LAYERS_DISABLE="~implicit~", MESA_SHADER_CACHE_DISABLE="true")

    def environment(self, mode, home):
        env = dict(self.clean, XDG_DATA_HOME=home, XDG_CACHE_HOME=home, XDG_CONFIG_HOME=home, XDG_RUNTIME_DIR=home)
        if mode == "off":
            return env
        env.update(VK_ADD_LAYER_PATH=self.build + "/share/vulkan/explicit_layer.d",
                   VK_INSTANCE_LAYERS="VK_LAYER_PIECEMEAL_cooperative_pgo", PIECEMEAL_LOG_FILE=home + "/log",
                   PIECEMEAL_LOG_LEVEL="debug", PIECEMEAL_SAMPLER_SEED="1",
                   PIECEMEAL_SPOOL=home + "/piecemeal/local/spool",
                   PIECEMEAL_DATABASES=home + "/piecemeal/local/databases")
        if mode == "idle":
            env["PIECEMEAL_SAMPLER_WINDOW_PROBABILITY"] = "1e-15"
            return env
        env.update(PIECEMEAL_DEBUG_SYNCHRONOUS="true", PIECEMEAL_LIMITS_VARIANTS="4096",
                   PIECEMEAL_DEBUG_SPECIALIZE="all")
        if mode == "specialized":
            env.update(PIECEMEAL_SAMPLER_WINDOW_PROBABILITY="0", PIECEMEAL_DEBUG_TRUST_VARIANTS="true")
        else:
            env.update(PIECEMEAL_SAMPLER_WINDOW_PROBABILITY="1", PIECEMEAL_SAMPLER_API_PROBABILITY="1",
                       PIECEMEAL_SAMPLER_BATCH="all" if mode == "blocks" else "128",
                       PIECEMEAL_SAMPLER_KINDS=mode[:-1],
                       PIECEMEAL_DEBUG_CHECKPOINT_HEARTBEATS="1")
        return env

    def process(self, arguments, env, folder):
        """Its output and exit status; None: it ran past the limit."""
        process = subprocess.Popen(arguments, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   text=True, errors="replace", start_new_session=True)
        try:
            return process.communicate(timeout=self.suite.limit)[0], process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return process.communicate()[0], None

    def once(self, name, mode, home):
        """What a case comes to in a mode: its status, what it drew, what was said."""
        if mode == "specialized":
            # What "zeros" left becomes a database, as `piecemeal run --local` takes it in.
            local = self.environment("zeros", home)
            del local["VK_INSTANCE_LAYERS"]
            said, code = self.process([self.build + "/tools/piecemeal", "run", "--local", "--", "true"], local, home)
            if code != 0:
                return "Fail", None, "the profile is not taken in: " + said
        log = home + "/log"
        if os.path.exists(log):
            os.unlink(log)
        arguments = [self.suite.program, "--deqp-case=" + name, *self.suite.arguments]
        if "deqp" in os.path.basename(self.suite.program):
            arguments.append("--deqp-log-filename=" + home + "/case.qpa")
        said, code = self.process(arguments, self.environment(mode, home), self.suite.folder)
        found, result = STATUS.search(said), RESULT.search(said)
        if code is None:
            return "Timeout", None, said
        if code < 0 or not found:
            return "Crash", None, "%s\n%s" % ("signal %d" % -code if code < 0 else "status %d" % code, said)
        if os.path.exists(log):
            with open(log, encoding="utf-8", errors="replace") as file:
                text = file.read()
            self.seen["specialized" if mode == "specialized" else "sampled"] += text.count(
                ", specialized, is used" if mode == "specialized" else "wrote a checkpoint")
            complaint = COMPLAINT.search(text)
            if complaint:
                return "Complaint", None, complaint.group(0)
        return found.group(1), result.group(1) if result else None, said

    def case(self, name):
        """(name, outcome, why, seconds): outcome is pass, unsupported, driver, fail or crash."""
        begin = time.monotonic()
        found = {}
        home = tempfile.mkdtemp(dir=self.scratch)
        try:
            for mode in self.suite.modes:
                if mode not in ("zeros", "specialized"):
                    shutil.rmtree(home, ignore_errors=True)
                    os.mkdir(home, 0o700)
                found[mode] = self.once(name, mode, home)
        finally:
            shutil.rmtree(home, ignore_errors=True)
        return (name, *judge(found), time.monotonic() - begin)


def judge(found):
    first = next(iter(found.values()))
    for mode, (status, result, said) in found.items():
        if status in ("Crash", "Timeout") and first[0] not in ("Crash", "Timeout", "Fail"):
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("patterns", nargs="*")
    parser.add_argument("--build", required=True)
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
    parser.add_argument("--junit")
    options = parser.parse_args()
    config = {}
    if options.config:
        with open(options.config, encoding="utf-8") as file:
            config = json.load(file)
    elif not options.program:
        options.program = options.build + "/tests/cts/pm_cts"
    suite = Suite(options, config)
    if any(mode not in MODES for mode in suite.modes):
        parser.error("modes are " + ", ".join(MODES))
    driver = driver_manifest(options.driver, options.build)
    if not os.path.exists(driver):
        print("no driver " + driver, file=sys.stderr)
        return 77
    names = suite.names()[options.first::options.every]
    if not names:
        parser.error("no case matches")
    begin = time.monotonic()
    outcomes = []
    with tempfile.TemporaryDirectory(prefix="cts-") as scratch:
        runner = Runner(suite, options.build, driver, scratch)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for outcome in pool.map(runner.case, names):
                outcomes.append(outcome)
                if outcome[1] in ("fail", "crash"):
                    print("%s: %s: %s" % (outcome[1], outcome[0], outcome[2].strip()[:2000]), flush=True)
    seconds = time.monotonic() - begin
    if options.junit:
        write_junit(options.junit, outcomes, seconds)
    count = {kind: sum(o[1] == kind for o in outcomes) for kind in ("pass", "fail", "crash", "unsupported", "driver")}
    print("%d cases in %d modes in %.1f s: %d pass, %d fail, %d crash, %d not supported, %d fail without us" %
          (len(outcomes), len(suite.modes), seconds, count["pass"], count["fail"], count["crash"],
           count["unsupported"], count["driver"]))
    print("%d checkpoints were sampled, %d specialized shaders were used" %
          (runner.seen["sampled"], runner.seen["specialized"]))
    idle = [what for what, modes in (("sampled", {"blocks", "zeros"}), ("specialized", {"specialized"}))
            if modes & set(suite.modes) and runner.seen[what] == 0]
    if count["pass"] == 0 or (idle and len(names) >= 10 and not config):
        print("nothing was seen: " + (", ".join(idle) or "no case passed"))
        return 1
    return 1 if count["fail"] or count["crash"] else 0


if __name__ == "__main__":
    sys.exit(main())
