#!/usr/bin/env python3
"""Compiles the shaders of a corpus for the tests: make_corpus.py CORPUS_DIR OUTPUT_DIR.

GLSL is compiled for Vulkan 1.0 to 1.3, plain, with debug information (-g), and through spirv-opt -O; where a shader
needs a later Vulkan than one of these it is left out there. Assembly is assembled for the target in its first line
that says "; target: ". Every file is named SHADER.TARGET.VARIANT.spv and accepted by spirv-val for TARGET.
"""
import os
import re
import subprocess
import sys

TARGETS = ["vulkan1.0", "vulkan1.1", "vulkan1.2", "vulkan1.3"]


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


def must(*command):
    result = run(*command)
    if result.returncode:
        sys.exit("%s\n%s" % (" ".join(command), result.stdout))


def validate(path, target):
    must("spirv-val", "--target-env", target, path)


def compile_glsl(source, output):
    name = os.path.basename(source)
    made = 0
    for target in TARGETS:
        base = os.path.join(output, "%s.%s" % (name, target))
        result = run("glslangValidator", "-V", "--target-env", target, source, "-o", base + ".plain.spv")
        if result.returncode:
            if target == TARGETS[-1] or made:
                sys.exit(result.stdout)
            continue
        made += 1
        validate(base + ".plain.spv", target)
        must("glslangValidator", "-V", "-g", "--target-env", target, source, "-o", base + ".g.spv")
        validate(base + ".g.spv", target)
        must("spirv-opt", "--target-env=" + target, "-O", base + ".plain.spv", "-o", base + ".O.spv")
        validate(base + ".O.spv", target)


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
    for name in sorted(os.listdir(corpus)):
        path = os.path.join(corpus, name)
        if name.endswith(".spvasm"):
            assemble(path, output)
        elif name.endswith((".comp", ".frag", ".vert")):
            compile_glsl(path, output)


main()
