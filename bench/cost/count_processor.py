#!/usr/bin/env python3
"""count_processor.py [--frames N] [--skip N] [--ways LIST] SCENE SIZE BUILD [BUILD…]

Processor time a frame takes more while every block of every draw and dispatch is counted, where other programs keep
the machine so busy that frame times say nothing. The scene (deferred, terrain, postprocess) draws without the layer,
and with that of each build tree in each way of counting: one frame of each in turn, in an order drawn anew each time. The
ways are `all` blocks, where others `follow` from, and lanes alone in all blocks (`alone`) or on the spanning `tree`; builds
before sampler.uniformity have the first two. The scene is the last build tree's. Prints a line for each: percent more than
without the layer, the median of the frames and their middle half.

The driver is the caller's (VK_DRIVER_FILES). lavapipe draws on the thread that asks for it (LP_NUM_THREADS=0).
"""
import argparse
import os
import pathlib
import random
import statistics
import subprocess
import tempfile

SETS = ("sampler.window_probability=1", "sampler.window_frames=16777216", "sampler.seed=1", "sampler.kinds=block",
        "sampler.api_probability=1", "sampler.batch=all", "debug.synchronous=true", "limits.background_share=1",
        "limits.variants=4096")

# Of a way what it is called, and what is set.
WAYS = {
    "all": ("all blocks", ("sampler.follow=false",)),
    "follow": ("others follow", ("sampler.follow=true",)),
    "alone": ("lanes alone, all blocks", ("sampler.uniformity=false", "sampler.follow=false")),
    "tree": ("lanes alone, others follow", ("sampler.uniformity=false", "sampler.follow=true")),
}


class Run:
    """A scene that draws when told to."""

    def __init__(self, name, scene, build=None, sets=()):
        self.name, self.times = name, []
        self.folder = tempfile.TemporaryDirectory(prefix="piecemeal-bench-")
        environment = dict(os.environ, LP_NUM_THREADS="0", HOME=self.folder.name)
        for kind in ("DATA", "CONFIG", "CACHE", "STATE"):
            environment[f"XDG_{kind}_HOME"] = os.path.join(self.folder.name, kind.lower())
        command = list(scene)
        if build:
            words = [word for one in SETS + sets for word in ("--set", one)]
            command = [str(build / "tools/piecemeal"), "run", *words, "--", *command]
        self.process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)

    def draw(self):
        self.process.stdin.write(b".")
        self.process.stdin.flush()
        if not self.process.stdout.readline():
            raise SystemExit(f"{self.name}: ended")

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
    parser.add_argument("scene")
    parser.add_argument("size")
    parser.add_argument("builds", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    scene = [str(options.builds[-1] / f"examples/piecemeal-{options.scene}"), "--size", options.size, "--step"]
    runs = [Run("no layer", scene)]
    for build in options.builds:
        runs += [Run(f"{build}, {WAYS[way][0]}", scene, build, WAYS[way][1]) for way in options.ways]
    for run in runs:
        for _ in range(options.skip):
            run.draw()
    for _ in range(options.frames):
        for run in random.sample(runs, len(runs)):
            run.measure()
    without = runs[0].times
    print(f"{options.scene} {options.size}: {statistics.median(without):.2f} ms without the layer")
    for run in runs[1:]:
        low, middle, high = statistics.quantiles([100 * (a / b - 1) for a, b in zip(run.times, without)])
        print(f"{run.name}: {middle:+.0f} % ({low:+.0f} to {high:+.0f})")
    for run in runs:
        run.end()


if __name__ == "__main__":
    main()
