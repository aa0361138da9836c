#!/usr/bin/env python3
"""How far the pictures of two folders are apart: ends with 0 when no more than one 8-bit value in a thousand differs, by
one unit (HAZARDS 3).

usage: near.py FOLDER FOLDER
"""
import pathlib
import struct
import sys
import zlib


def unfilter(lines, width, count):
    """The bytes of a PNG's picture (PNG specification, section 9)."""
    before = bytearray(width)
    out = bytearray()
    at = 0
    while at < len(lines):
        kind, line = lines[at], bytearray(lines[at + 1:at + 1 + width])
        for i in range(width):
            left = line[i - count] if i >= count else 0
            corner = before[i - count] if i >= count else 0
            guess = left + before[i] - corner
            nearest = min((abs(guess - left), 0, left), (abs(guess - before[i]), 1, before[i]),
                          (abs(guess - corner), 2, corner))[2]
            line[i] = (line[i] + (0, left, before[i], (left + before[i]) // 2, nearest)[kind]) & 255
        out += line
        before = line
        at += 1 + width
    return out


def read(path):
    data = path.read_bytes()
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack_from(">I4s", data, at)
        if kind == b"IHDR":
            width, _, depth, colour = struct.unpack_from(">IIBB", data, at + 8)
        elif kind == b"IDAT":
            packed += data[at + 8:at + 8 + size]
        at += 12 + size
    count = {0: 1, 2: 3, 6: 4}[colour]
    if depth != 8:
        sys.exit(f"{path}: {depth} bits a value")
    return unfilter(zlib.decompress(packed), width * count, count)


def main():
    first, second = (pathlib.Path(folder) for folder in sys.argv[1:3])
    pictures = sorted(path.name for path in first.glob("*.png"))
    if not pictures:
        sys.exit(f"{first}: no pictures")
    for name in pictures:
        one, other = read(first / name), read(second / name)
        differ = [abs(a - b) for a, b in zip(one, other) if a != b]
        print(f"{name}: {len(differ)} of {len(one)} values differ, by {max(differ, default=0)} at most")
        if len(one) != len(other) or max(differ, default=0) > 1 or 1000 * len(differ) > len(one):
            sys.exit(1)


main()
