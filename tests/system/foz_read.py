#!/usr/bin/env python3
"""Reads a Fossilize database by what fossilize_db.cpp and README.md of Fossilize say of version 6, and writes each
shader module to FOLDER/HASH.spv. Whatever is not as it is said there ends it with a message.
usage: foz_read.py FILE.foz FOLDER"""
import json
import pathlib
import struct
import sys
import zlib

RAW, DEFLATE, SHADER_MODULE = 1, 2, 4


def check(condition, what):
    if not condition:
        sys.exit(f"foz_read: {what}")


def entries(data):
    check(data[:12] == b"\x81FOSSILIZEDB" and data[12:15] == b"\0\0\0", "the head is not a Fossilize database's")
    check(data[15] == 6, f"its version is {data[15]}, not 6")
    at = 16
    while at < len(data):
        check(at + 56 <= len(data), "the last entry is cut off")
        tag, name = int(data[at:at + 24], 16), int(data[at + 24:at + 40], 16)
        check(data[at:at + 40] == data[at:at + 40].lower(), "a name is not in lower case")
        stored, flags, crc, size = struct.unpack_from("<4I", data, at + 40)
        payload = data[at + 56:at + 56 + stored]
        check(len(payload) == stored, "the last payload is cut off")
        check(crc and zlib.crc32(payload) == crc, f"{name:016x}: the CRC is wrong")
        check(flags in (RAW, DEFLATE), f"{name:016x}: flags {flags}")
        payload = zlib.decompress(payload) if flags == DEFLATE else payload
        check(len(payload) == size, f"{name:016x}: {len(payload)} bytes, not {size}")
        yield tag, name, payload
        at += 56 + stored


def varints(data, count):
    at = 0
    for _ in range(count):
        word = shift = 0
        while True:
            check(at < len(data) and shift < 35, "the words are cut off")
            word |= (data[at] & 0x7F) << shift
            shift += 7
            at += 1
            if data[at - 1] < 0x80:
                break
        check(word < 1 << 32, "a word is too large")
        yield word
    check(at == len(data), f"{len(data) - at} bytes are behind the words")


def module(name, payload):
    text, _, binary = payload.partition(b"\0")
    document = json.loads(text)
    check(set(document) == {"version", "shaderModules"} and document["version"] == 6, f"a document of {set(document)}")
    check(list(document["shaderModules"]) == [f"{name:016x}"], f"{name:016x} is called otherwise inside")
    info = document["shaderModules"][f"{name:016x}"]
    check(info["flags"] == 0 and info["codeSize"] % 4 == 0, f"{name:016x}: {info}")
    begin = info["varintOffset"]
    check(begin + info["varintSize"] == len(binary), f"{name:016x}: {len(binary)} bytes of words, and {info}")
    words = list(varints(binary[begin:begin + info["varintSize"]], info["codeSize"] // 4))
    value = 0xcbf29ce484222325  # fossilize_hasher.hpp, and the module's flags behind its words
    for word in words + [0]:
        value = (value * 0x100000001b3 & 0xFFFFFFFFFFFFFFFF) ^ word
    check(value == name, f"{name:016x}: its words have the hash {value:016x}")
    return struct.pack(f"<{len(words)}I", *words)


def main():
    folder, seen = pathlib.Path(sys.argv[2]), set()
    for tag, name, payload in entries(pathlib.Path(sys.argv[1]).read_bytes()):
        check(tag == SHADER_MODULE, f"an entry of tag {tag}")
        check(name not in seen, f"{name:016x} is there twice")
        seen.add(name)
        (folder / f"{name:016x}.spv").write_bytes(module(name, payload))
    print(len(seen), "modules")


main()
