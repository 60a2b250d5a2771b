#!/usr/bin/env python3
"""Draws what Dyad answers as a terminal in SVG, on standard output:

    docs/images/terminal.py ./dyad "position startpos moves e2e4 e7e5" explain > docs/images/explain.svg

The first argument is the program, each further one a command of its conversation.
"""

import subprocess
import sys
from html import escape

SIZE, LEADING, MARGIN = 13, 17, 16


def answers(program, commands):
    """All that the program says to these commands."""
    if not commands:
        return []
    return subprocess.run([program, *commands], capture_output=True, text=True, check=True).stdout.splitlines()


def main(program, *commands):
    lines, said = [], 0
    for count, command in enumerate(commands, 1):
        lines.append((command, "#7fd1b9"))
        so_far = answers(program, commands[:count])
        lines += [(line, "#d8dee9") for line in so_far[said:]]
        said = len(so_far)
    width = int(max(len(text) for text, _ in lines) * SIZE * 0.602) + 2 * MARGIN
    height = len(lines) * LEADING + 2 * MARGIN
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">')
    print(f'<rect width="{width}" height="{height}" rx="8" fill="#1f2430"/>')
    print(f'<g font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="{SIZE}" xml:space="preserve">')
    for number, (text, color) in enumerate(lines):
        y = MARGIN + (number + 1) * LEADING - 5
        print(f'<text x="{MARGIN}" y="{y}" fill="{color}">{escape(text)}</text>')
    print("</g>\n</svg>")


main(*sys.argv[1:])
