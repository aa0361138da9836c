#!/usr/bin/env python3
"""Shaders of other people's repositories as SPIR-V: public_modules.py OUT FOLDER…

Of each folder, a checkout: modules as they are, SPIR-V assembly (also in Amber scripts and behind dxil-spirv's reference
shaders), and fragment and compute shaders in GLSL or HLSL, for glslangValidator; also RetroArch's .slang files. Each
module is written once to OUT/FOLDER/NAME.spv, whatever it is called elsewhere; tests/fuzz/try_modules takes them from
there. What does not compile is left out: many are meant not to, or are for OpenGL. Prints a line a folder."""
import hashlib
import os
import re
import struct
import subprocess
import sys

MAGIC = struct.pack("<I", 0x07230203)
SECONDS = 30
STAGES = {"fragment": "frag", "compute": "comp", "frag": "frag", "comp": "comp", "fs": "frag", "cs": "comp"}
STAGE = re.compile(r"\.(frag|comp|fs|cs)(\.|$)")
AMBER = re.compile(r"^SHADER\s+(\S+)\s+\S+\s+(SPIRV-ASM|GLSL)[^\n]*\n(.*?)^END$", re.M | re.S)
ASSEMBLY = re.compile(r"^\s*OpCapability ", re.M)
DISASSEMBLY = re.compile(r"^; SPIR-V$.*?(?=^#endif)", re.M | re.S)
INCLUDE = re.compile(r'^\s*#include\s+"([^"]+)"', re.M)
PRAGMA_STAGE = re.compile(r"^\s*#pragma\s+stage\s+(\w+).*$", re.M)


def run(command, text, path):
    """The module that a compiler makes of a text; None: it does not."""
    try:
        done = subprocess.run(command + ["-o", path], input=text.encode(), capture_output=True, timeout=SECONDS,
                              check=False)
        if done.returncode == 0 and os.path.exists(path):
            with open(path, "rb") as made:
                return made.read()
    except subprocess.TimeoutExpired:
        pass
    finally:
        if os.path.exists(path):
            os.unlink(path)
    return None


def assemble(text, scratch):
    """For the first environment that takes it, as the assembler has no default that takes all."""
    for environment in ("vulkan1.1", "spv1.4", "spv1.6"):
        module = run(["spirv-as", "-", "--target-env", environment], text, scratch)
        if module:
            return module
    return None


def compile_text(text, stage, folder, hlsl, scratch):
    """As Vulkan's GLSL or HLSL, else with what OpenGL's allows."""
    ways = [["-D", "-e", "main"]] if hlsl else [[], ["-R", "--amb", "--aml"]]
    for way in ways:
        command = ["glslangValidator", "-V", "--quiet", "--stdin", "--target-env", "vulkan1.2", "-S", stage,
                   "-I" + folder] + way
        module = run(command, text, scratch)
        if module:
            return module
    return None


def included(text, folder, depth=0):
    """RetroArch resolves includes by itself."""
    def content(match):
        path = os.path.join(folder, match.group(1))
        if depth > 16 or not os.path.exists(path):
            return ""
        with open(path, encoding="utf-8", errors="replace") as file:
            return included(file.read(), os.path.dirname(path), depth + 1)
    return INCLUDE.sub(content, text)


def fragment_of(text):
    """What of RetroArch's file both stages have, and the fragments'."""
    pieces = PRAGMA_STAGE.split(text)
    return pieces[0] + "".join(body for stage, body in zip(pieces[1::2], pieces[2::2]) if stage == "fragment")


def modules_of(path, scratch):
    """All modules that a file has or stands for."""
    with open(path, "rb") as file:
        data = file.read()
    if data.startswith(MAGIC):
        return [data]
    text, folder, name = data.decode("utf-8", "replace"), os.path.dirname(path), os.path.basename(path)
    if name.endswith(".amber"):
        made = [assemble(body, scratch) if kind == "SPIRV-ASM" else
                compile_text(body, STAGES[stage], folder, False, scratch)
                for stage, kind, body in AMBER.findall(text) if stage in STAGES]
    elif DISASSEMBLY.search(text):
        made = [assemble(body, scratch) for body in DISASSEMBLY.findall(text)]
    elif ASSEMBLY.search(text):
        made = [assemble(text, scratch)]
    elif name.endswith(".slang") and PRAGMA_STAGE.search(text):
        made = [compile_text(fragment_of(included(text, folder)), "frag", folder, False, scratch)]
    elif STAGE.search(name) and ("#version" in text or name.endswith(".hlsl")) and not os.path.exists(path + ".spv"):
        stage = STAGES[STAGE.search(name).group(1)]
        made = [compile_text(text, stage, folder, name.endswith(".hlsl"), scratch)]
    else:
        made = []
    return [module for module in made if module]


def gather(folder, out, seen):
    name = os.path.basename(os.path.normpath(folder))
    os.makedirs(os.path.join(out, name), exist_ok=True)
    paths = sorted(path for at, _, files in os.walk(folder) for path in (os.path.join(at, file) for file in files)
                   if os.path.isfile(path))  # links that a checkout may have lead nowhere
    new = found = 0

    for path in paths:
        for module in modules_of(path, os.path.join(out, name, ".tmp")):
            found += 1
            digest = hashlib.sha1(module).hexdigest()
            if digest in seen:
                continue
            seen.add(digest)
            new += 1
            short = re.sub(r"[^\w.-]", "_", os.path.relpath(path, folder))[-120:]
            with open(os.path.join(out, name, f"{short}.{digest[:8]}.spv"), "wb") as file:
                file.write(module)
    print(f"{name}: {len(paths)} files, {found} modules, {new} of them new", flush=True)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__.splitlines()[0])
    seen = set()
    for folder in sys.argv[2:]:
        gather(folder, sys.argv[1], seen)


if __name__ == "__main__":
    main()
