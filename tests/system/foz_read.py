#!/usr/bin/env python3
"""Reads a Fossilize database by what fossilize_db.cpp, fossilize.cpp and README.md of Fossilize say of version 6, and
writes each shader module to FOLDER/HASH.spv, and all other objects to FOLDER/objects.json, by section and hash.
Whatever is not as it is said there ends it with a message: members that its replayer reads whether they are there or
not, and references to what does not stand before.
usage: foz_read.py FILE.foz FOLDER"""
import json
import pathlib
import struct
import sys
import zlib

RAW, DEFLATE, SHADER_MODULE = 1, 2, 4
SECTIONS = {1: ("samplers",), 2: ("setLayouts",), 3: ("pipelineLayouts",), 5: ("renderPasses", "renderPasses2"),
            6: ("graphicsPipelines",), 7: ("computePipelines",)}
PIPELINE = "flags basePipelineHandle basePipelineIndex layout"
STENCIL = "compareOp writeMask reference compareMask passOp failOp depthFailOp"
# What must be there; of a list, of each of its elements.
MEMBERS = {
    "samplers": "flags minFilter magFilter maxAnisotropy compareOp anisotropyEnable mipmapMode addressModeU addressModeV "
                "addressModeW borderColor unnormalizedCoordinates compareEnable mipLodBias minLod maxLod",
    "setLayouts": "flags bindings", "pipelineLayouts": "flags pushConstantRanges setLayouts",
    "renderPasses": "flags subpasses", "renderPasses2": "flags subpasses",
    "computePipelines": PIPELINE + " stage", "graphicsPipelines": PIPELINE + " renderPass subpass",
    "bindings": "binding", "pushConstantRanges": "stageFlags size offset",
    "attributes": "location binding offset format", "stage": "flags stage module name", "stages": "flags stage module name",
    "specializationInfo": "dataSize data mapEntries", "mapEntries": "offset size constantID",
    "subpasses": "flags pipelineBindPoint", "colorAttachments": "attachment layout",
    "dependencies": "dependencyFlags dstAccessMask srcAccessMask dstStageMask srcStageMask dstSubpass srcSubpass",
    "tessellationState": "flags patchControlPoints", "dynamicState": "flags dynamicState",
    "multisampleState": "flags rasterizationSamples sampleShadingEnable minSampleShading alphaToOneEnable "
                        "alphaToCoverageEnable",
    "vertexInputState": "flags attributes bindings", "inputAssemblyState": "flags topology primitiveRestartEnable",
    "rasterizationState": "flags depthBiasConstantFactor depthBiasSlopeFactor depthBiasClamp depthBiasEnable "
                          "depthClampEnable polygonMode rasterizerDiscardEnable frontFace lineWidth cullMode",
    "colorBlendState": "flags logicOp logicOpEnable blendConstants attachments",
    "viewportState": "flags viewportCount scissorCount",
    "depthStencilState": "flags stencilTestEnable maxDepthBounds minDepthBounds depthBoundsTestEnable depthWriteEnable "
                         "depthTestEnable depthCompareOp front back",
    "front": STENCIL, "back": STENCIL, "pNext": "sType",
}
REFERENCES = {"immutableSamplers": 1, "layout": 3, "renderPass": 5, "module": SHADER_MODULE, "libraries": 6}


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


def refer(where, member, value, seen):
    """A reference leads to what stands before; 0 to nothing. A pipeline layout's list of sets is called as the section
    that has them, and the number of an image layout as a pipeline's layout."""
    tag = 2 if member == "setLayouts" and isinstance(value, str) else REFERENCES.get(member)
    if tag is None or not isinstance(value, str):
        return
    check(len(value) == 16 and value == value.lower(), f"{where}: {member} is {value}")
    check(int(value, 16) == 0 or (tag, int(value, 16)) in seen, f"{where}: its {member} {value} does not stand before it")


def look(where, member, value, seen):
    if isinstance(value, list):
        for one in value:
            look(where, member, one, seen)
    elif isinstance(value, dict):
        for needed in MEMBERS.get(member, "").split():
            check(needed in value, f"{where}: there is no {needed} in its {member}")
        for name, inner in value.items():
            look(where, name, inner, seen)
    else:
        check(value is not None, f"{where}: {member} is no number")
        refer(where, member, value, seen)


def entry(tag, name, payload, seen):
    """The section and what is in it."""
    check(tag in SECTIONS, f"an entry of tag {tag}")
    check(b"\0" not in payload, f"{name:016x}: there is something behind its JSON")
    document = json.loads(payload)
    sections = [section for section in document if section != "version"]
    check(document["version"] == 6 and len(sections) == 1 and sections[0] in SECTIONS[tag],
          f"tag {tag}: a document of {set(document)}")
    check(list(document[sections[0]]) == [f"{name:016x}"], f"{name:016x} is called otherwise inside")
    content = document[sections[0]][f"{name:016x}"]
    look(f"{sections[0]} {name:016x}", sections[0], content, seen)
    return sections[0], content


def main():
    folder, seen, objects = pathlib.Path(sys.argv[2]), set(), {}
    for tag, name, payload in entries(pathlib.Path(sys.argv[1]).read_bytes()):
        check((tag, name) not in seen, f"{name:016x} is there twice")
        if tag == SHADER_MODULE:
            (folder / f"{name:016x}.spv").write_bytes(module(name, payload))
        else:
            section, content = entry(tag, name, payload, seen)
            objects.setdefault(section, {})[f"{name:016x}"] = content
        seen.add((tag, name))
    (folder / "objects.json").write_text(json.dumps(objects))
    print(sum(tag == SHADER_MODULE for tag, _ in seen), "modules")
    for section, found in objects.items():
        print(len(found), section)


main()
