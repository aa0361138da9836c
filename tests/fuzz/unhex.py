"""Writes the bytes that hexadecimal text files stand for: unhex.py FOLDER FILE.hex..."""
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
for name in map(pathlib.Path, sys.argv[2:]):
    (folder / name.stem).write_bytes(bytes.fromhex(name.read_text()))
