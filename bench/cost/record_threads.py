#!/usr/bin/env python3
"""record_threads.py BUILD [--threads N] [--buffers N] [--rounds N]: whether recording scales with the layer as without.

Threads record command buffers on the null driver (record_threads.c), one with one command buffer, one with N in turn,
and N (64) with one each, without the layer, with it outside windows, and inside one at p = 0.01, in turn, in an order
drawn anew each round. Prints a Markdown table: processor time of a draw, and how much more of it a draw takes with N
threads than with one, over the same without the layer, with the 95 % interval (Student's, of the logarithms of the
rounds' ratios); against one thread with one command buffer, and against one with as many as all have, which touches
as much memory. BUILD is the build tree (build/release)."""
import argparse
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile

# Two-sided 95 % quantiles of Student's t by degrees of freedom; more rounds take the next lower one.
STUDENT = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262, 11: 2.201,
           14: 2.145, 19: 2.093, 29: 2.045, 59: 2.001, 119: 1.980}

LAYER = {"VK_INSTANCE_LAYERS": "VK_LAYER_PIECEMEAL_cooperative_pgo", "PIECEMEAL_SAMPLER_SEED": "1"}
WAYS = {
    "no layer": {},
    "outside a window": {**LAYER, "PIECEMEAL_SAMPLER_WINDOW_PROBABILITY": "1e-15"},
    "in a window, p = 0.01": {**LAYER, "PIECEMEAL_SAMPLER_WINDOW_PROBABILITY": "1",
                              "PIECEMEAL_SAMPLER_API_PROBABILITY": "0.01", "PIECEMEAL_DEBUG_SYNCHRONOUS": "true"},
}


def measure(build, way, threads, buffers, kept):
    """Wall and processor time of a draw, nanoseconds, and switches a thousand buffers. Each has a home of its own."""
    home = tempfile.mkdtemp()
    try:
        os.makedirs(home + "/vulkan")
        os.symlink(os.path.abspath(build) + "/share/vulkan/explicit_layer.d", home + "/vulkan/explicit_layer.d")
        environment = {"PATH": os.environ["PATH"], "HOME": home, "XDG_DATA_HOME": home, "XDG_CONFIG_HOME": home,
                       "XDG_CACHE_HOME": home, "NODEVICE_SELECT": "1", **WAYS[way]}
        done = subprocess.run([build + "/bench/record_threads", str(threads), str(buffers), str(kept)], env=environment,
                              capture_output=True, text=True, timeout=600)
        if done.returncode != 0:
            sys.exit(f"record_threads {threads} {buffers} with {way} failed:\n{done.stderr}")
        return [float(word) for word in done.stdout.split()]
    finally:
        shutil.rmtree(home)


def interval(ratios):
    """Geometric mean and its 95 % interval."""
    logs = [math.log(ratio) for ratio in ratios]
    mean, n = sum(logs) / len(logs), len(logs)
    if n < 2:
        return math.exp(mean), 0.0, math.inf
    spread = math.sqrt(sum((x - mean) ** 2 for x in logs) / (n - 1) / n)
    width = STUDENT[max(known for known in STUDENT if known <= n - 1)] * spread
    return math.exp(mean), math.exp(mean - width), math.exp(mean + width)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--threads", type=int, default=64)
    parser.add_argument("--buffers", type=int, default=500, help="of each of the threads; one alone records as many as all")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    many = options.threads
    cells = [(way, *of) for way in WAYS for of in ((1, 1), (1, many), (many, 1))]
    found = {cell: [] for cell in cells}
    for _ in range(options.rounds):
        random.shuffle(cells)
        for way, threads, kept in cells:
            buffers = options.buffers * (many if threads == 1 else 1)
            found[way, threads, kept].append(measure(options.build, way, threads, buffers, kept))

    def scaling(way, kept):
        if way == "no layer":
            return ""
        time = {(of, threads): [run[1] for run in found[of, threads, kept if threads == 1 else 1]]
                for of in ("no layer", way) for threads in (1, many)}
        return "{:.3f} ({:.3f} to {:.3f})".format(*interval(
            [time[way, many][i] / time[way, 1][i] / (time["no layer", many][i] / time["no layer", 1][i])
             for i in range(options.rounds)]))

    print(f"| | a draw, 1 thread, ns | 1 thread, {many} command buffers, ns | {many} threads, ns | {many} threads over 1, "
          f"over the same without the layer | over 1 with {many} command buffers | switches a thousand buffers, "
          f"{many} threads |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for way in WAYS:
        cpu = [interval([run[1] for run in found[way, *of]])[0] for of in ((1, 1), (1, many), (many, 1))]
        switches = sum(run[2] for run in found[way, many, 1]) / options.rounds
        print(f"| {way} | {cpu[0]:.1f} | {cpu[1]:.1f} | {cpu[2]:.1f} | {scaling(way, 1)} | {scaling(way, many)} | "
              f"{switches:.2f} |")


main()
