#!/usr/bin/env python3
"""Writes what packages have besides programs: man pages and completions, from what the programs' --help says, and
Debian's changelog, from CHANGELOG.md.

    make_pages.py PIECEMEAL PIECEMEAL-SYNC CHANGELOG.md VERSION PACKAGER OUT

OUT/man1/*.1, OUT/piecemeal.bash, OUT/_piecemeal, OUT/piecemeal.fish, OUT/changelog.
"""
import datetime
import gzip
import os
import re
import subprocess
import sys
import textwrap


def help_of(program, *words):
    return subprocess.run([program, *words, "--help"], check=True, capture_output=True, text=True).stdout


def escape(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^(?=[.'])", r"\\&", text, flags=re.M)


OPTION = re.compile(r"^  (-[^ ]+(?:, -[^ ]+)*(?: [A-Z][A-Z=…]*)*)(?:  +(.*))?$")
NAMED = re.compile(r"--[a-z][a-z0-9-]*")


def options_of(text):
    """Each option's words, and what is said of it."""
    found = []
    for line in text.splitlines():
        match = OPTION.match(line)
        if match:
            found.append([match.group(1), match.group(2) or ""])
        elif found and re.match(r"^ {4,}\S", line) and found[-1] is not None:
            found[-1][1] = (found[-1][1] + " " + line.strip()).strip()
    return found


def man(name, what, text, version, others, date):
    """A page: the help's usage, its options, and the rest as it is."""
    usage, _, rest = text.partition("\n\n")
    usage = re.sub(r"^usage: ", "", usage)
    rows = [f'.TH "{name.upper()}" "1" "{date}" "Piecemeal {version}" "Piecemeal"', ".SH NAME",
            f"{escape(name)} \\- {escape(what)}", ".SH SYNOPSIS", ".nf", escape(usage), ".fi", ".SH DESCRIPTION"]
    current = False
    for line in rest.splitlines():
        match = OPTION.match(line)
        if match:
            current = True
            rows += [".TP", f"\\fB{escape(match.group(1))}\\fR", escape(match.group(2) or "")]
        elif current and re.match(r"^ {4,}\S", line):
            rows.append(escape(line.strip()))
        else:
            if current:
                rows.append(".PP")
            current = False
            rows += [".PP"] if not line.strip() else [escape(line)]
    rows += [".SH EXIT STATUS", "0, 1 (it failed, and standard error says why), 2 (usage).", ".SH SEE ALSO",
             ", ".join(f"\\fB{escape(other)}\\fR(1)" for other in others if other != name)]
    return "\n".join(row for row in rows if row != "") + "\n"


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def completions(out, commands, subs):
    """What may follow: commands, then their options."""
    names = " ".join(commands)
    bash = ["# bash completion for piecemeal", "_piecemeal() {",
            "    local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]-} words=",
            "    if [ \"$COMP_CWORD\" = 1 ]; then", f"        words='{names} --help --version'", "    else",
            "        case $command in"]
    for command in commands:
        bash.append(f"        {command}) words='{' '.join(subs[command])}' ;;")
    bash += ["        esac", "    fi", "    # Behind -- and operands there are programs and files.",
             "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")",
             "    [ ${#COMPREPLY[@]} -gt 0 ] || mapfile -t COMPREPLY < <(compgen -f -- \"$word\")", "}",
             "complete -o filenames -F _piecemeal piecemeal", ""]
    write(os.path.join(out, "piecemeal.bash"), "\n".join(bash))
    zsh = ["#compdef piecemeal", "local -a choices", "if (( CURRENT == 2 )); then",
           f"    choices=({names} --help --version)", "else", "    case $words[2] in"]
    for command in commands:
        zsh.append(f"    {command}) choices=({' '.join(subs[command])}) ;;")
    zsh += ["    esac", "fi", "compadd -a choices", "_files", ""]
    write(os.path.join(out, "_piecemeal"), "\n".join(zsh))
    fish = ["# fish completion for piecemeal",
            f"complete -c piecemeal -n __fish_use_subcommand -a '{names}'"]
    for command in commands:
        for option in subs[command]:
            if option.startswith("--"):
                fish.append(f"complete -c piecemeal -n '__fish_seen_subcommand_from {command}' -l {option[2:]}")
            else:
                fish.append(f"complete -c piecemeal -n '__fish_seen_subcommand_from {command}' -a {option}")
    write(os.path.join(out, "piecemeal.fish"), "\n".join(fish) + "\n")


def debian_changelog(changelog, maintainer):
    rows = []
    for match in re.finditer(r"^## (\S+) \((\S+)\)\n(.*?)(?=^## |\Z)", changelog, re.M | re.S):
        date = datetime.datetime.fromisoformat(match.group(2)).strftime("%a, %d %b %Y 00:00:00 +0000")
        text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", match.group(3)).strip().split("\n\n")[0]
        rows += [f"piecemeal ({match.group(1)}) unstable; urgency=medium", ""]
        rows += ["  * " + "\n    ".join(textwrap.wrap(text, 74)), "", f" -- {maintainer}  {date}", ""]
    return "\n".join(rows)


def main():
    piecemeal, sync, changelog, version, packager, out = sys.argv[1:]
    with open(changelog, encoding="utf-8") as file:
        changes = file.read()
    date = re.search(r"^## \S+ \((\S+)\)", changes, re.M).group(1)
    top = help_of(piecemeal)
    commands = dict(re.findall(r"^  ([a-z]+) +(\S.*)$", top, re.M))
    pages = ["piecemeal"] + [f"piecemeal-{name}" for name in commands if name != "sync"] + ["piecemeal-sync"]
    write(os.path.join(out, "man1/piecemeal.1"),
          man("piecemeal", "Cooperative PGO for Vulkan", top, version, pages, date))
    subs = {}
    for name, what in commands.items():
        text = help_of(piecemeal, name)
        page = f"piecemeal-{name}"
        if name != "sync":
            write(os.path.join(out, f"man1/{page}.1"), man(page, what, text, version, pages, date))
        words = sorted(set(NAMED.findall(text)) | {"--help"})
        if name == "consent":
            words = ["grant", "revoke", "show", "--help"]
        if name == "db":
            words = re.findall(r"^  ([a-z]+) ", text, re.M) + words
        subs[name] = words
    write(os.path.join(out, "man1/piecemeal-sync.1"),
          man("piecemeal-sync", commands["sync"], help_of(sync), version, pages, date))
    completions(out, list(commands), subs)
    write(os.path.join(out, "changelog"),
          debian_changelog(changes, packager))
    for folder, _, names in os.walk(os.path.join(out, "man1")):
        for name in names:
            if name.endswith(".1"):
                with open(os.path.join(folder, name), "rb") as plain, open(
                        os.path.join(folder, name + ".gz"), "wb") as packed:
                    with gzip.GzipFile("", "wb", 9, packed, mtime=0) as file:
                        file.write(plain.read())
    with open(os.path.join(out, "changelog"), "rb") as plain, open(os.path.join(out, "changelog.gz"), "wb") as packed:
        with gzip.GzipFile("", "wb", 9, packed, mtime=0) as file:
            file.write(plain.read())


main()
