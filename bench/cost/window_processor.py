#!/usr/bin/env python3
"""window_processor.py [--p LIST] [--batch LIST] [--pairs N] [--frames N] [--skip N] [--window N] [--variants N]
                    [--details] SCENE SIZE BUILD [-- COMMAND…]

The paper's Figure 7 by processor time, where other programs keep the machine so busy that frame times say nothing: frames
inside a profiling window against none, for each p and b. The scene (deferred, terrain, postprocess), or a game that
step_frames.c makes draw the same frames in each process (bench/cost/game_processor.sh has its COMMAND), draws without the
layer, twice, and with it in N processes (--pairs) for each p and b. One frame of each in turn, in an order drawn anew each
time. Each of these has windows of so many frames (--window) and pauses of as many on average, at other times than the next
one, so that what a process is slower than the next by goes: a frame's time is divided by the same frame's without the
layer, and each window compared with the pauses before and after it. Frames in which a variant is used for the first time
stand apart, since drivers compile it then. --variants: no more are made, so that soon none is compiled any more (256).

Prints the columns of figure7.sh. The median is that of the windows, with their middle half; the mean has the 95 % interval
of the windows. None against none is what the same windows show of the two processes without the layer. --details: each
process by itself, too. Ends where a game does not draw the same in all processes.

The driver is the caller's (VK_DRIVER_FILES). lavapipe draws on the thread that asks for it (LP_NUM_THREADS=0).
"""
import argparse
import math
import pathlib
import re
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
import stepped  # noqa: E402

SETS = ("optimize.zero=false", "optimize.blocks=false", "optimize.variants=false", "limits.background_share=1")
LEAST = 4  # frames of a window, or of the pauses beside it, that are compared


class Windows:
    """A process with the layer, and whether its window was open in each frame."""

    def __init__(self, options, p, b, seed):
        self.p, self.b = p, b
        sets = SETS + (f"sampler.api_probability={p}", f"sampler.batch={b}", f"sampler.seed={seed}",
                       f"sampler.window_frames={options.window}", f"sampler.window_probability={1 / options.window}",
                       f"limits.variants={options.variants}")
        self.run = stepped.make(options, f"p = {p}, b = {b}, {seed}", options.builds[-1], sets)
        self.log, self.open, self.read = None, False, 0
        self.opens = []

    def take(self, measured):
        """The lines that the last frame added to the log; a window that they open or close is the next frame's."""
        if self.log is None and self.run.log.exists():
            self.log = open(self.run.log, encoding="utf-8", errors="replace")
        text = self.log.read() if self.log else ""
        if measured:
            self.opens.append(self.open)
        for word in re.findall(r"profiling window (opens|closes)", text):
            self.open = word == "opens"


def blocks(states):
    """First and last frame of each stretch in which the window stays open, or closed."""
    ends = [i + 1 for i in range(len(states)) if i + 1 == len(states) or states[i + 1] != states[i]]
    return [(begin, end, states[begin]) for begin, end in zip([0] + ends, ends)]


def compare(ratios, side):
    """Of each window how much larger the logarithms are than in the pauses beside it, without first uses."""
    stretches, found = blocks(side.opens), []

    def frames(at):
        if not 0 <= at < len(stretches):
            return []
        return [ratios[i] for i in range(*stretches[at][:2]) if not side.run.first[i]]

    for at, (_, _, is_open) in enumerate(stretches):
        inside, beside = frames(at), frames(at - 1) + frames(at + 1)
        if is_open and min(len(inside), len(beside)) >= LEAST:
            found.append((statistics.fmean(inside) - statistics.fmean(beside), len(inside)))
    return found


def percent(logarithm):
    return f"{100 * math.expm1(logarithm):+.2f}"


def middle(values):
    if len(values) < 2:
        return "–"
    low, median, high = statistics.quantiles(values)
    return f"{percent(median)} ({percent(low)} to {percent(high)})"


def mean(values):
    if len(values) < 2:
        return "–"
    error = 1.96 * statistics.stdev(values) / math.sqrt(len(values))
    at = statistics.fmean(values)
    return f"{percent(at)} ({percent(at - error)} to {percent(at + error)})"


def first_uses(ratios, without, side):
    """How many, and the milliseconds that their frames took more than those of pauses."""
    pauses = [ratio for ratio, is_open, first in zip(ratios, side.opens, side.run.first) if not is_open and not first]
    usual = math.exp(statistics.median(pauses)) if pauses else 1
    return sum(side.run.first), sum(time - usual * none for time, none, first in
                                 zip(side.run.times, without, side.run.first) if first)


def row(options, sides, none, again):
    without = [math.sqrt(a * b) for a, b in zip(none.times, again.times)]
    noise, found, frames, uses, more = [], [], 0, 0, 0
    for side in sides:
        ratios = [math.log(time / other) for time, other in zip(side.run.times, without)]
        windows = compare(ratios, side)
        own = [difference for difference, _ in windows]
        found += own
        frames += sum(count for _, count in windows)
        noise += [difference for difference, _ in
                  compare([math.log(b / a) for a, b in zip(none.times, again.times)], side)]
        first, longer = first_uses(ratios, without, side)
        uses, more = uses + first, more + longer
        if options.details:
            print(f"{side.run.name}: {len(own)} windows, median {middle(own)}, mean {mean(own)}, {first} first uses, "
                  f"{percent(statistics.median(ratios))} than without the layer in all")
    longer = f"{more / uses:.2f}" if uses else "–"
    return (f"| {options.scene} | {sides[0].p} | {sides[0].b} | {frames} | {statistics.median(without):.2f} | "
            f"{middle(found)} | {mean(found)} | {mean(noise)} | {uses} | {longer} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--p", default="0.001,0.01,0.05")
    parser.add_argument("--batch", default="1,8,128")
    parser.add_argument("--pairs", type=int, default=2)
    parser.add_argument("--frames", type=int, default=600)
    parser.add_argument("--skip", type=int, default=60)
    parser.add_argument("--window", type=int, default=16)
    parser.add_argument("--variants", type=int, default=256)
    parser.add_argument("--details", action="store_true")
    options = stepped.parse(parser)
    none, again = stepped.make(options, "no layer"), stepped.make(options, "no layer, again")
    sides = [[Windows(options, p, b, seed) for seed in range(1, options.pairs + 1)]
             for p in options.p.split(",") for b in options.batch.split(",")]
    every = [side for group in sides for side in group]
    runs = [none, again] + [side.run for side in every]
    for _ in range(options.skip):
        stepped.draw_all(runs)
        for side in every:
            side.take(False)
    stepped.draw_same(runs)
    for run in runs:
        run.begin()
    for _ in range(options.frames):
        stepped.measure_in_turn(runs)
        for side in every:
            side.take(True)
    stepped.draw_same(runs)
    rows = [row(options, group, none, again) for group in sides]
    print("| program | p | b | frames | ms without | % more, median (middle half) | % more, mean (95 %) | none / none, % "
          "| first uses | ms more each |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |", *rows, sep="\n")
    for run in runs:
        run.end()


if __name__ == "__main__":
    main()
