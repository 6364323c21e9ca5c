"""How Sphinx builds these pages; `make docs` treats every warning as an error."""

import re
from pathlib import Path

_DECLARED = (Path(__file__).parent.parent / "pyproject.toml").read_text("utf-8")

project = "Pullback"
author = "The Pullback authors"
project_copyright = author
release = re.findall(r'^version = "(.+)"', _DECLARED, flags=re.MULTILINE)[0]
version = release

extensions = ["myst_parser"]
exclude_patterns = ["_build"]
nitpicky = True

myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3

html_theme = "alabaster"
html_theme_options = {
    "description": "An array system for Python in which every program transforms.",
    "fixed_sidebar": True,
}
