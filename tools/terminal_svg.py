#!/usr/bin/env python3
"""Terminal output as an SVG picture for the README.

    script -qc 'stty cols 90; build/graphss demo -o demo' /dev/null | tools/terminal_svg.py '$ build/graphss demo -o demo' > docs/img/demo.svg

Knows the colours and the line-erasing that graphss uses. Braille cells become dots of their
own, since the fonts of many readers lack them or give them another width.
"""
import html, re, sys

W, H, PAD = 8.0, 18.0, 16.0  # one cell, and the margin
COLOUR = {"": "#d8dee9", "1": "#ffffff", "2": "#6b7480", "31": "#e06c75", "32": "#7ec78a", "33": "#e0b05c", "36": "#62c3d6"}
# Bit of each braille dot: left column from the top, then right.
DOTS = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3)]


def cells(line):
    """(character, style) of a line, after carriage returns and erasures."""
    row, at, style = [], 0, ""
    for text, code, final in re.findall(r"([^\x1b])|\x1b\[([0-9;?]*)([A-Za-z])", line):
        if final == "m":
            style = "" if code in ("", "0") else code
        elif final == "K":
            del row[at:]
        elif text == "\r":
            at = 0
        elif text:
            row[at:at + 1] = [(text, style)]
            at += 1
    return row


def draw(y, row):
    """The elements of one line: runs of one style as text, braille as dots."""
    out, i = [], 0
    while i < len(row):
        char, style = row[i]
        colour = COLOUR.get(style, COLOUR[""])
        x = PAD + i * W
        if "\u2800" <= char <= "\u28ff":
            bits = ord(char) - 0x2800
            for bit, (dx, dy) in enumerate(DOTS):
                if bits >> bit & 1:
                    out.append(f'<circle cx="{x + 2 + 4 * dx:g}" cy="{y - 11 + 4.5 * dy:g}" r="1.3" fill="{colour}"/>')
            i += 1
            continue
        j = i
        while j < len(row) and row[j][1] == style and not "\u2800" <= row[j][0] <= "\u28ff":
            j += 1
        text = "".join(c for c, _ in row[i:j])
        bold = ' font-weight="bold"' if style == "1" else ""
        # Words that stand apart are placed each by itself: browsers close up several spaces.
        for part in re.finditer(r"\S+(?: \S+)*", text):
            out.append(f'<text x="{x + part.start() * W:g}" y="{y:g}" fill="{colour}" '
                       f'textLength="{len(part[0]) * W:g}"{bold}>{html.escape(part[0])}</text>')
        i = j
    return out


lines = sys.stdin.read().replace("\r\n", "\n").rstrip("\n").split("\n")
rows = [cells(line) for line in sys.argv[1:] + lines]
width = 2 * PAD + W * max(len(row) for row in rows)
height = 2 * PAD + H * len(rows)
print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}" '
      f'font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace" font-size="13">')
print(f'<rect width="100%" height="100%" rx="8" fill="#1d222a"/>')
for i, row in enumerate(rows):
    print("\n".join(draw(PAD + H * i + 13, row)))
print("</svg>")
