#!/usr/bin/env python3
"""kept_processor.py [--frames N] [--skip N] [--size WxH] SCENE BUILD

What it costs outside windows that a recording which the game keeps holds some of its calls twice, of which one is
skipped by predicate (layer/frame/predicated.h). The scene (deferred, terrain, postprocess) records once and draws
without the layer; with it, but so that nothing is ever sampled and so nothing held twice; at the default p; and with
every call held twice that can be. No window opens. Variants are built before they are asked for.

One frame of each in turn, in an order drawn anew each time, by the processor time of the program's threads, which a
busy machine disturbs less than time: the median of the frames, and percent more than without the layer, the median of
the pairs and their middle half. Which calls are held twice is in the layer's log.

The driver is the caller's (VK_DRIVER_FILES). lavapipe draws on the thread that asks for it (LP_NUM_THREADS=0).
"""
import argparse
import pathlib
import re
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
from stepped import Run, measure_in_turn  # noqa: E402

NEVER = ("sampler.window_probability=0",)
CLOSED = ("sampler.window_probability=1e-15", "sampler.seed=1", "sampler.kinds=block", "debug.synchronous=true",
          "limits.background_share=1", "limits.variants=4096")
SIDES = (("no layer", ()), ("nothing twice", NEVER), ("p = 0.01", CLOSED + ("sampler.api_probability=0.01",)),
         ("p = 1", CLOSED + ("sampler.api_probability=1",)))


def twice(side):
    """How many calls its log says are held twice."""
    text = side.log.read_text(errors="replace") if side.log.exists() else ""
    return sum(int(found) for found in re.findall(r"holds (\d+) of its calls twice", text))


def compare(options, scene):
    sides = [Run(name, scene, options.build if sets else None, sets) for name, sets in SIDES]
    for side in sides:
        for _ in range(options.skip):
            side.draw()
    for side in sides:
        side.begin()
    for _ in range(options.frames):
        measure_in_turn(sides)
    for side in sides:
        more = [100 * (a / b - 1) for a, b in zip(side.times, sides[0].times)]
        low, middle, high = statistics.quantiles(more) if side is not sides[0] else (0, 0, 0)
        print(f"{side.name}: {statistics.median(side.times):.2f} ms, {middle:+.1f} % ({low:+.1f} to {high:+.1f}), "
              f"{twice(side)} calls twice")
    for side in sides:
        side.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frames", type=int, default=100)
    parser.add_argument("--skip", type=int, default=8)
    parser.add_argument("--size", default="160x90")
    parser.add_argument("scene")
    parser.add_argument("build", type=pathlib.Path)
    options = parser.parse_args()
    scene = [str(options.build / f"examples/piecemeal-{options.scene}"), "--size", options.size, "--step",
             "--record-once"]
    compare(options, scene)


if __name__ == "__main__":
    main()
