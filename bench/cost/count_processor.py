#!/usr/bin/env python3
"""count_processor.py [--frames N] [--skip N] [--settle N] [--ways LIST] [--batch B] [--p P]
                   SCENE SIZE BUILD [BUILD…]

Processor time a frame takes more while every draw and dispatch is sampled, where other programs keep the machine so
busy that frame times say nothing. The scene (deferred, terrain, postprocess) draws without the layer, twice, and with
that of each build tree in each way of counting: one frame of each in turn, in an order drawn anew each time. The ways
are `all` blocks, where others `follow` from, and lanes alone in all blocks (`alone`) or on the spanning `tree`;
builds before sampler.uniformity have the first two. `window` is a player's window, which takes profiles of all kinds.
The scene is the last build tree's. Prints a line for each: percent more than without the layer, the median of the
frames, their middle half, and the median's 95 % interval (by order statistics).

Of each call B points are counted (`all` of a shader's). Calls are sampled each by itself, so where one in a hundred
is, frames take a hundredth of that. With --settle N frames are drawn first until N in a row had no first use of a
variant, since lavapipe compiles it then. It forgets what it compiled where several hundred variants are large ones.

The driver is the caller's (VK_DRIVER_FILES). lavapipe draws on the thread that asks for it (LP_NUM_THREADS=0).
"""
import argparse
import math
import os
import pathlib
import random
import statistics
import subprocess
import tempfile

SETS = ("sampler.window_probability=1", "sampler.window_frames=16777216", "sampler.seed=1", "sampler.kinds=block",
        "debug.synchronous=true", "limits.background_share=1", "limits.variants=4096")

# Of a way what it is called, and what is set.
WAYS = {
    "all": ("all blocks", ("sampler.follow=false",)),
    "follow": ("others follow", ("sampler.follow=true",)),
    "alone": ("lanes alone, all blocks", ("sampler.uniformity=false", "sampler.follow=false")),
    "window": ("a window", ("sampler.kinds=block,zero,timing,constant,turns",)),
    "tree": ("lanes alone, others follow", ("sampler.uniformity=false", "sampler.follow=true")),
}


def middle(values):
    """The median with the 95 % interval that the order of the values gives."""
    values = sorted(values)
    count = len(values)
    half = 1.96 * math.sqrt(count) / 2
    low, high = max(math.floor(count / 2 - half), 0), min(math.ceil(count / 2 + half), count - 1)
    return statistics.median(values), values[low], values[high]


class Run:
    """A scene that draws when told to."""

    def __init__(self, name, scene, build=None, sets=()):
        self.name, self.times = name, []
        self.folder = tempfile.TemporaryDirectory(prefix="piecemeal-bench-")
        environment = dict(os.environ, LP_NUM_THREADS="0", HOME=self.folder.name)
        for kind in ("DATA", "CONFIG", "CACHE", "STATE"):
            environment[f"XDG_{kind}_HOME"] = os.path.join(self.folder.name, kind.lower())
        command = list(scene)
        self.log = pathlib.Path(self.folder.name, "log")
        if build:
            sets = SETS + sets + ("log.level=debug", f"log.file={self.log}")
            words = [word for one in sets for word in ("--set", one)]
            command = [str(build / "tools/piecemeal"), "run", *words, "--", *command]
        self.process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)

    def draw(self):
        self.process.stdin.write(b".")
        self.process.stdin.flush()
        if not self.process.stdout.readline():
            raise SystemExit(f"{self.name}: ended")

    def settle(self, frames):
        """Draws until no variant was used for the first time in so many frames: drivers compile those as they draw."""
        uses, since = 0, 0
        while since < frames:
            self.draw()
            found = self.log.read_text().count("first use of a variant") if self.log.exists() else 0
            uses, since = found, since + 1 if found == uses else 0
        return uses

    def spent(self):
        """Milliseconds of processor time, of all threads of the program that draws."""
        pid, below = self.process.pid, [self.process.pid]
        while below:
            pid = int(below[0])
            below = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        threads = pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat")
        return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e6

    def measure(self):
        before = self.spent()
        self.draw()
        self.times.append(self.spent() - before)

    def end(self):
        self.process.stdin.close()
        self.process.wait()
        self.folder.cleanup()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frames", type=int, default=40)
    parser.add_argument("--skip", type=int, default=4)
    parser.add_argument("--ways", type=lambda text: text.split(","), default=["all", "follow"])
    parser.add_argument("--p", default="1")
    parser.add_argument("--batch", default="all")
    parser.add_argument("--settle", type=int, default=0)
    parser.add_argument("scene")
    parser.add_argument("size")
    parser.add_argument("builds", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    scene = [str(options.builds[-1] / f"examples/piecemeal-{options.scene}"), "--size", options.size, "--step"]
    runs = [Run("no layer", scene), Run("no layer, again", scene)]
    for build in options.builds:
        runs += [Run(f"{build}, {WAYS[way][0]}", scene, build,
                     (f"sampler.api_probability={options.p}", f"sampler.batch={options.batch}") + WAYS[way][1])
                 for way in options.ways]
    for run in runs:
        for _ in range(options.skip):
            run.draw()
        uses = run.settle(options.settle)
        if uses:
            print(f"{run.name}: {uses} variants")
    for _ in range(options.frames):
        for run in random.sample(runs, len(runs)):
            run.measure()
    without = runs[0].times
    print(f"{options.scene} {options.size}: {statistics.median(without):.2f} ms without the layer")
    for run in runs[1:]:
        more = [100 * (a / b - 1) for a, b in zip(run.times, without)]
        low, _, high = statistics.quantiles(more)
        median, least, most = middle(more)
        print(f"{run.name}: {median:+.1f} % ({low:+.1f} to {high:+.1f}), median {least:+.1f} to {most:+.1f}")
    for run in runs:
        run.end()


if __name__ == "__main__":
    main()
