#!/usr/bin/env python3
"""in_turn.py BEFORE AFTER [--rounds N] [--most PERCENT] [-- OPTION…]: does the aggregator take fewer uploads than before?

BEFORE and AFTER are programs `ingest` of two builds, which load a server of their own each; they run in turn, and every
other round the other way around, with these options (`ingest.c`). Prints a Markdown table of all runs, and of how many
times as much AFTER did: the mean of the rounds (geometric), the least and the most. Folded in: per CPU-second of the
server and of folding what waited at the end, also what waits until its day has ended. Ends with 1 where AFTER stored
fewer a second, or per CPU-second, by more than PERCENT (10)."""
import argparse
import math
import re
import subprocess
import sys

STORED = re.compile(r"^  stored +(\d+) in ([\d.]+) s", re.M)
SERVER = re.compile(r"^  server +([\d.]+) CPU-seconds", re.M)
WAITED = re.compile(r"^  put off +(\d+) MiB waited at the end; folding (\d+) of them took ([\d.]+) CPU-seconds", re.M)
ANSWERED = re.compile(r"^  acknowledged +p50 ([\d.]+) ms, p99 ([\d.]+) ms", re.M)


def measure(program, options):
    """A run: stored a second, per CPU-second, and folded in; p50, p99."""
    done = subprocess.run([program, *options], capture_output=True, text=True)
    found = [pattern.search(done.stdout) for pattern in (STORED, SERVER, WAITED, ANSWERED)]
    if done.returncode != 0 or not all(found):
        sys.exit(f"in_turn.py: {program} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    stored, seconds = (float(one) for one in found[0].groups())
    cpu = float(found[1].group(1))
    waited, folded, folding = (float(one) for one in found[2].groups())
    if folded > 0:
        folding *= waited / folded
    return stored / seconds, stored / cpu, stored / (cpu + folding), *(float(one) for one in found[3].groups())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--rounds", type=int, default=4, metavar="N")
    parser.add_argument("--most", type=float, default=10, metavar="PERCENT")
    end = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    options, given = parser.parse_args(sys.argv[1:end]), sys.argv[end + 1:]
    sides = {"before": options.before, "after": options.after}
    ratios = []
    print("| round | build | uploads a second | per CPU-second | folded in | p50, ms | p99 |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for number in range(options.rounds):
        found = {}
        for side in sorted(sides, reverse=number % 2 == 0):
            found[side] = measure(sides[side], given)
            print(f"| {number + 1} | {side} |", " | ".join(f"{one:,.0f}" for one in found[side]), "|", flush=True)
        ratios.append([after / before for before, after in zip(found["before"], found["after"])])
    means = [math.exp(sum(map(math.log, column)) / len(column)) for column in zip(*ratios)]
    shown = [f"{mean:.3f} ({min(column):.3f}–{max(column):.3f})" for mean, column in zip(means, zip(*ratios))]
    print("| all | after / before |", " | ".join(shown), "|")
    slower = [name for name, mean in zip(("a second", "per CPU-second"), means) if mean < 1 - options.most / 100]
    for name in slower:
        print(f"in_turn.py: fewer uploads {name} than before, by more than {options.most:g} %")
    sys.exit(1 if slower else 0)


main()
