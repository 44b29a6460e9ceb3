# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 the pvhost contributors
"""Sphinx configuration of the guides."""

import pathlib

project = 'pvhost'
author = 'the pvhost contributors'
copyright = '2026, the pvhost contributors'  # pylint: disable=redefined-builtin
release = (pathlib.Path(__file__).parents[2] / 'VERSION').read_text(encoding='utf-8').strip()
version = release

html_theme = 'alabaster'
html_show_sphinx = False
html_sidebars = {'**': ['about.html', 'navigation.html', 'searchbox.html']}
highlight_language = 'none'
