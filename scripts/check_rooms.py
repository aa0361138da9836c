#!/usr/bin/env python3
"""Holds the code against scripts/rooms.txt: who includes whom, who calls whom, and what is linked with what.

  check_rooms.py BUILD [--root DIR] [--arrows] [--circles]

BUILD is a build folder with compile_commands.json whose objects are built. Reads every include of every source and
header below the rooms, and the symbols of every object file (nm). Fails on a file that is in no room, on an arrow to a
room that rooms.txt does not allow, on a circle of more than three files inside a room, and on a source that is not
compiled in a target of its room: those link only what rooms.txt allows (cmake/rooms.cmake). There are no exceptions.

  --root DIR  the tree; without it, the one that this script is in
  --arrows    prints every arrow that is not allowed, with what it takes, and goes on
  --circles   prints every circle of files, the allowed ones too
"""
import argparse
import collections
import json
import pathlib
import re
import shlex
import subprocess
import sys

from rooms import ROOT, Rooms, read_includes, read_sources, unit

LARGEST_CIRCLE = 3
PRELOADED = {'step_frames'}  # targets that programs are preloaded with: nothing is linked with what they define
TARGET = re.compile(r'CMakeFiles/([^/]+)\.dir/')


def read_objects(build, rooms, root):
    """object file -> its source, relative to the root; generated sources stand for their room."""
    commands = json.loads((build / 'compile_commands.json').read_text())
    objects = {}
    for command in commands:
        source = pathlib.Path(command['file'])
        words = shlex.split(command['command'])
        output = pathlib.Path(command['directory']) / words[words.index('-o') + 1]
        relative = ''
        for base in (root, build):
            if source.is_relative_to(base):
                relative = str(source.relative_to(base))
        if rooms.of(relative) and output.exists():
            objects[output] = relative
    return objects


def read_symbols(objects):
    """(from, to, symbol) for each symbol that one object takes from another."""
    defined, wanted = collections.defaultdict(set), collections.defaultdict(set)
    paths = sorted(objects)
    text = subprocess.run(['nm', '-A', '-g', '--', *map(str, paths)], check=True, capture_output=True, text=True).stdout
    for line in text.splitlines():
        where, _, rest = line.partition(':')
        fields = rest.split()
        kind, name = fields[-2], fields[-1]
        source = objects[pathlib.Path(where)]
        if kind in 'Uwv':
            wanted[name].add(source)
        elif TARGET.search(where).group(1) not in PRELOADED:
            defined[name].add(source)
    for name, users in wanted.items():
        for user in users:
            for definer in defined.get(name, ()):
                if definer != user:
                    yield user, definer, name


def misplaced(build, rooms, sources, objects):
    """What is wrong with the targets that the rooms' sources are compiled in; those of tests do not count."""
    rooms_of = dict(line.split() for line in (build / 'room_targets.txt').read_text().splitlines() if line)
    at_home, strayed = set(), set()
    for output, source in sorted(objects.items()):
        relative = str(output.relative_to(build))
        target = TARGET.search(relative).group(1)
        if rooms_of.get(target) == rooms.of(source):
            at_home.add(source)
        elif not relative.startswith('tests/'):
            strayed.add(source)
            yield f'{source}: is compiled in {target}, which is no target of its room'
    for source in sources:
        if not source.endswith('.h') and source not in at_home | strayed:
            yield f'{source}: is compiled in no target of its room'


def circles(edges):
    """The strongly connected components of more than one file (Tarjan, iterative)."""
    index, low, on, stack, out = {}, {}, set(), [], []
    for root in sorted(edges):
        if root in index:
            continue
        work = [(root, iter(sorted(edges[root])))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on.add(root)
        while work:
            node, following = work[-1]
            for to in following:
                if to not in index:
                    index[to] = low[to] = len(index)
                    stack.append(to)
                    on.add(to)
                    work.append((to, iter(sorted(edges.get(to, ())))))
                    break
                if to in on:
                    low[node] = min(low[node], index[to])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    circle = []
                    while True:
                        circle.append(stack.pop())
                        on.discard(circle[-1])
                        if circle[-1] == node:
                            break
                    if len(circle) > 1:
                        out.append(sorted(circle))
    return sorted(out, key=len, reverse=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('build', type=pathlib.Path)
    parser.add_argument('--root', type=pathlib.Path, default=ROOT)
    parser.add_argument('--arrows', action='store_true')
    parser.add_argument('--circles', action='store_true')
    options = parser.parse_args()
    build, root = options.build.resolve(), options.root.resolve()
    rooms = Rooms(root / 'scripts' / 'rooms.txt')
    sources, homeless = read_sources(rooms, root)
    objects = read_objects(build, rooms, root)
    if not objects:
        sys.exit(f'check_rooms: no object files below {build}; build first')

    bad = collections.defaultdict(set)  # (room, room) -> what
    edges = collections.defaultdict(set)
    for user, used, why in [*read_includes(sources, root), *read_symbols(objects)]:
        here, there = rooms.of(user), rooms.of(used)
        if there not in rooms.allowed[here]:
            bad[here, there].add((user, used, why))
        if unit(user) != unit(used):
            edges[unit(user)].add(unit(used))
            edges.setdefault(unit(used), set())

    failed = 0
    for path in homeless:
        print(f'{path}: is in no room of scripts/rooms.txt')
        failed += 1
    for complaint in misplaced(build, rooms, sources, objects):
        print(complaint)
        failed += 1
    arrows = 0
    for (here, there), what in sorted(bad.items()):
        arrows += len(what)
        print(f'{here} -> {there} is not allowed: {len(what)} times')
        if options.arrows or len(bad) <= 3:
            for user, used, why in sorted(what):
                print(f'    {user} -> {used}: {why}')
    failed += len(bad)
    found = circles(edges)
    for circle in found:
        rooms_of = sorted({rooms.of(f + '.c') for f in circle})
        too_large = len(circle) > LARGEST_CIRCLE or len(rooms_of) > 1
        failed += too_large
        if too_large or options.circles:
            print(f'{"a circle" if too_large else "allowed"} of {len(circle)} files in {", ".join(rooms_of)}: '
                  + ' '.join(circle))
    print(f'{len(sources)} files, {len(objects)} objects, {len(rooms.order)} rooms: {arrows} arrows that are not '
          f'allowed, largest circle of {max([len(c) for c in found], default=1)} files')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
