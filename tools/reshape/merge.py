#!/usr/bin/env python3
"""merge.py ROOT MAP...: merges the source files below ROOT/lockstep as the maps say (FORMAT.txt beside this), and rewrites the includes and the
CMakeLists.txt that name them. Moves text only: clashing names, READMEs and lists of sources below tests/ are for a person."""
import re, subprocess, sys
from pathlib import Path
ROOT = Path(sys.argv[1]).resolve()
LS = ROOT / "lockstep"
INC = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]\s*(//.*)?$')

def git(*a): return subprocess.run(["git", "-C", str(ROOT), *a], check=True, capture_output=True, text=True).stdout

def read_maps(paths):
    groups = []
    for p in paths:
        for line in Path(p).read_text().splitlines():
            line = line.split("#")[0].strip()
            if not line: continue
            line, _, title = line.partition("|")
            new, olds = line.split(":", 1)
            groups.append((new.strip(), olds.split(), title.strip()))
    return groups

def parse(path):
    """(comment, includes, pre, namespace, body, post)"""
    lines = path.read_text().splitlines()
    i = 0; comment = []
    while i < len(lines) and lines[i].startswith("//"): comment.append(lines[i]); i += 1
    includes = []
    while i < len(lines):
        l = lines[i]
        if not l.strip() or l.strip() == "#pragma once": i += 1; continue
        m = INC.match(l)
        if m: includes.append((m.group(1), m.group(2))); i += 1; continue
        break
    rest = lines[i:]
    ns = None; start = None
    for k, l in enumerate(rest):
        m = re.match(r"^namespace (lockstep::[\w:]+) \{$", l)
        if m: ns, start = m.group(1), k; break
    if ns is None: return comment, includes, rest, None, [], []
    end = None
    for k in range(len(rest) - 1, start, -1):
        if rest[k].strip() == f"}}  // namespace {ns}": end = k; break
    if end is None: raise SystemExit(f"{path}: no end of namespace {ns}")
    return comment, includes, rest[:start], ns, rest[start + 1:end], rest[end + 1:]

def titled(title, files):
    sections = [parse(f) for f in files]
    if not title: return sections
    import textwrap
    comment = ["// " + l for part in title.split("\\n") for l in (textwrap.wrap(part, 105) or [""])]
    return [([c.rstrip() for c in comment], [], [], sections[0][3], [], [])] + sections

def strip_blank(lines):
    a = list(lines)
    while a and not a[0].strip(): a.pop(0)
    while a and not a[-1].strip(): a.pop()
    return a

def emit(sections, own_header, is_header, renamed):
    incs = []
    for comment, includes, pre, ns, body, post in sections:
        for kind, name in includes:
            name = renamed.get(name, name)
            if name == own_header: continue
            if (kind, name) not in incs: incs.append((kind, name))
    out = []
    first = True
    if sections[0][0]: out += sections[0][0]
    if is_header: out += ["#pragma once"]
    out.append("")
    if not is_header and own_header and (LS.parent / own_header).exists(): out += [f'#include "{own_header}"', ""]
    c_sys = sorted(n for k, n in incs if k == "<" and n.endswith(".h") and "/" not in n or k == "<" and n.startswith(("sys/", "netinet/", "arpa/", "linux/")))
    others = sorted(n for k, n in incs if k == "<" and n not in c_sys)
    own = sorted(n for k, n in incs if k == '"')
    for block, fmt in ((c_sys, "#include <{}>"), (others, "#include <{}>"), (own, '#include "{}"')):
        if block: out += [fmt.format(n) for n in block] + [""]
    cur = None
    for idx, (comment, includes, pre, ns, body, post) in enumerate(sections):
        pre, body, post = strip_blank(pre), strip_blank(body), strip_blank(post)
        if not pre and not body and not post: continue
        if pre and cur is not None: out += [f"}}  // namespace {cur}", ""]; cur = None
        if idx and comment and pre: out += comment
        if pre: out += pre + [""]
        if ns != cur:
            if cur is not None: out += [f"}}  // namespace {cur}", ""]
            if ns is not None: out += [f"namespace {ns} {{"]
            cur = ns
        if body:
            if idx and comment and not pre:
                out += [""] if out[-1].strip() else []
                out += comment + [""]
            if ns is not None and out[-1].endswith("{") and not is_header and body[0].startswith("namespace {"): pass
            out += ([""] if out[-1].strip() and not out[-1].endswith("{") else []) + ([""] if out[-1].endswith("{") and not body[0].startswith("namespace {") else []) + body + [""]
        if post:
            if cur is not None: out += [f"}}  // namespace {cur}", ""]; cur = None
            out += post + [""]
    if cur is not None: out += [f"}}  // namespace {cur}"]
    text = "\n".join(out).rstrip() + "\n"
    # anonymous namespaces that follow each other directly
    text = re.sub(r"\n\}  // namespace\n\nnamespace \{\n", "\n", text)
    return re.sub(r"\n{3,}", "\n\n", text)

def main():
    groups = read_maps(sys.argv[2:])
    renamed = {}   # include path -> new
    cc_moves = {}  # old cc (relative to lockstep) -> new cc
    plan = []
    for new, olds, title in groups:
        h, c = [], []
        only = Path(new).suffix in (".cc", ".h")
        base = str(Path(new).with_suffix("")) if only else new
        for o in olds:
            p = Path(o)
            if p.suffix in (".h", ".cc"):
                f = LS / o
                if not f.exists(): raise SystemExit(f"{o} does not exist")
                (h if p.suffix == ".h" and not (only and Path(new).suffix == ".cc") else c).append(f)
            else:
                found = False
                for s, lst in ((".h", h), (".cc", c)):
                    f = LS / (o + s)
                    if f.exists():
                        found = True
                        (c if s == ".h" and only and Path(new).suffix == ".cc" else lst).append(f)
                if not found: raise SystemExit(f"{o}: neither .h nor .cc")
        plan.append((base, h, c, title))
        for f in h: renamed[f"lockstep/{f.relative_to(LS)}"] = f"lockstep/{base}.h"
        for f in c:
            if f.suffix == ".cc": cc_moves[str(f.relative_to(LS))] = f"{base}.cc"
            else: renamed[f"lockstep/{f.relative_to(LS)}"] = None  # folded
    outputs = []
    for base, h, c, title in plan:
        own = f"lockstep/{base}.h"
        if h: outputs.append((LS / f"{base}.h", titled(title, h), own, True))
        if c: outputs.append((LS / f"{base}.cc", titled(title if not h else "", c), own, False))
        base_files = h + c
    olds_all = {f for _, h, c, _ in plan for f in h + c}
    new_files = {p for p, *_ in outputs}
    for p, *_ in outputs:
        if p.exists() and p not in olds_all: raise SystemExit(f"{p} exists and is not merged")
    # write
    texts = []
    for f in olds_all:
        if f not in new_files: f.unlink()
    for p, *_ in outputs: p.parent.mkdir(parents=True, exist_ok=True); p.touch()
    for p, sections, own, is_header in outputs:
        p.write_text(emit(sections, own, is_header, {k: v for k, v in renamed.items() if v}))
    # includes everywhere
    for top in ("lockstep", "tests", "bench"):
        for f in (ROOT / top).rglob("*"):
            if f.suffix not in (".h", ".cc", ".cu", ".cuh") or not f.is_file(): continue
            lines = f.read_text().splitlines(keepends=True)
            seen = set(); out = []; changed = False
            for l in lines:
                m = INC.match(l.rstrip("\n"))
                if m and m.group(1) == '"':
                    name = m.group(2)
                    if name in renamed:
                        changed = True
                        if renamed[name] is None: continue
                        l = l.replace(name, renamed[name]); name = renamed[name]
                        if f"lockstep/{f.relative_to(LS)}" == name if f.is_relative_to(LS) else False: continue
                    if name in seen: changed = True; continue
                    seen.add(name)
                out.append(l)
            if changed: f.write_text("".join(out))
    # build lists
    for lists in LS.rglob("CMakeLists.txt"):
        d = lists.parent.relative_to(LS)
        text = lists.read_text()
        def tok(m):
            word = m.group(0)
            key = str((d / word)) if str(d) != "." else word
            if key in cc_moves:
                new = Path(cc_moves[key])
                try: return str(new.relative_to(d))
                except ValueError: return "${CMAKE_SOURCE_DIR}/lockstep/" + str(new)
            return word
        new = re.sub(r"[\w./]+\.cc\b", tok, text)
        if new != text:
            def dedupe(m):
                seen = set(); res = []
                for part in re.split(r"(\s+)", m.group(0)):
                    core = part.strip("()")
                    if core.endswith(".cc"):
                        if core in seen:
                            if res and not res[-1].strip(): res.pop()
                            if part.endswith(")"): res.append(")")
                            continue
                        seen.add(core)
                    res.append(part)
                return "".join(res)
            new = re.sub(r"\b(?:lockstep_module|add_library|lockstep_backend_plugin|set_source_files_properties|lockstep_compile_alone|set|target_sources|list|add_executable)\([^()]*(?:\$<[^()]*>[^()]*)*\)", dedupe, new)
            lists.write_text(new)
    print(f"{len(olds_all)} files became {len(new_files)}")
main()
