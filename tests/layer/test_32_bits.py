#!/usr/bin/env python3
"""Every C file of the layer, and of what it links, is one of 32 bits too: the compiler reads each with -m32 and the
build's own flags, and makes nothing of it. That finds layouts and conversions that only 32 bits break, in seconds and
without anything of 32 bits installed; whether it links and runs the preset release32 says.

  test_32_bits.py BUILD

The headers of the C library are this machine's, which are of both sizes on amd64 but for one, gnu/stubs-32.h. All that
says is which functions do nothing; an empty one takes its place. Ends with 77 where the compiler knows no such programs.
"""
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

# The large rooms that the preset release32 builds the layer of, and of aggregator_client what it links.
ROOMS = ('base', 'profile', 'sampler', 'shader_rewrite', 'aggregator_client/disk', 'layer')

# As CMakeLists.txt has them for 32 bits.
THIRTY_TWO = ['-m32', '-msse2', '-fsyntax-only', '-D_FILE_OFFSET_BITS=64', '-D_TIME_BITS=64', '-Wno-psabi']

FITS = '#include <stdint.h>\n#include <stdlib.h>\n_Static_assert(sizeof(void *) == 4, "");\n'
# What 32 bits alone break: where a member lies, and what a conversion loses. With the build's own warnings.
BREAKS = [
    '#include <stddef.h>\nstruct a { void *b; int c; };\n_Static_assert(offsetof(struct a, c) == 8, "");\n',
    '#include <stddef.h>\nsize_t f(unsigned long long a);\nsize_t f(unsigned long long a) { return a; }\n',
]


def flags_of(command):
    """The compiler with what it is called with, but for what is made and how it is optimized."""
    kept, words = [], iter(shlex.split(command))
    for word in words:
        if word == '-o':
            next(words)
        elif word not in ('-c', '-g') and not word.startswith(('-O', '-flto', '-ffat-lto', '-fsanitize')):
            kept.append(word)
    return kept


def room_of(entry):
    """Where its object lies: also of what is generated."""
    words = shlex.split(entry['command'])
    return words[words.index('-o') + 1]


def headers_of(compiler, scratch):
    """Where it finds what it would look for among the headers of 32 bits."""
    stubs = pathlib.Path(scratch, 'include')
    (stubs / 'gnu').mkdir(parents=True)
    (stubs / 'gnu/stubs-32.h').touch()
    both = subprocess.run([compiler, '-print-multiarch'], capture_output=True, text=True).stdout.strip()
    return ['-idirafter', str(stubs), '-idirafter', f'/usr/include/{both}']


def read(entry, headers, file=None):
    """What the compiler says of a file; '': nothing."""
    command = flags_of(entry['command'])
    if file is not None:
        command[-1] = file
    done = subprocess.run(command + THIRTY_TWO + headers, cwd=entry['directory'], capture_output=True, text=True)
    return '' if done.returncode == 0 else done.stderr or 'failed'


def main():
    build = pathlib.Path(sys.argv[1])
    entries = [entry for entry in json.loads((build / 'compile_commands.json').read_text())
               if entry['file'].endswith('.c') and room_of(entry).startswith(tuple(room + '/' for room in ROOMS))]
    with tempfile.TemporaryDirectory() as scratch:
        headers = headers_of(shlex.split(entries[0]['command'])[0], scratch)
        made = pathlib.Path(scratch, 'made.c')

        def says(text):
            made.write_text(text)
            return read(entries[0], headers, str(made))

        cannot = says(FITS)
        if cannot:
            print(f'skipped: the compiler reads no programs of 32 bits here:\n{cannot}')
            return 77
        for text in BREAKS:
            if not says(text):
                print(f'what 32 bits break is not seen:\n{text}')
                return 1
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            found = list(pool.map(lambda entry: read(entry, headers), entries))
    wrong = [said for said in found if said]
    print(''.join(wrong) + f'{len(entries)} files, {len(wrong)} of them not of 32 bits')
    return 1 if wrong or not entries else 0


if __name__ == '__main__':
    sys.exit(main())
