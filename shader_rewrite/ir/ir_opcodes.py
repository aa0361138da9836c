#!/usr/bin/env python3
"""Writes ir_opcodes.c's tables from the SPIR-V grammar: ir_opcodes.py GRAMMAR OUTPUT."""
import json
import sys

# What the grammar does not say: which instructions end a block (specification 2.2.5, Block Termination
# Instruction, and the extensions that add to it).
TERMINATORS = {
    "OpBranch", "OpBranchConditional", "OpSwitch", "OpKill", "OpReturn", "OpReturnValue", "OpUnreachable",
    "OpTerminateInvocation", "OpIgnoreIntersectionKHR", "OpTerminateRayKHR", "OpEmitMeshTasksEXT",
}

# The logical layout of a module (specification 2.4). Types, constants and global variables are by class.
SECTIONS = {
    "OpCapability": "CAPABILITY",
    "OpExtension": "EXTENSION",
    "OpExtInstImport": "IMPORT",
    "OpMemoryModel": "MEMORY_MODEL",
    "OpEntryPoint": "ENTRY_POINT",
    "OpExecutionMode": "EXECUTION_MODE",
    "OpExecutionModeId": "EXECUTION_MODE",
    "OpString": "SOURCE",
    "OpSource": "SOURCE",
    "OpSourceExtension": "SOURCE",
    "OpSourceContinued": "SOURCE",
    "OpName": "NAME",
    "OpMemberName": "NAME",
    "OpModuleProcessed": "PROCESSED",
}
CLASS_SECTIONS = {"Annotation": "ANNOTATION", "Type-Declaration": "GLOBAL", "Constant-Creation": "GLOBAL"}

CLASS_FLAGS = {
    "Type-Declaration": "TYPE",
    "Constant-Creation": "CONSTANT",
    "Annotation": "ANNOTATION",
    "Conversion": "CONVERSION",
    "Arithmetic": "ARITHMETIC",
    "Relational_and_Logical": "RELATIONAL",
    "Bit": "BIT",
    "Composite": "COMPOSITE",
    "Derivative": "DERIVATIVE",
    "Atomic": "ATOMIC",
    "Non-Uniform": "SUBGROUP",
    "Group": "SUBGROUP",  # older ones, and AMD's
}

# Numbers from here on were given to extensions.
FIRST_OF_EXTENSIONS = 4096

# PM_IR_CORE_OPCODES of ir_opcodes.h.
CORE_OPCODES = 512


def image_flags(name, kinds):
    """What an instruction of class Image does."""
    if "IdResult" not in kinds:
        return []
    if "ImageOperands" not in kinds:
        return ["IMAGE_QUERY"] + (["IMPLICIT_LOD"] if name == "OpImageQueryLod" else [])
    flags = ["IMAGE_READ"]
    if "Sample" in name:
        flags.append("IMAGE_SAMPLE")
    if "ImplicitLod" in name:
        flags.append("IMPLICIT_LOD")
    return flags


def flags_of(instruction):
    kinds = [operand["kind"] for operand in instruction.get("operands", [])]
    name, kind = instruction["opname"], instruction["class"]
    flags = []
    if "IdResultType" in kinds:
        flags.append("HAS_TYPE")
    if "IdResult" in kinds:
        flags.append("HAS_RESULT")
    if name in TERMINATORS:
        flags.append("TERMINATOR")
    if kind in CLASS_FLAGS:
        flags.append(CLASS_FLAGS[kind])
    elif name.startswith("OpType"):
        flags.append("TYPE")
    elif kind == "Image":
        flags += image_flags(name, kinds)
    return flags


def section_of(instruction):
    name = instruction["opname"]
    section = SECTIONS.get(name) or CLASS_SECTIONS.get(instruction["class"])
    return section or ("GLOBAL" if name.startswith("OpType") else "NONE")


def flags_text(instruction):
    return " | ".join("PM_IR_OP_" + flag for flag in flags_of(instruction)) or "0"


def row(instruction):
    return '    {%d, PM_IR_SECTION_%s, %s, "%s"},\n' % (
        instruction["opcode"], section_of(instruction), flags_text(instruction), instruction["opname"])


def main():
    with open(sys.argv[1], encoding="utf-8") as grammar:
        instructions = json.load(grammar)["instructions"]
    by_opcode = {}
    for instruction in instructions:  # aliases share an opcode: the first name is the one to show
        by_opcode.setdefault(instruction["opcode"], instruction)
    missing = TERMINATORS - {i["opname"] for i in instructions}
    if missing & {"OpBranch", "OpKill", "OpReturn"}:
        sys.exit("the grammar lacks " + ", ".join(sorted(missing)))
    core = [opcode for opcode in by_opcode if opcode < FIRST_OF_EXTENSIONS]
    if max(core) >= CORE_OPCODES:
        sys.exit("the core has opcode %d: raise PM_IR_CORE_OPCODES" % max(core))
    with open(sys.argv[2], "w", encoding="utf-8") as output:
        output.write("/* By opcode, in order. */\nstatic const struct pm_ir_opcode table[] = {\n")
        output.writelines(row(by_opcode[opcode]) for opcode in sorted(by_opcode))
        output.write("};\n\nconst uint32_t pm_ir_core_flags[PM_IR_CORE_OPCODES] = {\n")
        output.writelines("    [%d] = %s,\n" % (opcode, flags_text(by_opcode[opcode])) for opcode in sorted(core))
        output.write("};\n")


main()
