"""Of arrays that a deep copy leaves out: the part of validity.py that compares a copy with its original, and what the
rules (layer/generate/copy_rules.c) are seen to clear."""

import re

# What is there once a copy was compared; each is the name of a structure and a member.
HEADER = """
/* Arrays that the original has and its copy has not. */
struct validity_dropped {
    const char *member;
    bool counted; /* in some copy its count was left, so that whoever goes by it reads from NULL */
};
extern struct validity_dropped validity_dropped[];
extern uint32_t validity_dropped_count;
/* The arrays that a rule of copy_rules.c sets to NULL. */
extern const char *const validity_cleared[];
extern const uint32_t validity_cleared_count;

"""

SOURCE = """enum { MOST_DROPPED = 256 };

struct validity_dropped validity_dropped[MOST_DROPPED];
uint32_t validity_dropped_count;

static void drops(const char *member, bool counted)
{
    uint32_t i = 0;
    while (i < validity_dropped_count && strcmp(validity_dropped[i].member, member) != 0)
        i++;
    if (i == MOST_DROPPED)
        abort();
    if (i == validity_dropped_count)
        validity_dropped[validity_dropped_count++].member = member;
    validity_dropped[i].counted |= counted;
}

static const void *same_in(const void *chain, VkStructureType type)
{
    const VkBaseInStructure *item = chain;
    while (item && item->sType != type)
        item = item->pNext;
    return item;
}

"""


def cleared(rules, structures):
    """Of the text of copy_rules.c: the counted members that are set to NULL, alone or with the structure that they are
    in, as "Structure.member"."""
    def counted(member):
        return member.length[0] and member.length[-1] != "null-terminated"

    found = set()
    for name, body in re.findall(r"^void pm_rule_(\w+)\(.*?\)\n\{\n(.*?)^\}", rules, re.M | re.S):
        members = {m.name: m for m in structures[name].members}
        for member in re.findall(r"->(\w+) = NULL;", body):
            if counted(members[member]):
                found.add("%s.%s" % (name, member))
        for zeroed in re.findall(r"memset\(&info->(\w+), 0,", body):
            whole = next(m.type for m in structures[name].members if m.name == zeroed)
            found.update("%s.%s" % (whole, m.name) for m in structures[whole].members if m.pointers and counted(m))
    return sorted(found)


def functions(writer, structure):
    """lose_X(from, value): one structure; lost_X: with its chain, where it has one."""
    def each(member, count):
        text = "        for (size_t i = 0; i < %s && i < %s; i++)\n" % (
            count, count.replace("value->", "from->"))
        return text + "            lost_%s(&from->%s[i], &value->%s[i]);\n" % (
            writer.inner(member), member.name, member.name)

    text = "static void lose_%s(const %s *from, const %s *value)\n{\n    (void)from, (void)value;\n" % (
        (structure.name,) * 3)
    for m in structure.members:
        if not m.pointers and not m.array and writer.inner(m):
            text += "    lose_%s(&from->%s, &value->%s);\n" % (writer.inner(m), m.name, m.name)
    for m in writer.followed(structure):
        count = writer.count(structure, m) if not writer.is_string(m) else "1"
        if m.length[0] and not writer.is_string(m):
            text += "    if (from->%s && !value->%s)\n        drops(\"%s.%s\", %s != 0);\n" % (
                m.name, m.name, structure.name, m.name, count)
        if writer.inner(m):
            text += "    if (from->%s && value->%s) {\n%s    }\n" % (m.name, m.name, each(m, count))
    text += "}\n\n"
    if structure.name not in writer.headed:
        return text
    text += "static void lost_%s(const %s *from, const %s *value)\n{\n    lose_%s(from, value);\n" % (
        (structure.name,) * 4)
    for s in writer.chained(structure):
        text += ("    {\n        const %s *was = same_in(from->pNext, %s), *is = same_in(value->pNext, %s);\n"
                 "        if (was && is)\n            lose_%s(was, is);\n    }\n" % (s.name, s.stype, s.stype, s.name))
    return text + "}\n\n"


def tables(names):
    return ("const char *const validity_cleared[] = {\n%s};\nconst uint32_t validity_cleared_count = %d;\n"
            % ("".join("    \"%s\",\n" % name for name in names), len(names)))
