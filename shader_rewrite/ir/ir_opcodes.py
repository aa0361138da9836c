#!/usr/bin/env python3
"""Writes the rows of ir_opcodes.c's table from the SPIR-V grammar: ir_opcodes.py GRAMMAR OUTPUT."""
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


def row(instruction):
    kinds = [operand["kind"] for operand in instruction.get("operands", [])]
    name = instruction["opname"]
    section = SECTIONS.get(name) or CLASS_SECTIONS.get(instruction["class"])
    if not section:
        section = "GLOBAL" if name.startswith("OpType") else "NONE"
    flags = []
    if "IdResultType" in kinds:
        flags.append("PM_IR_OP_HAS_TYPE")
    if "IdResult" in kinds:
        flags.append("PM_IR_OP_HAS_RESULT")
    if name in TERMINATORS:
        flags.append("PM_IR_OP_TERMINATOR")
    if instruction["class"] == "Type-Declaration" or name.startswith("OpType"):
        flags.append("PM_IR_OP_TYPE")
    if instruction["class"] == "Constant-Creation":
        flags.append("PM_IR_OP_CONSTANT")
    if instruction["class"] == "Annotation":
        flags.append("PM_IR_OP_ANNOTATION")
    return '{%d, PM_IR_SECTION_%s, %s, "%s"},' % (
        instruction["opcode"], section, " | ".join(flags) or "0", name)


def main():
    with open(sys.argv[1], encoding="utf-8") as grammar:
        instructions = json.load(grammar)["instructions"]
    by_opcode = {}
    for instruction in instructions:  # aliases share an opcode: the first name is the one to show
        by_opcode.setdefault(instruction["opcode"], instruction)
    missing = TERMINATORS - {i["opname"] for i in instructions}
    if missing & {"OpBranch", "OpKill", "OpReturn"}:
        sys.exit("the grammar lacks " + ", ".join(sorted(missing)))
    with open(sys.argv[2], "w", encoding="utf-8") as output:
        for opcode in sorted(by_opcode):
            output.write(row(by_opcode[opcode]) + "\n")


main()
