#!/usr/bin/env python3
"""What scripts/check_rooms.py finds in small made-up trees: each kind of fault alone, and none where there is none.

  test_check_rooms.py CHECK_ROOMS.py COMPILER
"""
import json
import pathlib
import subprocess
import sys
import tempfile

ROOMS = """
top:        top/deep low
top/deep:   low
low:
base:
"""

# A tree that is as it should be: a circle of three files is allowed.
SOUND = {
    'top/hall.c': '#include "top/deep/cellar.h"\n#include "base/error.h"\nint hall(void) { return cellar() + error(); }\n',
    'top/deep/cellar.h': '#include "low/ground.h"\nint cellar(void);\n',
    'top/deep/cellar.c': '#include "top/deep/cellar.h"\nint cellar(void) { return ground(); }\n',
    'low/ground.h': 'int ground(void);\n',
    'low/ground.c': '#include "low/ground.h"\nint one(void);\nint ground(void) { return one(); }\n',
    'low/one.c': 'int two(void);\nint one(void) { return two(); }\n',
    'low/two.c': 'int ground(void);\nint two(void) { return ground(); }\n',
    'base/error.h': 'int error(void);\n',
    'base/error.c': '#include "base/error.h"\nint error(void) { return 1; }\n',
}

# name: (files that are other, targets of sources that are other, what is said; None: nothing is wrong)
CASES = {
    'sound': ({}, {}, None),
    'an include upward': (
        {'low/two.c': '#include "top/deep/cellar.h"\nint ground(void);\nint two(void) { return ground(); }\n'}, {},
        'low/two.c -> top/deep/cellar.h: includes it'),
    'a call upward': (
        {'low/two.c': 'int hall(void);\nint two(void) { return hall(); }\n'}, {}, 'low/two.c -> top/hall.c: hall'),
    'an inner room that calls the outer': (
        {'top/deep/cellar.c': 'int hall(void);\nint cellar(void) { return hall(); }\n'}, {},
        'top/deep -> top is not allowed'),
    'an include from base': (
        {'base/error.c': '#include "low/ground.h"\nint error(void) { return 1; }\n'}, {}, 'base -> low is not allowed'),
    'a circle of four': (
        {'low/two.c': 'int three(void);\nint two(void) { return three(); }\n',
         'low/three.c': 'int ground(void);\nint three(void) { return ground(); }\n'}, {},
        'a circle of 4 files in low: low/ground low/one low/three low/two'),
    'a file in no room': ({'scripts/rooms.txt': ROOMS.replace('top:  ', 'top/hall:')},
                          {}, 'top/hall.c: is in no room'),
    'a source in the target of another room': (
        {}, {'low/two.c': ['pm_top']}, 'low/two.c: is compiled in pm_top, which is no target of its room'),
    'a source in no target of its room': ({}, {'low/two.c': ['tests/test_low']},
                                          'low/two.c: is compiled in no target of its room'),
    'what programs are preloaded with': (
        {'low/two.c': 'int later(void);\nint ground(void);\nint two(void) { return ground() + later(); }\n',
         'top/clock.c': 'int later(void) { return 1; }\n'}, {'top/clock.c': ['step_frames']}, None),
    'the same in a library': (
        {'low/two.c': 'int later(void);\nint ground(void);\nint two(void) { return ground() + later(); }\n',
         'top/clock.c': 'int later(void) { return 1; }\n'}, {}, 'low/two.c -> top/clock.c: later'),
    'a source in a test too': ({}, {'low/two.c': ['pm_low', 'tests/test_low']}, None),
}


def make(root, files, targets, compiler):
    build, commands = root / 'build', []
    tree = {'scripts/rooms.txt': ROOMS, **SOUND, **files}
    for path, text in tree.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    for path in (p for p in tree if p.endswith('.c')):
        for target in targets.get(path, ['pm_' + str(pathlib.Path(path).parent).replace('/', '_')]):
            folder, _, name = target.rpartition('/')
            output = build / folder / 'CMakeFiles' / f'{name}.dir' / (path + '.o')
            output.parent.mkdir(parents=True, exist_ok=True)
            command = [compiler, '-I', str(root), '-o', str(output), '-c', str(root / path)]
            subprocess.run(command, check=True)
            commands.append({'directory': str(build), 'file': str(root / path), 'command': ' '.join(command)})
    (build / 'compile_commands.json').write_text(json.dumps(commands))
    (build / 'room_targets.txt').write_text('pm_top top\npm_top_deep top/deep\npm_low low\npm_base base\nstep_frames top\n')
    return build


def main():
    check, compiler = sys.argv[1:]
    failures = 0
    for name, (files, targets, words) in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            build = make(root, files, targets, compiler)
            run = subprocess.run([sys.executable, '-B', check, str(build), '--root', str(root), '--arrows'],
                                 capture_output=True, text=True)
        right = run.returncode == (0 if words is None else 1) and not run.stderr and (words or '') in run.stdout
        failures += not right
        print(f'{"ok" if right else "FAILED"}: {name}')
        if not right:
            print(run.stdout, run.stderr, sep='')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
