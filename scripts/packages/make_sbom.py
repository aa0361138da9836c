#!/usr/bin/env python3
"""Writes an SPDX 2.3 bill of what is in the layer and the programs (JSON): what is linked into them statically, with the
version that was.

    make_sbom.py VERSION DATE OUT.json
"""
import json
import re
import subprocess
import sys
import uuid

# What a static library of Debian's is of: package, name, licence.
DEBIAN = [
    ("libprotobuf-c-dev", "protobuf-c", "BSD-2-Clause"),
    ("libzstd-dev", "zstd", "BSD-3-Clause"),
    ("libb2-dev", "libb2", "CC0-1.0"),
    ("libxxhash-dev", "xxHash", "BSD-2-Clause"),
    ("uthash-dev", "uthash", "BSD-1-Clause"),
]


def debian_version(package):
    try:
        found = subprocess.run(["dpkg-query", "-W", "-f", "${source:Version}", package], capture_output=True,
                               text=True, check=False)
    except OSError:  # another system's packages
        return "NOASSERTION"
    return found.stdout.strip() or "NOASSERTION"


def pinned(path, name):
    """The version that a list of ours pins."""
    with open(path, encoding="utf-8") as file:
        match = re.search(r"^[^#\n]*\b" + re.escape(name) + r"\b[^\n0-9]*([0-9][0-9A-Za-z.+~-]*)", file.read(), re.M | re.I)
    return match.group(1) if match else "NOASSERTION"


def package(identifier, name, version, licence):
    return {
        "SPDXID": f"SPDXRef-{identifier}",
        "name": name,
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": licence,
        "licenseDeclared": licence,
        "copyrightText": "NOASSERTION",
    }


def main():
    version, date, out = sys.argv[1:]
    parts = [
        package("spirv-tools", "SPIRV-Tools", pinned("scripts/khronos.txt", "spirv-tools"), "Apache-2.0"),
        package("spirv-headers", "SPIRV-Headers", pinned("scripts/khronos.txt", "spirv-headers"), "MIT"),
        package("vulkan-headers", "Vulkan-Headers", pinned("scripts/khronos.txt", "libvulkan-dev"), "Apache-2.0 OR MIT"),
        package("cjson", "cJSON", pinned("scripts/cjson.txt", "cjson"), "MIT"),
    ]
    parts += [package(name.lower(), name, debian_version(deb), licence) for deb, name, licence in DEBIAN]
    own = package("piecemeal", "piecemeal", version, "Apache-2.0")
    relationships = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
                      "relatedSpdxElement": own["SPDXID"]}]
    relationships += [{"spdxElementId": own["SPDXID"], "relationshipType": "STATIC_LINK",
                       "relatedSpdxElement": part["SPDXID"]} for part in parts]
    with open(out, "w", encoding="utf-8") as file:
        json.dump({
            "spdxVersion": "SPDX-2.3",
            "dataLicense": "CC0-1.0",
            "SPDXID": "SPDXRef-DOCUMENT",
            "name": f"piecemeal-{version}",
            # One for each bill that differs (SPDX 2.3, 6.5), with no place on the net claimed for it.
            "documentNamespace": uuid.uuid5(uuid.NAMESPACE_OID, json.dumps([parts, own, date])).urn,
            "creationInfo": {"created": f"{date}T00:00:00Z", "creators": ["Tool: make_sbom.py"]},
            "packages": [own] + parts,
            "relationships": relationships,
        }, file, indent=2)
        file.write("\n")


main()
