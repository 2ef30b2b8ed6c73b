# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""HTML by sphinx, for the package tern-doc."""

import pathlib
import re

from sphinx.directives.code import LiteralInclude

project = "tern"
author = "The tern authors"
project_copyright = "2026 The tern authors"
release = re.search(
    'PACKAGE_VERSION="(.*)"',
    (pathlib.Path(__file__).parent.parent / "dkms.conf").read_text(encoding="utf-8"),
)[1]
html_show_sourcelink = False


class KernelDoc(LiteralInclude):
    """A header as it is: the kernel's own directive needs the kernel's scripts."""

    option_spec = {**LiteralInclude.option_spec, "identifiers": str}

    def run(self):
        """Its path is from the top of the tree."""
        self.arguments[0] = "/../" + self.arguments[0]
        self.options.pop("identifiers", None)
        self.options.setdefault("language", "c")
        return super().run()


def setup(app):
    """Called by sphinx."""
    app.add_directive("kernel-doc", KernelDoc)
