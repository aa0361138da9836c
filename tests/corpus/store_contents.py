#!/usr/bin/env python3
"""The originals of a shader store: store_contents.py STORE FOLDER. Of each shader KEY.spv, the words that the program
gave, and KEY.json with the stage, the entry point and the specialization constants that its pipeline set. The format is
profile/shader_store.c's."""
import glob
import json
import os
import struct
import subprocess
import sys

MAGIC = b"PMSHDR02"
HEAD = struct.Struct("<7I")
VALUE = struct.Struct("<4I")
STAGES = ["fragment", "compute"]
# shader_rewrite/ir/target.c's
FEATURES = {8: "spirv_1_4", 9: "scalar_block_layout", 10: "relaxed_block_layout", 11: "uniform_buffer_standard_layout",
            12: "workgroup_explicit_layout"}


def shader(data):
    """The original's bytes, and what is known of it."""
    if not data.startswith(MAGIC):
        raise ValueError("not a file of this version of the shader store")
    contents = subprocess.run(["zstd", "-dcq"], input=data[len(MAGIC):], capture_output=True, check=True).stdout
    recipe_bytes, entry_bytes, stage, target, values, original_words, _ = HEAD.unpack_from(contents)
    at = HEAD.size
    recipe = contents[at:at + recipe_bytes].decode()
    at += (recipe_bytes + 3) // 4 * 4
    entry = contents[at:at + entry_bytes].decode()
    at += (entry_bytes + 3) // 4 * 4
    constants = []
    for _ in range(values):
        number, size, low, high = VALUE.unpack_from(contents, at)
        constants.append({"id": number, "bytes": size, "value": high << 32 | low})
        at += VALUE.size
    about = {"stage": STAGES[stage], "entry": entry, "constants": constants, "recipe": recipe,
             "target": {name: bool(target >> bit & 1) for bit, name in FEATURES.items()} | {"vulkan": target & 0xff}}
    return contents[at:at + 4 * original_words], about


def main():
    store, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    kept = 0
    for path in sorted(glob.glob(os.path.join(store, "*.pmshader"))):
        with open(path, "rb") as file:
            words, about = shader(file.read())
        base = os.path.join(folder, os.path.splitext(os.path.basename(path))[0])
        with open(base + ".spv", "wb") as file:
            file.write(words)
        with open(base + ".json", "w", encoding="utf-8") as file:
            json.dump(about, file, indent=1)
        kept += 1
    print(f"{folder}: {kept} shaders")


main()
