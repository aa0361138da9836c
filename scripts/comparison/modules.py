"""What two builds of `piecemeal shader` make of the same modules: canonical words and keys, points, instrumented and
specialized modules, what they say and how they end. Everything is compared byte by byte."""
import concurrent.futures
import glob
import json
import os
import pickle
import random
import re
import struct
import subprocess
import threading

from .findings import digest

LIMIT = 600  # seconds a call may take
MAGIC = 0x07230203
STAGES = {4: "fragment", 5: "compute"}  # of ExecutionModel


class Source:
    """A module as a program gives it to Vulkan: its entry point, and the constants its pipeline sets."""

    def __init__(self, name, path, entry="main", specs=(), relaid=False):
        self.name, self.path, self.entry, self.specs = name, path, entry, list(specs)
        self.relaid = relaid  # laid out wider than the program has it


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, data):
    with open(path, "w" if isinstance(data, str) else "wb") as file:
        file.write(data)


def entry_points(data):
    """Names of the entry points that Piecemeal looks at; none at all: 'main', so that the refusal is compared."""
    words = struct.unpack(f"<{len(data) // 4}I", data[:len(data) // 4 * 4])
    names, at = [], 5
    while at < len(words) and words and words[0] == MAGIC:
        size, opcode = words[at] >> 16, words[at] & 0xffff
        if size == 0 or opcode == 54:  # OpFunction
            break
        if opcode == 15 and words[at + 1] in STAGES:  # OpEntryPoint
            text = struct.pack(f"<{size - 3}I", *words[at + 3:at + size])
            names.append(text.split(b"\0")[0].decode())
        at += size
    return names or ["main"]


def laid_out_wider(data):
    """The module with everything in its blocks four times as far apart. zink's uniform blocks are arrays of words,
    which devices allow (scalarBlockLayout) and the command line has no option for."""
    words = list(struct.unpack(f"<{len(data) // 4}I", data))
    at = 5
    while at < len(words):
        size, opcode = words[at] >> 16, words[at] & 0xffff
        if size == 0 or opcode == 54:  # OpFunction
            break
        # OpDecorate ArrayStride; OpMemberDecorate MatrixStride, Offset
        if (opcode, size) == (71, 4) and words[at + 2] == 6 or (opcode, size) == (72, 5) and words[at + 3] in (7, 35):
            words[at + size - 1] *= 4
        at += size
    return struct.pack(f"<{len(words)}I", *words)


def assembled(root, work):
    """The modules that tests assemble while they run."""
    for path in sorted(glob.glob(os.path.join(root, "tests/**/*.spvasm"), recursive=True)):
        with open(path, encoding="utf-8") as text:
            target = re.search(r"^; target: (\S+)", text.read(), re.MULTILINE)
        out = os.path.join(work, os.path.basename(path) + ".spv")
        done = subprocess.run(["spirv-as", "--preserve-numeric-ids", "--target-env",
                               target.group(1) if target else "spv1.3", path, "-o", out],
                              capture_output=True, check=False)
        if done.returncode == 0:
            yield out


def of_build(build, root, work):
    """Every module that a build compiled for its examples, tests and benchmarks, each content once."""
    seen = set()
    found = sorted(glob.glob(os.path.join(build, "**/*.spv"), recursive=True))
    for path in found + sorted(assembled(root, work)):
        data = read(path)
        if digest(data) in seen:
            continue
        seen.add(digest(data))
        name = os.path.relpath(path, build) if path.startswith(build) else os.path.basename(path)
        for entry in entry_points(data):
            yield Source(name, path, entry)


def of_corpus(folder, findings):
    """The modules of a folder that tests/corpus/ made: NAME.spv, and NAME.json with how it was used."""
    for path in sorted(glob.glob(os.path.join(folder, "**/*.spv"), recursive=True)):
        about = json.loads(read(path[:-4] + ".json")) if os.path.exists(path[:-4] + ".json") else {}
        specs = about.get("constants", [])
        if any(one["bytes"] != 4 for one in specs):
            findings.note("a constant of 8 bytes cannot be set on the command line; the default is used")
            specs = [one for one in specs if one["bytes"] == 4]
        entries = [about["entry"]] if "entry" in about else entry_points(read(path))
        for entry in entries:
            yield Source(os.path.relpath(path, folder), path, entry, [f"{one['id']}={one['value']}" for one in specs])


# ---- profiles ----

ABSURD = [None, -1, 2, 1e300, -0.0, 1]


def numbers(chance, kind, count):
    if kind == "zero":
        return [0] * count
    if kind == "one":
        return [1] * count
    if kind == "absurd":
        return [chance.choice(ABSURD) for _ in range(count)]
    return [chance.random() if chance.randrange(3) else chance.randrange(2) for _ in range(count)]


# name: (kind of P(zero), are weights given, options); as tests/shader_rewrite/adversary.c has them, and more.
WAYS = {
    "never zero": ("zero", False, ["--take-all"]),
    "always zero, all": ("one", False, ["--take-all"]),
    "at random, all": ("random", False, ["--take-all"]),
    "at random, many": ("random", True, ["--take-all", "--transforms", "12"]),
    "always zero, never permitted": ("one", False, ["--take-all", "--float-zero", "never"]),
    "at random, allowed, no quads": ("random", False, ["--take-all", "--float-zero", "allow", "--no-quad"]),
    "always zero": ("one", True, []),
    "always zero, allowed, for NVIDIA": ("one", True, ["--float-zero", "allow", "--vendor", "4318"]),
    "at random": ("random", True, []),
    "at random, for lavapipe": ("random", True, ["--vendor", "65541", "--least-share", "0.001"]),
    "absurd": ("absurd", True, []),
    "beyond AZP": ("random", True, ["--take-all", "--transforms", "12", "--fit-regions", "--hoist-across", "--pairs"]),
    "beyond AZP, worth while": ("one", True, ["--fit-regions", "--hoist-across", "--pairs", "--float-zero", "allow"]),
}


def profile_text(seed, way, candidates, blocks):
    kind, weights, _ = WAYS[way]
    chance = random.Random(f"{seed} {way}")
    profile = {"zero": numbers(chance, kind, candidates)}
    if weights:
        profile["writes"] = numbers(chance, kind, candidates)
        profile["blocks"] = numbers(chance, kind, blocks)
    return json.dumps(profile)


# ---- comparing ----

class Result:
    """What one call of one build came to."""

    def __init__(self, status, said, complained, made):
        self.status, self.said, self.complained, self.made = status, said, complained, made

    def all(self):
        return b"%d\n%b\n%b\n%b" % (self.status, self.said, self.complained, self.made)


def call(command, path, out):
    """path: the module, whose name is left out of what is said."""
    done = subprocess.run(command, capture_output=True, timeout=LIMIT, check=False, stdin=subprocess.DEVNULL)
    made = read(out) if out and os.path.exists(out) else b""
    return Result(done.returncode, done.stdout, done.stderr.replace(path.encode(), b"MODULE"), made)


class Memory:
    """What a build came to in earlier comparisons, by its program's and its input's bytes. folder None: nothing."""

    def __init__(self, folder, program):
        self.folder, self.program = folder, digest(read(program))
        if folder:
            os.makedirs(folder, exist_ok=True)

    def recall(self, command, path, out):
        if not self.folder:
            return call(command, path, out)
        words = [digest(read(word)) if os.path.isfile(word) else word for word in command[1:] if word != out]
        kept = os.path.join(self.folder, digest(repr([self.program, words]).encode()))
        if os.path.exists(kept):
            with open(kept, "rb") as file:
                return Result(*pickle.load(file))
        result = call(command, path, out)
        with open(f"{kept}.{threading.get_ident()}", "wb") as file:
            pickle.dump((result.status, result.said, result.complained, result.made), file)
        os.rename(file.name, kept)
        return result


class Pair:
    """Both builds' `piecemeal`, in a folder for the files of one module."""

    def __init__(self, before, after, folder, memory, findings):
        self.before, self.after, self.folder = before, after, folder
        self.memory, self.findings = memory, findings
        os.makedirs(folder, exist_ok=True)

    def run(self, what, name, shader_pass, path, *options, makes=True):
        """The result of the build before, if the one after came to the same; else None."""
        out = os.path.join(self.folder, "out.spv")
        results = []
        for program, recall in ((self.before, self.memory.recall), (self.after, call)):
            if os.path.exists(out):
                os.remove(out)
            command = [program, "shader", shader_pass, path, *options] + (["-o", out] if makes else [])
            results.append(recall(command, path, out))
        before, after = results
        return before if self.findings.same(what, name, before.all(), after.all()) else None


def subset(seed, space):
    chance = random.Random(f"{seed} subset")
    return ",".join(str(point) for point in sorted(chance.sample(range(space), min(space, 8))))


def compare_canonical(pair, name, key, path):
    """Everything that is made of a canonical module."""
    found = {}
    for kind in ("blocks", "zero"):
        listed = pair.run(f"points, {kind}", name, "points_" + kind, path, "--json", makes=False)
        pair.run(f"points, {kind}", name, "points_" + kind, path, makes=False)
        if listed is None or listed.status != 0:
            continue
        found[kind] = len(json.loads(listed.said))
        ways = [[], ["--slots", "8", "--no-int64"], ["--no-quad", "--early-tests"], ["--target", "1"]]
        if found[kind]:
            ways.append(["--slots", "4", "--points", subset(key, found[kind])])
        for way in ways:
            pair.run(f"instrumented, {kind}", f"{name} {' '.join(way)}", "instrument_" + kind, path, "--json", *way)
    if len(found) < 2:
        return
    for way, (_, _, options) in WAYS.items():
        profile = os.path.join(pair.folder, "profile.json")
        write(profile, profile_text(key, way, found["zero"], found["blocks"]))
        done = pair.run("specialized", f"{name}, {way}", "specialize_zero", path, "--profile", profile, "--json",
                        *options)
        if done is not None and done.status == 0 and done.made != read(path):
            pair.findings.count("of the specialized ones, changed", 0)


def compare_source(pair, source, claim):
    """claim KEY: is it the first module with this key?"""
    options = ["--entry", source.entry]
    for spec in source.specs:
        options += ["--spec", spec]
    for target in ("0", "3"):
        done = pair.run("canonical", f"{source.name} for Vulkan 1.{target}", "canonicalize", source.path, "--json",
                        "--target", target, *options)
    pair.run("validated", source.name, "validate", source.path, makes=False)
    if done is not None and b"buffer layout rules" in done.complained and not source.relaid:
        path = os.path.join(pair.folder, "relaid.spv")
        write(path, laid_out_wider(read(source.path)))
        compare_source(pair, Source(source.name + " laid out wider", path, source.entry, source.specs, True), claim)
        pair.findings.note("modules that are refused for their layout, and compared laid out wider too")
        return
    if done is None or done.status != 0:
        pair.findings.note("modules that are refused, by both builds in the same words" if done else
                           "modules that differ when canonical are followed no further")
        return
    # Points and so on are of the key's module alone, so once a key.
    key = digest(done.made)
    if not claim(key):
        return
    path = os.path.join(pair.folder, "canonical.spv")
    write(path, done.made)
    pair.findings.count("different canonical modules", len(done.made))
    compare_canonical(pair, source.name, key, path)


def compare(before, after, sources, work, jobs, remembered, findings, say):
    """before, after: the two programs. remembered: a folder for what the one before comes to, or None."""
    claimed = set()
    memory = Memory(remembered, before)

    def claim(key):
        with findings.lock:
            if key in claimed:
                return False
            claimed.add(key)
            return True

    def one(numbered):
        number, source = numbered
        pair = Pair(before, after, os.path.join(work, f"module-{number}"), memory, findings)
        try:
            compare_source(pair, source, claim)
        except subprocess.TimeoutExpired as slow:
            findings.differs("took too long", f"{source.name}: {slow}")
        for file in os.listdir(pair.folder):
            os.remove(os.path.join(pair.folder, file))

    sources = list(sources)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for done, _ in enumerate(pool.map(one, enumerate(sources)), 1):
            if done % 100 == 0:
                say(f"{done} of {len(sources)} modules")
