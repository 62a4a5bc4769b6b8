"""Pages on the public headers of zarrcore: those that zarrcore/zarrcore.h includes.

Doxygen finds the declarations; what is said of them are the comments above them in the headers.
"""
import re
import subprocess
import sys
from dataclasses import dataclass
from xml.etree import ElementTree

ENTRY = "zarrcore/zarrcore.h"
SETTINGS = {
    "PROJECT_NAME": "zarrcore", "GENERATE_HTML": "NO", "GENERATE_LATEX": "NO",
    "GENERATE_XML": "YES", "XML_PROGRAMLISTING": "NO", "EXTRACT_ALL": "YES", "QUIET": "YES",
    "MACRO_EXPANSION": "YES", "EXPAND_ONLY_PREDEF": "YES", "PREDEFINED": "ZARRCORE_API=",
    "WARN_AS_ERROR": "FAIL_ON_WARNINGS",
}
# Declarations that say all there is to say.
PLAIN = re.compile(r"^(~|operator)|= (default|delete)$")


def public_headers(root):
    return re.findall(r'^#include "(zarrcore/[^"]+)"', (root / ENTRY).read_text(), re.MULTILINE)


def run_doxygen(root, headers, folder):
    settings = SETTINGS | {"OUTPUT_DIRECTORY": folder, "INPUT": " ".join(headers)}
    folder.mkdir(parents=True, exist_ok=True)
    text = "\n".join(f"{name} = {value}" for name, value in settings.items())
    result = subprocess.run(["doxygen", "-"], input=text, text=True, cwd=root,
                            capture_output=True)
    if result.returncode != 0 or result.stderr:
        sys.exit(f"doxygen:\n{result.stderr}")
    for path in sorted((folder / "xml").glob("*.xml")):
        if path.stem.startswith(("class", "struct", "namespace", "concept")):
            yield ElementTree.parse(path).getroot().find("compounddef")


class Header:
    """The lines of a header, in which comments are found."""

    def __init__(self, root, name):
        self.name = name
        self.lines = (root / name).read_text().splitlines()

    def introduction(self):
        end = next(i for i, line in enumerate(self.lines) if not line.startswith("//"))
        return [line[2:] for line in self.lines[:end]]

    def comment(self, number):
        """Of the declaration in a line: after it, or above it."""
        code, found, behind = self.lines[number - 1].partition(" // ")
        if found and "NOLINT" not in behind:
            return [behind]
        index = number - 2
        while index >= 0 and re.match(r"\s*(template|requires|\[\[)", self.lines[index]):
            index -= 1
        found = []
        while index >= 0 and re.match(r"\s*//", self.lines[index]):
            found.insert(0, self.lines[index].strip()[2:])
            index -= 1
        return found

    def is_in_documented_block(self, number):
        """Whether a comment stands between the line and the empty line above it."""
        while number > 1 and self.lines[number - 1].strip():
            number -= 1
            if self.lines[number - 1].strip().startswith("//"):
                return True
        return False


def markdown(comment):
    """A comment as Markdown: its indented lines are examples, the others are text."""
    blocks, code = [], []
    for line in [*comment, ""]:
        if line.startswith("   "):
            code.append(line[3:])
            continue
        if code:
            blocks.append("```cpp\n" + "\n".join(code) + "\n```")
            blocks.append("")
            code = []
        parts = line.strip().split("`")
        parts[::2] = [re.sub(r"([*_<\[])", r"\\\1", part) for part in parts[::2]]
        blocks.append("`".join(parts))
    return "\n".join(line if line else "\n" for line in blocks).strip()


def text_of(element):
    return "".join(element.itertext()).strip() if element is not None else ""


def template_of(element):
    parameters = [" ".join(filter(None, [text_of(parameter.find("type")),
                                         text_of(parameter.find("declname"))]))
                  for parameter in element.findall("templateparamlist/param")]
    return f"template <{', '.join(parameters)}>\n" if parameters else ""


def signature(member):
    kind, name = member.get("kind"), text_of(member.find("name"))
    if kind == "enum":
        values = ", ".join(text_of(value.find("name")) for value in member.findall("enumvalue"))
        return f"enum class {name} {{ {values} }}"
    if kind == "typedef":
        return f"using {name} = {text_of(member.find('type'))}"
    static = "static " if member.get("static") == "yes" else ""
    virtual = "virtual " if member.get("virt") in ("virtual", "pure-virtual") else ""
    if kind == "variable":
        initial = text_of(member.find("initializer"))
        return f"{static}{text_of(member.find('type'))} {name} {initial}".strip()
    before = " ".join(filter(None, [static + virtual + text_of(member.find("type")), name]))
    arguments = text_of(member.find("argsstring")).replace("=default", " = default").replace(
        "=delete", " = delete").replace("=0", " = 0")
    return template_of(member) + before + arguments


def is_plain(member, owner):
    """Whether a function needs no description: constructors that are given members, and accessors,
    which are defined where they are declared."""
    name, arguments = text_of(member.find("name")), text_of(member.find("argsstring"))
    location = member.find("location")
    is_inline = location.get("bodyfile") == location.get("file")
    return bool(PLAIN.search(name) or PLAIN.search(signature(member)) or name == owner or
                (is_inline and arguments.startswith("()")))


def tidy(declaration):
    """Doxygen's spaces as the headers have them."""
    declaration = re.sub(r"< (?=\S)", "<", declaration)
    declaration = re.sub(r"(?<=\S) >", ">", declaration)
    return re.sub(r" ([&*]+) ?(?=\w)", r"\1 ", declaration)


@dataclass
class Declaration:
    header: Header
    line: int
    kind: str
    name: str
    code: str
    comment: str


def describe(declarations, level):
    """Code with the comment that is about it, maybe of a function right above."""
    blocks, last = [], None
    for one in sorted(declarations, key=lambda one: one.line):
        is_function = one.kind == "function" and one.header.is_in_documented_block(one.line)
        if blocks and not one.comment and (not blocks[-1][2] or is_function):
            blocks[-1][1].append(one.code)
            continue
        is_new = level and one.kind == "function" and one.comment and one.name != last
        blocks.append((f"{level} {one.name}\n\n" if is_new else "", [one.code], one.comment))
        last = one.name
    return "\n".join(f"{heading}```cpp\n" + ";\n".join(code) + f"\n```\n\n{comment}\n"
                     for heading, code, comment in blocks)


class Pages:
    def __init__(self, root, target):
        self.root, self.target = root, target
        self.headers = {name: Header(root, name) for name in public_headers(root)}
        self.sections = {name: [] for name in self.headers}  # (line, text)
        self.undocumented = {}  # by header and name
        self.documented = set()

    def place(self, element):
        location = element.find("location")
        name = location.get("file").removeprefix(f"{self.root}/")
        return self.headers.get(name), int(location.get("line"))

    def add_member(self, member, owner):
        """The header, the line and the text of a declaration, if it is public."""
        header, line = self.place(member)
        if header is None or member.get("prot") != "public" or member.get("kind") == "friend":
            return None
        if text_of(member.find("argsstring")).endswith("override"):
            return None  # the class above says what it does
        comment = header.comment(line)
        key = (header.name, text_of(member.find("qualifiedname")))
        if (member.get("kind") == "function" and not comment and not is_plain(member, owner)
                and not header.is_in_documented_block(line)):
            self.undocumented[key] = f"{header.name}:{line}: {signature(member)}"
        elif comment:
            self.documented.add(key)  # and its overloads
        return Declaration(header, line, member.get("kind"), text_of(member.find("name")),
                           tidy(signature(member)), markdown(comment))

    def add_class(self, compound):
        header, line = self.place(compound)
        if header is None or compound.get("prot", "public") != "public":
            return
        name = text_of(compound.find("compoundname")).removeprefix("zarrcore::")
        if "<" in name:
            return
        bases = ", ".join(f"{base.get('prot')} {text_of(base)}"
                          for base in compound.findall("basecompoundref"))
        declaration = f"{template_of(compound)}{compound.get('kind')} {name}" + (
            f" : {bases}" if bases else "")
        parts = [f"## {name}\n\n```cpp\n{declaration}\n```\n",
                 markdown(header.comment(line)) + "\n"]
        members = [self.add_member(member, name.split("::")[-1])
                   for member in compound.iter("memberdef")]
        parts.append(describe(filter(None, members), "###"))
        self.sections[header.name].append((line, "\n".join(parts)))

    def add_functions(self, namespace):
        """A heading for each name: overloads share it."""
        by_name = {}
        for member in namespace.iter("memberdef"):
            if found := self.add_member(member, ""):
                by_name.setdefault((found.header.name, found.name), []).append(found)
        for (header, name), found in by_name.items():
            line = min(one.line for one in found)
            self.sections[header].append((line, f"## {name}\n\n{describe(found, '')}"))

    def write(self):
        compounds = list(run_doxygen(self.root, self.headers, self.target.parent / "api-xml"))
        for compound in compounds:
            kind, name = compound.get("kind"), text_of(compound.find("compoundname"))
            if kind in ("class", "struct"):
                self.add_class(compound)
            elif kind == "namespace" and name == "zarrcore":
                self.add_functions(compound)
        if missing := self.undocumented.keys() - self.documented:
            sys.exit("\n".join(["public functions without a comment",
                                *sorted(self.undocumented[key] for key in missing)]))
        self.target.mkdir(parents=True)
        by_folder = {}
        for name, header in self.headers.items():
            if not self.sections[name]:
                continue
            folder, _, file = name.removeprefix("zarrcore/").partition("/")
            page = self.target / f"{folder}_{file.removesuffix('.h')}.md"
            body = "\n".join(text for _, text in sorted(self.sections[name]))
            page.write_text(f"# {name}\n\n{markdown(header.introduction())}\n\n{body}")
            by_folder.setdefault(folder, []).append({file: f"{self.target.name}/{page.name}"})
        return [self.write_overview(),
                *({folder: pages} for folder, pages in sorted(by_folder.items()))]

    def write_overview(self):
        page = self.target / "index.md"
        introduction = Header(self.root, ENTRY).introduction()
        page.write_text(f"# C++ API of zarrcore\n\n{markdown(introduction)}\n\n"
                        "The pages of this section describe the headers that it includes.\n")
        return {"Overview": f"{self.target.name}/{page.name}"}


def write_pages(root, target):
    """Writes the pages into a folder, and returns their part of the menu."""
    return Pages(root, target).write()
