#!/usr/bin/env python3
"""Writes the layer's generated sources: generate.py VK_XML OUTPUT_FOLDER.

Only the standard library is used. A file is rewritten only when its text changes, so that nothing is rebuilt for
nothing.
"""

import os
import sys

import content
import deep_copy
import dispatch
import structures
from registry import Registry


def main(arguments):
    if len(arguments) != 3:
        print(__doc__.splitlines()[0], file=sys.stderr)
        return 2
    registry = Registry(arguments[1])
    folder = arguments[2]
    os.makedirs(folder, exist_ok=True)

    def emit(name, text):
        path = os.path.join(folder, name)
        try:
            with open(path, encoding="utf-8") as file:
                if file.read() == text:
                    return
        except FileNotFoundError:
            pass
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    content.write(registry, emit)
    dispatch.write(registry, emit)
    deep_copy.write(registry, emit)
    structures.write(registry, emit)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
