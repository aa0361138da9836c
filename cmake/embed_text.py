"""Writes a text file as a C string: embed_text.py IN OUT NAME."""
import sys

source, out, name = sys.argv[1:4]
with open(source, encoding="utf-8") as file:
    lines = file.read().splitlines()
with open(out, "w", encoding="utf-8") as file:
    file.write(f"static const char {name}[] =\n")
    for line in lines:
        escaped = line.replace("\\", "\\\\").replace('"', '\\"')
        file.write(f'    "{escaped}\\n"\n')
    file.write("    ;\n")
