#!/usr/bin/env python3
"""shards.py [--batch SECONDS] [--upload SECONDS] [--games N]: what do 4, 16 and 64 shards carry, each a machine's core?

Uploads come at random, of games of which the k-th is played 1/k as much as the first; a game is on one shard, which
commits all that wait, 64 at most, in one transaction that takes `batch` and `upload` for each of them: CPU time of the
engine as `ingest --engine` measures it with one connection (both together) and with many. Carried is the most uploads a
second with which the fullest shard commits 99 of 100 within a second. Prints it, what equal games would make of it, and
that shard's share."""
import argparse
import collections
import random

BATCH = 64
SECONDS = 10


def place(games, shards, equal):
    """The share of uploads that each shard has: by rendezvous of random numbers, as a hash places games."""
    draw = random.Random(1)
    weights = [1 if equal else 1 / (k + 1) for k in range(games)]
    shares = [0.0] * shards
    for weight in weights:
        shares[draw.randrange(shards)] += weight / sum(weights)
    return shares


def keeps_up(rate, options):
    """Does a shard to which so many come a second commit 99 of 100 within one? Simulated for ten."""
    draw = random.Random(2)
    free, count, slow = 0.0, 0, 0
    came, arrived = draw.expovariate(rate), collections.deque()
    while came < SECONDS or arrived:
        while came < SECONDS and (came <= free or not arrived):
            arrived.append(came)
            came += draw.expovariate(rate)
        taken = [arrived.popleft() for _ in range(min(BATCH, len(arrived)))]
        free = max(free, taken[0]) + options.batch + options.upload * len(taken)
        count += len(taken)
        slow += sum(free - one > 1 for one in taken)
        if slow > 0.01 * rate * SECONDS:
            return False
    return slow <= 0.01 * count


def carried(shares, options):
    """As much as the fullest shard keeps up with: there it bends."""
    low, high = 1.0, 1 / options.upload
    while high - low > 0.02 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if keeps_up(middle, options) else (low, middle)
    return low / max(shares)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=float, default=0.0078)
    parser.add_argument("--upload", type=float, default=0.0002)
    parser.add_argument("--games", type=int, default=100)
    options = parser.parse_args()
    print("shards  carried  equal games  fullest shard's share")
    for shards in (1, 4, 16, 64):
        shares = place(options.games, shards, False)
        print(f"{shards:6}  {carried(shares, options):7.0f}  {carried(place(options.games, shards, True), options):11.0f}"
              f"  {max(shares):.2f}")


main()
