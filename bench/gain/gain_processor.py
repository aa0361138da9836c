#!/usr/bin/env python3
"""gain_processor.py [--frames N] [--skip N] [--settle N] [--processes N] [--state WAY FOLDER SETS CONTESTS]…
                  [--nothing WAY CONTESTS]… SCENE[-NUMBER] SIZE BUILD [-- COMMAND…]

What frames gain by what sessions have found, by processor time, where other programs keep the machine so busy that frame
times say nothing. The scene (deferred, terrain, postprocess), or a game or program that step_frames.c makes draw the same
frames in each process, draws without the layer; with it but without anything to use; and with what each state's sessions
have found; each in so many processes (--processes), as what a driver makes in one may be slower by some percent than what it
makes of the same in the next. One frame of each in turn, in an order drawn anew each time.

A state is a way's name, the folder with XDG's data, config and cache of its sessions (figure9.sh makes them), what is set (KEY=VALUE,
separated by spaces), and what is said of its contests. What these sessions found is used as in any later one: what at least two of
them found faster, and nothing else. Nothing is sampled, and next to nothing is tried (limits.trial_share=0.0001). A way of
which they found nothing, and of which nothing goes on that may cost something (--nothing), draws as the layer alone does:
its row has the same figures.

Prints rows of a Markdown table: how many shaders were in use; milliseconds of a frame without the layer, the median; and
the gain, which is how many more frames are drawn in the same processor time. Of a process that is the median of its frames,
each over the same one of a process without the layer, on average over these; of a way the mean of its processes, with the 95 % interval that
the processes' differences give, also those without the layer (Welch's), and the least and the most of them. Frames in which a
variant is used for the first time, and those behind them, are left out, as drivers compile it then, and so is what compile
threads do, as a player's have a share of their own, and what is written each second: while all draw in turn a frame takes
that long, of which a player sees dozens. The first row says how far the processes without the layer are apart.
Ends where a game does not draw the same in all processes.

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

SETS = ("sampler.window_probability=0", "sampler.kinds=timing", "limits.trial_share=0.0001", "optimize.retry_share=0")
NOTHING = ("optimize.zero=false", "optimize.blocks=false", "optimize.variants=false", "optimize.constants=false")
IN_USE = re.compile("shader ([0-9a-f]+), specialized, is used from now on")
LEAST = 8  # frames that an interval needs


class Way:
    """What is compared: some processes that draw with the same, and what is said of them."""

    def __init__(self, name, runs, contests="–"):
        self.name, self.runs, self.contests = name, runs, contests

    def in_use(self):
        """Shaders of which a faster one is used, in the process that has most."""
        return max(len(set(IN_USE.findall(run.log.read_text(errors="replace")))) if run.log.exists() else 0
                   for run in self.runs)


def clean(run):
    """Of each frame whether there is a first use neither in it nor in the one before."""
    return [not (first or before) for first, before in zip(run.first, [0, *run.first])]


def gains(runs, none):
    """Of each process the logarithm of how many more frames it draws than those without the layer, and of how many frames
    at least that is told; None: of too few. Against each of those it is the median of the frames. Against their mean it would
    be too much: a mean has its median higher than one process does, where some frames take longer by chance."""
    found = []
    for run in runs:
        against, fewest = [], len(run.times)
        for other in none:
            more = [math.log(usual / time) for usual, time, taken in zip(other.times, run.times, clean(run)) if taken]
            if len(more) < LEAST:
                return None
            against.append(statistics.median(more))
            fewest = min(fewest, len(more))
        found.append((statistics.fmean(against), fewest))
    return found


def student(degrees):
    """The 97.5 % point of Student's distribution (Cornish and Fisher's expansion; within 1 % from 3 degrees on)."""
    z = statistics.NormalDist().inv_cdf(0.975)
    terms = ((z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96, (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384)
    return z + sum(term / degrees**power for power, term in enumerate(terms, 1))


def interval(way, none):
    """The mean difference of two samples with its 95 % interval, which is None where there is one of either."""
    middle = statistics.fmean(way) - statistics.fmean(none)
    if min(len(way), len(none)) < 2:
        return middle, None
    parts = [(statistics.variance(sample) / len(sample), len(sample)) for sample in (way, none)]
    square = sum(part for part, _ in parts)
    if square == 0:
        return middle, (middle, middle)
    degrees = square**2 / sum(part**2 / (count - 1) for part, count in parts)
    half = student(degrees) * math.sqrt(square)
    return middle, (middle - half, middle + half)


def percent(logarithm):
    return f"{100 * math.expm1(logarithm):+.2f}"


def row(scene, way, none):
    """Of a way, or of the processes without the layer themselves."""
    found, usual = gains(way.runs, none), gains(none, none)
    used = way.in_use() if way.runs[0].log.exists() else "–"
    milliseconds = statistics.median(time for run in none for time in run.times)
    start = f"| {scene} | {way.name} | {way.contests} | {used} | {milliseconds:.2f} |"
    if found is None or usual is None:
        return start + " too few frames without a first use | – | – |"
    of_processes = [gain for gain, _ in found]
    apart = f"{percent(min(of_processes))} to {percent(max(of_processes))}"
    frames = min(count for _, count in found)
    if way.runs is none:
        return start + f" – | {apart} | {frames} |"
    middle, ends = interval(of_processes, [gain for gain, _ in usual])
    between = f" ({percent(ends[0])} to {percent(ends[1])})" if ends else ""
    return start + f" {percent(middle)} %{between} | {apart} | {frames} |"


def make_ways(options):
    def processes(name, build=None, sets=(), **more):
        return [stepped.make(options, f"{name}, {number}", build, sets, **more)
                for number in range(1, options.processes + 1)]

    stepped.Run.apart = (stepped.COMPILES, stepped.WRITES)
    none, build = processes("no layer"), options.builds[-1]
    ways = [Way("no layer", none), Way("layer alone", processes("layer alone", build, SETS + NOTHING))]
    for name, folder, sets, contests in options.state:
        ways.append(Way(name, processes(name, build, SETS + tuple(sets.split()), run=("--local", "--game", options.scene),
                                        state=pathlib.Path(folder)), contests))
    return none, ways


def settle(options, runs):
    """Draws what is not measured: so many frames, and on until in so many no variant was used for the first time."""
    for _ in range(options.skip):
        stepped.draw_all(runs)
    drawn = [run.settle(options.settle) for run in runs]
    for run, frames in zip(runs, drawn):
        for _ in range(max(drawn) - frames):
            run.draw()
    stepped.draw_same(runs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frames", type=int, default=200)
    parser.add_argument("--skip", type=int, default=100)
    parser.add_argument("--settle", type=int, default=20)
    parser.add_argument("--processes", type=int, default=3)
    parser.add_argument("--state", nargs=4, action="append", default=[], metavar=("WAY", "FOLDER", "SETS", "CONTESTS"))
    parser.add_argument("--nothing", nargs=2, action="append", default=[], metavar=("WAY", "CONTESTS"))
    options = stepped.parse(parser)
    none, ways = make_ways(options)
    runs = [run for way in ways for run in way.runs]
    settle(options, runs)
    for run in runs:
        run.begin()
    for _ in range(options.frames):
        stepped.measure_in_turn(runs)
    stepped.draw_same(runs)
    ways += [Way(name, ways[1].runs, contests) for name, contests in options.nothing]
    for way in ways:
        print(row(options.scene, way, none))
    sys.stdout.flush()
    for run in runs:
        run.end()


if __name__ == "__main__":
    main()
