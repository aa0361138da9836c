#!/usr/bin/env python3
"""Pages of the documentation, as they would be shown: each row of a table has as many cells as its head, and what a link
leads to within the repository is there.

    test_pages.py REPOSITORY
"""
import glob
import os
import re
import sys

FENCE = re.compile(r"^ *```")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.M)


def without_code(line):
    return re.sub(r"`[^`]*`", "", line)


def cells(line):
    return len(re.sub(r"\\\|", "", without_code(line)).strip().strip("|").split("|"))


def tables(lines):
    """(number, what is wrong) of rows, from 1 on."""
    columns, code = 0, False
    for number, line in enumerate(lines, 1):
        code ^= bool(FENCE.match(line))
        if code or not line.startswith("|"):
            columns = 0
        elif columns == 0:
            columns = cells(line)
            rule = lines[number] if number < len(lines) else ""
            if not re.fullmatch(r"\|( *:?-+:? *\|)+", rule):
                yield number, "a table's head without a rule behind it"
        elif cells(line) != columns:
            yield number, f"{cells(line)} cells in a table of {columns}"


def anchors(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in HEADING.findall(text)}


def links(root, page, lines):
    code = False
    for number, line in enumerate(lines, 1):
        code ^= bool(FENCE.match(line))
        for target in [] if code else LINK.findall(without_code(line)):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            whole = os.path.join(root, os.path.dirname(page), path) if path else os.path.join(root, page)
            if not os.path.exists(whole):
                yield number, f"{target} is not there"
            elif anchor and whole.endswith(".md") and anchor not in anchors(whole):
                yield number, f"{target}: there is no such heading"


def wrong(root, page, text):
    lines = text.split("\n")
    return list(tables(lines)) + list(links(root, page, lines))


def check_itself(root):
    """What is wrong is seen, and what is right is not taken for that."""
    for text, count in (("| a | b |\n| --- | --- |\n| `x|y` | 2 |\n", 0), ("| a | b |\n| --- | --- |\n| 1 |\n", 1),
                        ("| a | b |\n| 1 | 2 |\n", 1), ("```\n| a |\n```\n", 0), ("[x](nowhere.md)", 1),
                        ("[x](README.md#licence) [y](README.md#nowhere)", 1)):
        assert len(wrong(root, "page.md", text)) == count, text


def main():
    root = sys.argv[1]
    check_itself(root)
    pages = [os.path.relpath(path, root) for pattern in ("*.md", "docs/**/*.md")
             for path in sorted(glob.glob(os.path.join(root, pattern), recursive=True))]
    failures = 0
    for page in pages:
        with open(os.path.join(root, page), encoding="utf-8") as file:
            for number, what in wrong(root, page, file.read()):
                print(f"FAILED: {page}:{number}: {what}")
                failures += 1
    print(f"{len(pages)} pages, {failures} failures")
    sys.exit(failures > 0)


main()
