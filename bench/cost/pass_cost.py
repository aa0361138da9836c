#!/usr/bin/env python3
"""What the passes over a shader cost as it grows: pass_cost.py [--build BUILD] [--sizes WORDS,…] [--shapes NAME,…]

Shaders of three shapes and several sizes, in words as glslangValidator compiles them, go through `piecemeal shader`
under callgrind: the instructions that our own passes execute (pm_pass_run), without SPIRV-Tools' optimizer and
validator and without reading and writing files. Prints a Markdown table with the exponent of the growth from the
smallest to the largest, by least squares; ends with 1 where one is above 1.15. The sizes from 10,000 to 200,000 take
some twenty minutes."""
import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile

MOST = 1.15
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HEAD = """#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer In { float f[]; };
layout(set = 0, binding = 1) buffer Out { float o[]; };
void main() { uint I = gl_GlobalInvocationID.x; float s = f[I];
"""


def sums(i):
    return f"float a{i} = f[I + {i}u]; s += a{i} * a{max(0, i - 5)};"


def selections(i):
    return f"float a{i} = f[I + {i}u]; if (a{i} > s) {{ s += a{i} * f[I + {i + 7}u]; }} else {{ s *= a{i}; }}"


def loops(i):
    return f"for (int i{i} = 0; i{i} < int(s); i{i}++) {{ s += s * f[I + uint(i{i}) + {i}u]; }}"


SHAPES = {"sums": sums, "selections": selections, "loops": loops}
PASSES = ["canonicalize", "points_blocks", "points_zero", "instrument_blocks", "instrument_zero", "specialize_zero"]


def compile_terms(shape, terms, folder):
    source, out = os.path.join(folder, "in.comp"), os.path.join(folder, "in.spv")
    with open(source, "w", encoding="utf-8") as file:
        file.write(HEAD + "\n".join(SHAPES[shape](i) for i in range(terms)) + "\no[I] = s; }\n")
    subprocess.run(["glslangValidator", "-V", source, "-o", out], stdout=subprocess.DEVNULL, check=True)
    return out, os.path.getsize(out) // 4


def compile_words(shape, words, folder):
    """A module of about so many words."""
    _, few = compile_terms(shape, 100, folder)
    _, more = compile_terms(shape, 200, folder)
    return compile_terms(shape, 100 + round((words - few) * 100 / (more - few)), folder)


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode:
        sys.exit(f"{' '.join(command)}:\n{done.stderr}")
    return done.stdout


def instructions(command, folder):
    """Those that are executed in passes."""
    out = os.path.join(folder, "callgrind")
    run(["valgrind", "--tool=callgrind", "--toggle-collect=pm_pass_run", f"--callgrind-out-file={out}"] + command)
    with open(out, encoding="utf-8") as file:
        return int(re.search(r"^(?:summary|totals): (\d+)", file.read(), re.MULTILINE).group(1))


def measure(shape, words, piecemeal, passes, folder):
    module, size = compile_words(shape, words, folder)
    canonical, profile = os.path.join(folder, "c.spv"), os.path.join(folder, "profile.json")
    run([piecemeal, "shader", "canonicalize", module, "-o", canonical])
    candidates = json.loads(run([piecemeal, "shader", "points_zero", canonical, "--json"]))
    with open(profile, "w", encoding="utf-8") as file:
        json.dump({"zero": [0.9] * len(candidates)}, file)
    costs = {}
    for name in passes:
        command = [piecemeal, "shader", name, module if name == "canonicalize" else canonical]
        costs[name] = instructions(command + (["--profile", profile] if name == "specialize_zero" else []), folder)
    return size, costs


def exponent(sizes, costs):
    """The slope of the least squares through the logarithms."""
    x, y = [math.log(s) for s in sizes], [math.log(c) for c in costs]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    return sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y)) / sum((a - mean_x) ** 2 for a in x)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build/release"))
    parser.add_argument("--sizes", default="10000,45000,200000", help="words, the smallest first")
    parser.add_argument("--shapes", default=",".join(SHAPES))
    parser.add_argument("--passes", default=",".join(PASSES))
    options = parser.parse_args()
    piecemeal = os.path.join(options.build, "tools/piecemeal")
    wanted = [int(size) for size in options.sizes.split(",")]
    passes, failed = options.passes.split(","), False
    print("| shape | pass | words | million instructions | exponent |\n| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for shape in options.shapes.split(","):
            rows = [measure(shape, words, piecemeal, passes, folder) for words in wanted]
            sizes = [size for size, _ in rows]
            for name in passes:
                costs = [costs[name] for _, costs in rows]
                slope = exponent(sizes, costs)
                failed = failed or slope > MOST
                print(f"| {shape} | {name} | {', '.join(f'{s:,}' for s in sizes)} | "
                      f"{', '.join(f'{c / 1e6:.1f}' for c in costs)} | {slope:.2f} |", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
