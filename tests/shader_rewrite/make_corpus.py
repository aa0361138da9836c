#!/usr/bin/env python3
"""Compiles the shaders of a corpus for the tests: make_corpus.py CORPUS_DIR OUTPUT_DIR.

GLSL is compiled for Vulkan 1.0 to 1.3, plain, with debug information (-g), and through spirv-opt -O; where a shader
needs a later Vulkan than one of these it is left out there. All shaders are compiled at once, since a compiler takes a
tenth of a second to begin. Assembly is assembled for the target in its first line
that says "; target: ". Every file is named SHADER.TARGET.VARIANT.spv and accepted by spirv-val for TARGET.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

TARGETS = ["vulkan1.0", "vulkan1.1", "vulkan1.2", "vulkan1.3"]


def run(*command, cwd=None):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, cwd=cwd)


def must(*command):
    result = run(*command)
    if result.returncode:
        sys.exit("%s\n%s" % (" ".join(command), result.stdout))


def validate(path, target):
    must("spirv-val", "--target-env", target, path)


def compile_all(sources, target, variant, output):
    """The names of the sources that can be compiled for the target, and what is said of the others."""
    options = ["-g"] if variant == "g" else []
    with tempfile.TemporaryDirectory() as folder:
        result = run("glslc", "-w", "-c", "--target-env=" + target, *options, *map(os.path.abspath, sources), cwd=folder)
        made = {os.path.basename(source) for source in sources} & {name[:-4] for name in os.listdir(folder)}
        for name in made:
            shutil.move(os.path.join(folder, name + ".spv"),
                        os.path.join(output, "%s.%s.%s.spv" % (name, target, variant)))
    if (result.returncode != 0) != (len(made) < len(sources)):
        sys.exit(result.stdout)
    return made, result.stdout


def compile_glsl(sources, output):
    before = set()
    for target in TARGETS:
        plain, said = compile_all(sources, target, "plain", output)
        if before - plain or (target == TARGETS[-1] and len(plain) < len(sources)):
            sys.exit(said)
        before = plain
        known = [source for source in sources if os.path.basename(source) in plain]
        debug, said = compile_all(known, target, "g", output)
        if debug != plain:
            sys.exit(said)
        for name in sorted(plain):
            base = os.path.join(output, "%s.%s" % (name, target))
            must("spirv-opt", "--target-env=" + target, "-O", base + ".plain.spv", "-o", base + ".O.spv")
            for variant in ("plain", "g", "O"):
                validate("%s.%s.spv" % (base, variant), target)


def assemble(source, output):
    with open(source, encoding="utf-8") as text:
        targets = re.findall(r"^; target: (\S+) (\S+)$", text.read(), re.MULTILINE)
    if not targets:
        sys.exit(source + ": no line '; target: SPV_ENVIRONMENT VULKAN_ENVIRONMENT'")
    for spirv, vulkan in targets:
        path = os.path.join(output, "%s.%s.%s.spv" % (os.path.basename(source), vulkan, spirv))
        must("spirv-as", "--preserve-numeric-ids", "--target-env", spirv, source, "-o", path)
        validate(path, vulkan)


def main():
    corpus, output = sys.argv[1:]
    os.makedirs(output, exist_ok=True)
    for name in os.listdir(output):
        if name.endswith(".spv"):
            os.remove(os.path.join(output, name))
    paths = [os.path.join(corpus, name) for name in sorted(os.listdir(corpus))]
    for path in paths:
        if path.endswith(".spvasm"):
            assemble(path, output)
    compile_glsl([path for path in paths if path.endswith((".comp", ".frag", ".vert"))], output)


main()
