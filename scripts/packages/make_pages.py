#!/usr/bin/env python3
"""Writes what packages have besides programs: man pages and completions, from what the programs' --help says, and
Debian's changelog, from CHANGELOG.md.

    make_pages.py PIECEMEAL PIECEMEAL-SYNC CHANGELOG.md VERSION PACKAGER OUT

OUT/man1/*.1, with a page for each command and each part of `piecemeal db`, OUT/piecemeal.bash, OUT/_piecemeal,
OUT/piecemeal.fish, OUT/changelog.
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
ITEM = re.compile(r"^  ([a-z][a-z_-]*) +(\S.*)$")
NAMED = re.compile(r"--[a-z][a-z0-9-]*")


def words_of(text):
    """The options of a help, where its lines begin with them: what it says of others' is not meant."""
    lines = re.findall(r"^  (-[^ ]+(?:, -[^ ]+)*,?)", text, re.M)
    return sorted({name for line in lines for name in NAMED.findall(line)} | {"--help"})


def parts_of(text):
    return [match.group(1) for match in map(ITEM.match, text.splitlines()) if match]


def man(name, what, text, version, others, date):
    """A page: the help's usage, its options, and the rest as it is."""
    usage, _, rest = text.partition("\n\n")
    usage = re.sub(r"^usage: ", "", usage)
    rows = [f'.TH "{name.upper()}" "1" "{date}" "Piecemeal {version}" "Piecemeal"', ".SH NAME",
            f"{escape(name)} \\- {escape(what)}", ".SH SYNOPSIS", ".nf", escape(usage), ".fi", ".SH DESCRIPTION"]
    current = False
    for line in rest.splitlines():
        match = OPTION.match(line) or ITEM.match(line)
        if match:
            current = True
            rows += [".TP", f"\\fB{escape(match.group(1))}\\fR", escape(match.group(2) or "")]
        elif current and re.match(r"^ {4,}\S", line):
            rows += [".br"] if re.match(r"^ +[a-z_]+=", line) else []  # what stands in a file, a line each
            rows.append(escape(line.strip()))
        else:
            if current:
                rows.append(".PP")
            current = False
            rows += [".PP"] if not line.strip() else [escape(line)]
    if "Ends with the program's own exit status" not in text:
        rows += [".SH EXIT STATUS", "0, 1 (it failed, and standard error says why), 2 (usage)."]
    rows += [".SH SEE ALSO", ", ".join(f"\\fB{escape(other)}\\fR(1)" for other in others if other != name)]
    return "\n".join(row for row in rows if row != "") + "\n"


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def completions(out, subs):
    """What may follow: commands, then their options; subs: by the words before. Behind "db" its parts are."""
    names = " ".join(key for key in subs if " " not in key)
    parts = " ".join(key.split()[1] for key in subs if " " in key)
    bash = ["# bash completion for piecemeal", "_piecemeal() {",
            "    local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]-} words=",
            "    [ \"$command\" != db ] || [ \"$COMP_CWORD\" -le 2 ] || command=\"db ${COMP_WORDS[2]}\"",
            "    if [ \"$COMP_CWORD\" = 1 ]; then", f"        words='{names} --help --version'", "    else",
            "        case $command in"]
    zsh = ["#compdef piecemeal", "local -a choices", "local command=$words[2]",
           "(( CURRENT <= 3 )) || [[ $command != db ]] || command=\"db $words[3]\"", "if (( CURRENT == 2 )); then",
           f"    choices=({names} --help --version)", "else", "    case $command in"]
    fish = ["# fish completion for piecemeal", f"complete -c piecemeal -n __fish_use_subcommand -a '{names}'",
            f"complete -c piecemeal -n '__fish_seen_subcommand_from db; and not __fish_seen_subcommand_from {parts}' "
            f"-a '{parts}'"]
    for key, words in subs.items():
        bash.append(f"        {key!r}) words='{' '.join(words)}' ;;")
        zsh.append(f"    {key!r}) choices=({' '.join(words)}) ;;")
        seen = "; and ".join(f"__fish_seen_subcommand_from {name}" for name in key.split())
        for word in words:
            if word.startswith("--"):
                fish.append(f"complete -c piecemeal -n '{seen}' -l {word[2:]}")
            elif key != "db":
                fish.append(f"complete -c piecemeal -n '{seen}' -a {word}")
    bash += ["        esac", "    fi", "    # Behind -- and operands there are programs and files.",
             "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")",
             "    [ ${#COMPREPLY[@]} -gt 0 ] || mapfile -t COMPREPLY < <(compgen -f -- \"$word\")", "}",
             "complete -o filenames -F _piecemeal piecemeal", ""]
    zsh += ["    esac", "fi", "compadd -a choices", "_files", ""]
    write(os.path.join(out, "piecemeal.bash"), "\n".join(bash))
    write(os.path.join(out, "_piecemeal"), "\n".join(zsh))
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
    said = {"piecemeal": ("Cooperative PGO for Vulkan", top)}  # of each page: its title, and its help
    subs = {}
    for name, what in re.findall(r"^  ([a-z]+) +(\S.*)$", top, re.M):
        text = help_of(piecemeal, name)
        parts = parts_of(text) if name in ("db", "consent", "shader") else []
        said[f"piecemeal-{name}"] = (what, help_of(sync) if name == "sync" else text)
        subs[name] = parts + words_of(text)
        for part in parts if name == "db" else []:
            text = help_of(piecemeal, name, part)
            said[f"piecemeal-{name}-{part}"] = (re.search(rf"^  {part} +(\S.*)$", said["piecemeal-db"][1], re.M).group(1), text)
            subs[f"{name} {part}"] = words_of(text)
    for page, (what, text) in said.items():
        write(os.path.join(out, f"man1/{page}.1"), man(page, what, text, version, list(said), date))
    completions(out, subs)
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
