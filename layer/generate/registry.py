"""Reads vk.xml: the commands, structures and enumerants that the Vulkan headers know on Linux."""

import re
import xml.etree.ElementTree as ElementTree

# Platforms whose types exist on Linux; the value guards what needs a window system's own header.
PLATFORMS = {
    None: None,
    "xcb": "VK_USE_PLATFORM_XCB_KHR",
    "xlib": "VK_USE_PLATFORM_XLIB_KHR",
    "xlib_xrandr": "VK_USE_PLATFORM_XLIB_XRANDR_EXT",
    "wayland": "VK_USE_PLATFORM_WAYLAND_KHR",
    "provisional": "VK_ENABLE_BETA_EXTENSIONS",
}


def for_vulkan(element):
    """False for what only another API of the registry (Vulkan SC) has."""
    return "vulkan" in (element.get("api") or "vulkan").split(",")


def text_of(element, without=("comment",)):
    """The C text of a member or parameter, without its comment."""
    parts = [element.text or ""]
    for child in element:
        if child.tag not in without:
            parts.append("".join(child.itertext()))
        parts.append(child.tail or "")
    return " ".join("".join(parts).split())


class Parameter:
    """A command's parameter or a structure's member."""

    def __init__(self, element):
        self.type = element.find("type").text
        self.name = element.find("name").text
        self.text = text_of(element)
        before = self.text[:self.text.rindex(self.name)]  # a type's name may have the member's in it
        self.pointers = before.count("*")
        self.const = before.lstrip().startswith("const")
        self.array = re.findall(r"\[(\w+)\]", self.text[len(before) + len(self.name):])
        self.bits = ":" in self.text[len(before) + len(self.name):]
        self.length = (element.get("altlen") or element.get("len") or "").split(",")
        self.optional = (element.get("optional") or "false").split(",")[0] == "true"
        self.unchecked = element.get("noautovalidity") == "true"  # its rules are prose
        self.values = element.get("values")
        self.stype = element.get("selector")


class Command:
    def __init__(self, name, element, alias):
        self.name = name  # vkCmdDraw
        self.alias = alias  # the command it is another name of, or None
        self.returns = element.find("proto/type").text
        self.parameters = [Parameter(p) for p in element.findall("param") if for_vulkan(p)]
        self.guard = None  # macro without which its type is not declared
        self.owners = []  # the versions (VK_VERSION_1_1) and extensions that bring it

    @property
    def member(self):
        return self.name[2:]

    @property
    def level(self):
        """'global', 'instance' (physical devices too) or 'device'."""
        if self.name == "vkGetInstanceProcAddr":
            return "instance"
        first = self.parameters[0].type
        if first in ("VkInstance", "VkPhysicalDevice"):
            return "instance"
        if first in ("VkDevice", "VkQueue", "VkCommandBuffer"):
            return "device"
        return "global"


class Structure:
    def __init__(self, element):
        self.name = element.get("name")
        self.union = element.get("category") == "union"
        self.members = [Parameter(m) for m in element.findall("member") if for_vulkan(m)]
        self.returned_only = element.get("returnedonly") == "true"
        self.extends = [n for n in (element.get("structextends") or "").split(",") if n]
        self.stype = next((m.values for m in self.members if m.name == "sType"), None)
        self.guard = None


class Registry:
    def __init__(self, path):
        root = ElementTree.parse(path).getroot()
        self.version = self._header_version(root)
        self.categories = {}  # type name to category: 'struct', 'handle', 'enum', ...
        self.type_aliases = {}
        self.handles = {}  # name: (VkObjectType's name, dispatchable)
        all_structures = {}
        for element in root.findall("types/type"):
            if not for_vulkan(element):
                continue
            name = element.get("name") or element.findtext("name") or element.findtext("proto/name")
            category = element.get("category")
            self.categories[name] = category
            if element.get("alias"):
                self.type_aliases[name] = element.get("alias")
            elif category in ("struct", "union"):
                all_structures[name] = Structure(element)
            elif category == "handle":
                self.handles[name] = (element.get("objtypeenum"),
                                      element.findtext("type") == "VK_DEFINE_HANDLE")
        all_commands = self._commands(root)
        self.commands = {}
        self.structures = {}
        self.extensions = []  # (name, 'instance' or 'device', platform)
        self._enums = {}  # name of an enumeration: its enumerants, aliases and other platforms' apart
        for block in root.findall("enums"):
            self._add_enumerants(block.get("name"), block)
        for feature in root.findall("feature"):
            if for_vulkan(feature):
                self._require(feature, None, all_commands, all_structures)
        for extension in root.findall("extensions/extension"):
            supported = (extension.get("supported") or "").split(",")
            platform = extension.get("platform")
            if "vulkan" not in supported or platform not in PLATFORMS:
                continue
            self.extensions.append((extension.get("name"), extension.get("type"), platform))
            self._require(extension, PLATFORMS[platform], all_commands, all_structures)
        self.commands = dict(sorted(self.commands.items()))

    @staticmethod
    def _header_version(root):
        for element in root.findall("types/type"):
            if element.findtext("name") == "VK_HEADER_VERSION" and for_vulkan(element):
                return int(re.search(r"VK_HEADER_VERSION\s*(?:</name>)?\s*(\d+)",
                                     "".join(element.itertext())).group(1))
        raise SystemExit("vk.xml: no VK_HEADER_VERSION")

    @staticmethod
    def _commands(root):
        elements, aliases = {}, {}
        for element in root.findall("commands/command"):
            if not for_vulkan(element):
                continue
            if element.get("alias"):
                aliases[element.get("name")] = element.get("alias")
            else:
                elements[element.findtext("proto/name")] = element
        commands = {n: Command(n, e, None) for n, e in elements.items()}
        for name, target in aliases.items():
            while target in aliases:
                target = aliases[target]
            commands[name] = Command(name, elements[target], target)
        return commands

    def _add_enumerants(self, name, parent):
        for element in parent.findall("enum"):
            extended = name or element.get("extends")
            if extended and not element.get("alias") and for_vulkan(element):
                values = self._enums.setdefault(extended, [])
                if element.get("name") not in values:
                    values.append(element.get("name"))

    def enumerants(self, name):
        return self._enums[name]

    def _require(self, owner, guard, commands, structures):
        for require in owner.findall("require"):
            if not for_vulkan(require):
                continue
            if guard is None:
                self._add_enumerants(None, require)
            for element in require.findall("command"):
                name = element.get("name")
                command = commands[name]
                command.owners.append(owner.get("name"))
                if name not in self.commands:
                    command.guard = guard
                    self.commands[name] = command
                elif guard is None:
                    command.guard = None
            # A provisional extension's structures may be declared where the value of their sType is not.
            protected = {e.get("name"): e.get("protect") for e in require.findall("enum")}
            for element in require.findall("type"):
                name = element.get("name")
                structure = structures.get(self.type_aliases.get(name, name))
                if structure is None:
                    continue
                if structure.name not in self.structures:
                    structure.guard = guard or protected.get(structure.stype)
                    self.structures[structure.name] = structure
                elif guard is None:
                    structure.guard = None

    def resolve(self, name):
        """A type's own name: VkFooKHR to the VkFoo that it is another name of."""
        while name in self.type_aliases:
            name = self.type_aliases[name]
        return name
