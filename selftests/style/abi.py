#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The ABI of this tree as a list, or a comparison of it with the list that is kept.

    abi.py list            print it
    abi.py breaks FILE     print what breaks the promises of FILE
    abi.py lacks FILE      print what FILE does not have
    abi.py add FILE        add that, unless something breaks
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

UAPI = Path("drivers/tern/uapi")
HEADERS = [UAPI / "rdma/tern-abi.h", UAPI / "rdma/tern-nl.h",
           Path("userspace-provider/terndv.h")]
SPEC = Path("Documentation/netlink/tern.yaml")

# these grow: the reader says how much of them it knows, or is told
GROW = re.compile(r"sizeof struct (tern_(uresp_\w+|qp_report|dv_device)"
                  r"|terndv_(device|qp|qp_init)_attr)|value TERN_OPTION_ALL")


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)


def fields(body):
    """Names of the members of a struct, those of anonymous unions, too."""
    body = re.sub(r"\bunion\s*\{|\}\s*;", "", body)
    for member in body.split(";"):
        found = re.search(r"(\w+)\s*((\[[^\]]*\])*)\s*$", member.strip())
        if found and not re.match(r"(reserved|pad)\d*$", found[1]):
            yield found[1], found[2] == "[]"


def structs(text):
    for found in re.finditer(r"\bstruct (\w+)\s*\{((?:[^{}]|\{[^{}]*\})*)\};", text):
        yield found[1], found[2]


def constants(text):
    for body in re.findall(r"\benum\s*\w*\s*\{([^}]*)\}", text):
        for item in body.split(","):
            name = item.split("=")[0].strip()
            # the number of attributes grows
            if name and not re.match(r"__|TERN_(A_\w+|CMD)_MAX$", name):
                yield name
    yield from re.findall(r"^#define\s+(TERN\w+)[ \t]+[\w(~-]", text, flags=re.M)


def strings(text):
    return re.findall(r'^#define\s+(TERN\w+)[ \t]+("[^"]*")', text, flags=re.M)


def statements(text):
    """Statements in C that print the list of one header."""
    for name, body in structs(text):
        yield f'printf("sizeof struct {name} is %zu\\n", sizeof(struct {name}));'
        for field, flexible in fields(body):
            item = f"((struct {name} *)0)->{field}" + ("[0]" if flexible else "")
            yield (f'printf("struct {name}.{field} at %zu size %zu\\n", '
                   f"offsetof(struct {name}, {field}), sizeof({item}));")
    for name in constants(text):
        yield f'printf("value {name} %lld\\n", (long long){name});'
    for name, value in strings(text):
        yield f"puts({chr(34)}value {name} {value[1:-1]}{chr(34)});"


def compiled():
    includes = "".join(f'#include "{h.resolve()}"\n' for h in HEADERS)
    lines = [s for h in HEADERS for s in statements(without_comments(h.read_text()))]
    source = ("#include <stdio.h>\n#include <stddef.h>\n" + includes +
              "int main(void)\n{\n" + "\n".join(lines) + "\nreturn 0;\n}\n")
    with tempfile.TemporaryDirectory() as tmp:
        # terndv.h needs names of libibverbs, and none of its structs
        names = set(re.findall(r"struct (ibv_\w+)", HEADERS[2].read_text()))
        stub = Path(tmp, "infiniband/verbs.h")
        stub.parent.mkdir()
        stub.write_text("".join(f"struct {n};\n" for n in sorted(names)))
        Path(tmp, "abi.c").write_text(source)
        subprocess.run(["gcc", f"-I{tmp}", f"-I{UAPI}", "-o", f"{tmp}/abi", f"{tmp}/abi.c"],
                       check=True)
        return subprocess.run([f"{tmp}/abi"], check=True, capture_output=True,
                              text=True).stdout.splitlines()


def attributes():
    """Types of attributes, of the spec: its indentation is that of one set of tools."""
    section, owner, name = "", "", ""
    for line in SPEC.read_text().splitlines():
        if re.match(r"\S", line):
            section = line
        elif section == "attribute-sets:":
            found = re.match(r"( +)(name|type): (\S+)$", line)
            if not found:
                continue
            if found[2] == "type":
                yield f"type of {owner}.{name} {found[3]}"
            elif len(found[1]) == 4:
                owner = found[3]
            else:
                name = found[3]


def current():
    return compiled() + list(attributes())


def key_of(line):
    """What the line is about, and what it says of it."""
    found = re.match(r"(sizeof struct \w+ is|struct \w+\.\w+ at|value \w+|type of \S+) ?(.*)", line)
    return found[1], found[2]


def breaks(old, new):
    new = dict(map(key_of, new))
    for line in old:
        key, was = key_of(line)
        now = new.get(key)
        if now is None:
            yield f"is gone: {line}"
        elif now != was and not (GROW.match(line) and
                                 int(now) > int(was)):
            yield f"has changed: {line}: now {now}"


def kept(file):
    return [line for line in file.read_text().splitlines() if line and line[0] != "#"]


def main():
    command, new = sys.argv[1], current()
    if command == "list":
        print("\n".join(new))
        return 0
    file = Path(sys.argv[2])
    old = kept(file)
    known = {key_of(line)[0] for line in old}
    fresh = [line for line in new if key_of(line)[0] not in known]
    broken = list(breaks(old, new))
    if command == "add" and not broken and fresh:
        with file.open("a") as out:
            out.write("\n".join(fresh) + "\n")
    printed = fresh if command == "lacks" else broken
    for line in printed:
        print(line)
    return bool(printed)


sys.exit(main())
