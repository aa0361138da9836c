#!/usr/bin/env python3
"""shards.py [--batch SECONDS] [--upload SECONDS] [--games N]: what do 4, 16 and 64 shards carry, each a machine's core?

Uploads come at random, of games of which the k-th is played 1/k as much as the first; a game is on one shard, which
commits all that wait, 64 at most, in one transaction that takes `batch` and `upload` for each of them: CPU time of the
engine as `ingest --engine` measures it with one connection (both together) and with many. So the model: a shard carries
64 uploads in the time of a full batch, and all shards as much as fills the one with the largest share. Simulated is the
most uploads a second with which that shard commits 99 of 100 within a second. Prints both, what the model makes of equal
games, and that share."""
import argparse
import collections
import random

BATCH = 64
SECONDS = 60


def place(games, shards, equal):
    """The share of uploads that each shard has: by rendezvous of random numbers, as a hash places games."""
    draw = random.Random(1)
    weights = [1 if equal else 1 / (k + 1) for k in range(games)]
    shares = [0.0] * shards
    for weight in weights:
        shares[draw.randrange(shards)] += weight / sum(weights)
    return shares


def keeps_up(rate, options):
    """Does a shard to which so many come a second commit 99 of 100 within one? Those of the second half of a minute
    are looked at, when what is too much has piled up."""
    draw = random.Random(2)
    free, count, slow = 0.0, 0, 0
    came, arrived = draw.expovariate(rate), collections.deque()
    while came < SECONDS or arrived:
        while came < SECONDS and (came <= free or not arrived):
            arrived.append(came)
            came += draw.expovariate(rate)
        taken = [arrived.popleft() for _ in range(min(BATCH, len(arrived)))]
        free = max(free, taken[0]) + options.batch + options.upload * len(taken)
        late = [free - one > 1 for one in taken if one > SECONDS / 2]
        count += len(late)
        slow += sum(late)
    return slow <= 0.01 * count


def of_a_batch(options):
    """Uploads a second of a shard whose batches are full."""
    return BATCH / (options.batch + BATCH * options.upload)


def simulated(options):
    """The most uploads a second that one shard keeps up with."""
    low, high = 1.0, 2 * of_a_batch(options)
    while high - low > 0.01 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if keeps_up(middle, options) else (low, middle)
    return low


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=float, default=0.001)
    parser.add_argument("--upload", type=float, default=0.000084)
    parser.add_argument("--games", type=int, default=100)
    options = parser.parse_args()
    one, simulated_one = of_a_batch(options), simulated(options)
    print("shards    model  simulated  equal games  largest share")
    for shards in (1, 4, 16, 64):
        fullest = max(place(options.games, shards, False))
        equal = max(place(options.games, shards, True))
        print(f"{shards:6}  {one / fullest:7.0f}    {simulated_one / fullest:7.0f}      {one / equal:7.0f}  {fullest:13.2f}")


main()
