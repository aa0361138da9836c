#!/usr/bin/env python3
"""constant_gain.py BUILD KEPT PROGRAM… [--callgrind]: what known words save in the shaders of real programs.

KEPT is the folder in which bench/gain/constant_words.sh kept its sessions (KEEP). Of each shader of a program's last session:
the words that had one value in 95 % of their loads, without those that the estimate does better without (a vector at a time,
then one at a time, as the layer chooses); and where what is left is worth a version, what a draw costs as the program made the
shader and with the words folded behind their guard (constant_gain.c). Both must draw the same. Prints two Markdown tables.

Processor time: the least of REPETITIONS (5) runs of DRAWS (200) draws, in turn. --callgrind counts instructions too, at two
counts, the slope. The driver is the caller's: VK_DRIVER_FILES, one that runs shaders on the CPU."""
import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
FEW, MANY = 10, 30
LAVAPIPE = ["--vendor", "65541", "--driver", "13"]


def known_words(tool, store, values):
    """Of each shader: its words and their values, by the file of values that constant_words.sh kept."""
    words = collections.defaultdict(dict)
    for line in values.read_text().splitlines():
        name, loads, _, value, most = line.split()
        key, point = name.rsplit(".", 1)
        if int(most) >= 0.95 * int(loads):
            words[key][int(point)] = value
    for key in sorted(words):
        listed = subprocess.run([tool, "shader", "points_constant", key, "--store", store], capture_output=True, text=True,
                                check=True).stdout
        names = {int(m[1]): f"{m[2] or 'push'}:{m[3]}"
                 for m in re.finditer(r"^(\d+): (?:push constants|uniform (\S+)) byte (\d+)", listed, re.M)}
        yield key, {names[p]: "0x" + value for p, value in words[key].items() if p in names}


def estimate(shader, words):
    """Cycles before and after, and whether that is worth a version."""
    tool, store, key = shader
    command = [tool, "shader", "specialize_constants", key, "--store", store, *LAVAPIPE]
    for word, value in words.items():
        command += ["--known", f"{word}={value}"]
    said = subprocess.run(command + ["-o", os.devnull], capture_output=True, text=True)
    found = re.search(r"(\d+) cycles for (\d+)", said.stdout + said.stderr)
    if not found:
        return None
    return int(found[2]), int(found[1]), "not worth it" not in said.stdout + said.stderr


def choose(shader, words):
    """Leaves words out as long as the estimate gets no worse."""
    best = estimate(shader, words)
    for slot in (16, 4):
        for group in sorted({(w.split(":")[0], int(w.split(":")[1]) // slot) for w in words}):
            less = {w: v for w, v in words.items() if (w.split(":")[0], int(w.split(":")[1]) // slot) != group}
            tried = estimate(shader, less) if less else None
            if tried and (not best or tried[1] <= best[1]):
                words, best = less, tried
    return words, best


def draw(build, folder, key, way, count, words, wrapper=()):
    said = subprocess.run([*wrapper, build / "bench/constant_gain", folder, key, way, str(count),
                           *(f"{w}={v}" for w, v in words.items())], capture_output=True, text=True)
    if said.returncode:
        raise RuntimeError(said.stderr.strip().splitlines()[-1])
    return said.stdout.split()


def instructions(build, folder, key, way, words, scratch):
    totals = []
    for count in (FEW, MANY):
        out = scratch / "callgrind"
        draw(build, folder, key, way, count, words, ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}"])
        totals.append(int(re.findall(r"^(?:summary|totals): (\d+)", out.read_text(), re.M)[-1]))
    return (totals[1] - totals[0]) / (MANY - FEW)


def measure(build, folder, key, words, repetitions, draws):
    least, hashes = {}, set()
    for _ in range(repetitions):
        for way in ("original", "folded"):
            time, picture, _ = draw(build, folder, key, way, draws, words)
            least[way] = min(float(time), least.get(way, 1e9))
            hashes.add(picture)
    if len(hashes) != 1:
        raise RuntimeError("they draw something else")
    return least


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("kept", type=pathlib.Path)
    parser.add_argument("program", nargs="+")
    parser.add_argument("--callgrind", action="store_true")
    options = parser.parse_args()
    # What an earlier run left in the driver's cache was generated for another CPU than valgrind's.
    os.environ |= {"MESA_SHADER_CACHE_DISABLE": "true", "LP_NUM_THREADS": "0"}
    repetitions, draws = int(os.environ.get("REPETITIONS", 5)), int(os.environ.get("DRAWS", 200))
    tool, failed = options.build / "tools/piecemeal", False
    summary, rows = [], []
    for program in options.program:
        store = options.kept / program / "data/piecemeal/shaders"
        values = sorted((options.kept / "values").glob(program + "-*"))[-1]
        counts = collections.Counter()
        with tempfile.TemporaryDirectory() as scratch:
            scratch = pathlib.Path(scratch)
            subprocess.run([HERE / "../../tests/corpus/store_contents.py", store, scratch / "dump"], check=True,
                           stdout=subprocess.DEVNULL)
            counts["shaders"] = len(list((scratch / "dump").glob("*.spv")))
            for key, words in known_words(tool, store, values):
                counts["known"] += 1
                words, best = choose((tool, store, key), words)
                if not best:
                    counts["unguarded"] += 1
                elif best[2]:
                    counts["worth"] += 1
                    try:
                        least = measure(options.build, scratch / "dump", key, words, repetitions, draws)
                        row = [f"{least['original']:.4f}", f"{least['folded']:.4f}", f"{least['folded'] / least['original']:.3f}"]
                        if options.callgrind:
                            ways = [instructions(options.build, scratch / "dump", key, way, words, scratch)
                                    for way in ("original", "folded")]
                            row += [f"{ways[0]:.0f}", f"{ways[1] / ways[0]:.3f}"]
                    except RuntimeError as error:
                        print(f"constant_gain: {program} {key[:12]}: {error}", file=sys.stderr)
                        row, failed = ["–"] * (5 if options.callgrind else 3), True
                    rows.append([program, key[:12], str(len(words)), f"{best[0]} to {best[1]}"] + row)
        summary.append([program] + [str(counts[c]) for c in ("shaders", "known", "unguarded", "worth")])
    head = ["program", "shader", "words compared", "cycles by estimate", "ms a draw", "folded", "times"]
    tables = [(["program", "shaders", "with known words", "of them not read on every path", "worth a version"], summary),
              (head + (["instructions a draw", "times"] if options.callgrind else []), rows)]
    for names, lines in tables:
        print("| " + " | ".join(names) + " |\n|" + " --- |" * len(names))
        for line in lines:
            print("| " + " | ".join(line) + " |")
        print()
    return failed


if __name__ == "__main__":
    sys.exit(main())
