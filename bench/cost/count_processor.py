#!/usr/bin/env python3
"""count_processor.py [--instructions] [--frames N] [--skip N] [--settle N] [--ways LIST] [--batch LIST] [--p LIST]
                   [--variants N] [--pairs N] SCENE SIZE BUILD [BUILD…] [-- COMMAND…]

Processor time a frame takes more while every draw and dispatch is sampled, where other programs keep the machine so
busy that frame times say nothing. The scene (deferred, terrain, postprocess), or a game that step_frames.c makes draw the
same frames in each process (bench/cost/game_processor.sh has its COMMAND), draws without the layer, twice, and with
that of each build tree in each way of counting: one frame of each in turn, in an order drawn anew each time. The ways
are `all` blocks, where others `follow` from, and lanes alone in all blocks (`alone`) or on the spanning `tree`;
builds before sampler.uniformity have the first two. `window` is a player's window, which takes profiles of all kinds;
`blocks` and `zeros` are one that takes these alone. The scene is the last build tree's. Prints a line for each: percent
more than without the layer, the median of the frames that had no first use of a variant, their middle half, and the
median's 95 % interval (by order statistics); all these frames together, which is what counts where few calls are sampled and
one of them is most of a frame; and what a first use cost.

Of each call B points are counted (`all` of a shader's). Calls are sampled each by itself, so where one in a hundred
is, frames take a hundredth of that; with --p 0.1 the next call mostly is the game's own again, as it is with less. With
--settle N frames are drawn first until N in a row had no first use of a variant, since lavapipe compiles it then. It
forgets what it compiled where several hundred variants are large ones; --variants: no more than so many are made. --pairs:
each is measured by so many processes, which sample other calls (sampler.seed).

--instructions: counts what is executed in so many frames instead, by callgrind, of all threads, also what compiles then.
Without the layer that is the same each time but for a thousandth; with it, runs differed by half a percent. Few frames
take minutes.

The driver is the caller's (VK_DRIVER_FILES). lavapipe draws on the thread that asks for it (LP_NUM_THREADS=0).
"""
import argparse
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
import stepped  # noqa: E402

SETS = ("sampler.window_probability=1", "sampler.window_frames=16777216", "sampler.kinds=block",
        "debug.synchronous=true", "limits.background_share=1")

# Of a way what it is called, and what is set.
WAYS = {
    "all": ("all blocks", ("sampler.follow=false",)),
    "follow": ("others follow", ("sampler.follow=true",)),
    "alone": ("lanes alone, all blocks", ("sampler.uniformity=false", "sampler.follow=false")),
    "blocks": ("a window of blocks alone", ("sampler.kinds=block",)),
    "zeros": ("a window of zeros alone", ("sampler.kinds=zero",)),
    "window": ("a window", ("sampler.kinds=block,zero,timing,constant,turns",)),
    "tree": ("lanes alone, others follow", ("sampler.uniformity=false", "sampler.follow=true")),
}


def side(options, how, seed):
    build, way, p, batch = how
    what, sets = WAYS[way]
    number = f", {seed}" if options.pairs > 1 else ""
    return stepped.make(options, f"{build}, {what}, p = {p}, b = {batch}{number}", build,
                        SETS + (f"sampler.seed={seed}", f"limits.variants={options.variants}",
                                f"sampler.api_probability={p}", f"sampler.batch={batch}") + sets, callgrind=options.instructions)


def settle(options, runs):
    """Draws what is not measured. Of a game no frame is the next one's like, so all draw as many."""
    for _ in range(options.skip):
        stepped.draw_all(runs)
    drawn = [run.settle(options.settle) for run in runs]
    for run, frames in zip(runs, drawn):
        if run.uses():
            print(f"{run.name}: {run.uses()} variants")
        if options.command:
            for _ in range(max(drawn) - frames):
                run.draw()
    stepped.draw_same(runs)


def first_cost(run, without, more):
    """Milliseconds that a first use took beyond what the frame's others do."""
    usual = 1 + more / 100
    return sum(time - usual * other for time, other, first in zip(run.times, without, run.first) if first) \
        / max(sum(run.first), 1)


def count_instructions(options, runs):
    counts = [run.executed(options.frames) for run in runs]
    stepped.draw_same(runs)
    print(f"{options.scene} {options.size}: {counts[0]:.2f} million instructions a frame without the layer")
    for run, count in zip(runs[1:], counts[1:]):
        print(f"{run.name}: {count:.2f} million, {100 * (count / counts[0] - 1):+.2f} %; "
              f"{run.uses() - run.known_uses} first uses")


def measure_time(options, runs):
    for _ in range(options.frames):
        stepped.measure_in_turn(runs)
    stepped.draw_same(runs)
    without = runs[0].times
    print(f"{options.scene} {options.size}: {statistics.median(without):.2f} ms without the layer")
    for run in runs[1:]:
        pairs = [(a, b) for a, b, first in zip(run.times, without, run.first) if not first]
        more = [100 * (a / b - 1) for a, b in pairs]
        if len(more) < 2:
            print(f"{run.name}: {len(more)} of {len(without)} frames have none of {sum(run.first)} first uses")
            continue
        low, _, high = statistics.quantiles(more)
        median, least, most = stepped.middle(more)
        together = 100 * (sum(a for a, _ in pairs) / sum(b for _, b in pairs) - 1)
        print(f"{run.name}: {median:+.1f} % ({low:+.1f} to {high:+.1f}), median {least:+.1f} to {most:+.1f}, "
              f"{len(more)} frames, together {together:+.1f} %; {sum(run.first)} first uses, "
              f"{first_cost(run, without, median):+.0f} ms each")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("--frames", type=int, default=40)
    parser.add_argument("--skip", type=int, default=4)
    parser.add_argument("--ways", type=lambda text: text.split(","), default=["all", "follow"])
    parser.add_argument("--p", default="1")
    parser.add_argument("--batch", default="all")
    parser.add_argument("--settle", type=int, default=0)
    parser.add_argument("--variants", type=int, default=4096)
    parser.add_argument("--pairs", type=int, default=1)
    options = stepped.parse(parser)
    runs = [stepped.make(options, name, callgrind=options.instructions) for name in ("no layer", "no layer, again")]
    runs += [side(options, (build, way, p, batch), seed) for build in options.builds for way in options.ways
             for p in options.p.split(",") for batch in options.batch.split(",") for seed in range(1, options.pairs + 1)]
    settle(options, runs)
    for run in runs:
        run.begin()
    (count_instructions if options.instructions else measure_time)(options, runs)
    for run in runs:
        run.end()


if __name__ == "__main__":
    main()
