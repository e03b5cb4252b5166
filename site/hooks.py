"""Hooks for MkDocs: pages from outside of docs/, and links to files that are not pages."""

import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parent.parent

# Pages from the root of the repository, by their names on the site.
PAGES = {"README.md": "about.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}

LINK = re.compile(r"\[([^\]]*)\]\(([^)#:]+)(#[^)]*)?\)")


def on_files(files, config):
    for source, page in PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown, page, config, files):
    """Point links to pages of the site, and replace links to other files of the repository by their paths."""
    where = posixpath.join("docs", page.file.src_uri)
    for source, name in PAGES.items():
        if page.file.src_uri == name:
            where = source

    def replace(match):
        text, target, anchor = match.group(1), match.group(2), match.group(3) or ""
        path = posixpath.normpath(posixpath.join(posixpath.dirname(where), target))
        if not (ROOT / path).exists():
            return match.group(0)  # reported by the validation of links
        if path in PAGES:
            page_path = PAGES[path]
        elif path == "docs" or path == "docs/README.md":
            page_path = "README.md"
        elif path.startswith("docs/") and not path.endswith(".json"):
            page_path = path.removeprefix("docs/")
        else:
            return f"{text} (`{path}`)"
        here = posixpath.dirname(page.file.src_uri)
        return f"[{text}]({posixpath.relpath(page_path, here or '.')}{anchor})"

    return outside_fences(markdown, lambda part: LINK.sub(replace, part))


def outside_fences(markdown, change):
    parts = re.split(r"(^```.*?^```$)", markdown, flags=re.M | re.S)
    return "".join(p if p.startswith("```") else change(p) for p in parts)
