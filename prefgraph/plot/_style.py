"""Colours, and labels as text that the installed fonts can show."""

from __future__ import annotations

import textwrap
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from prefgraph._content import Label
from prefgraph.errors import MissingDependency

if TYPE_CHECKING:
    from matplotlib.font_manager import FontProperties

# The palette of Okabe and Ito, told apart by colour-blind readers too; blues that also differ in lightness for layers.
INK = "#333333"
EDGE = "#5b6770"
CYCLE = "#d55e00"
QUIET = "#8a939a"
FAINT = "#d5dade"
FILL = "#e8f0f7"
FILL_CYCLE = "#fdeadb"
BORDER = "#2c5f8a"
PANEL = "#f4f7fa"
LAYER_BEST, LAYER_WORST = (0.03, 0.27, 0.50), (0.90, 0.94, 0.98)

# Where the default font has no glyph for a character, the first of these that is installed and has one is used.
FALLBACK_FONTS = (
    "Noto Sans",
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans SC",
    "Source Han Sans SC",
    "WenQuanYi Zen Hei",
    "Microsoft YaHei",
    "PingFang SC",
    "Hiragino Sans",
    "Malgun Gothic",
    "Noto Sans Arabic",
    "Noto Sans Devanagari",
    "Noto Emoji",
    "Noto Sans Symbols2",
    "Segoe UI Symbol",
    "Arial Unicode MS",
    "Unifont",
)


def check_matplotlib() -> None:
    """Raise `MissingDependency`, with what to install, unless matplotlib can be imported."""
    try:
        import_module("matplotlib")
    except ImportError as error:
        raise MissingDependency(
            'matplotlib is not installed; pictures are drawn with it, install it by pip install "prefgraph-db[plot]"'
        ) from error


@dataclass(frozen=True)
class Writing:
    """How labels are written: the fonts, and the text of each label."""

    families: tuple[str, ...]
    text: Mapping[Label, str]

    def font(self, size: float, style: str = "normal") -> FontProperties:
        """The font at a size in points."""
        from matplotlib.font_manager import FontProperties

        return FontProperties(family=list(self.families), size=size, style=style)  # type: ignore[arg-type]

    def width(self, text: str, size: float) -> float:
        """The width of a text in points, its longest line."""
        from matplotlib.textpath import text_to_path

        font = self.font(size)
        widths = [text_to_path.get_text_width_height_descent(line, font, ismath=False)[0] for line in text.split("\n")]
        return float(max(widths))


def writing(
    labels: Iterable[Label], *, columns: int = 16, lines: int = 3, notes: Mapping[Label, str] | None = None
) -> Writing:
    """Labels as texts of a few short lines.

    Labels that read alike, such as 1 and "1", are written with their quotes. Long ones are wrapped, then cut in the
    middle, since names that share a beginning often differ at the end. A character without a glyph is written as its
    escape. ``notes`` are texts to put behind labels.
    """
    unique = list(dict.fromkeys(labels))
    plain = {v: " ".join(str(v).split()) or repr(v) for v in unique}
    seen = Counter(plain.values())
    plain = {v: (repr(v) if seen[text] > 1 else text) + (notes or {}).get(v, "") for v, text in plain.items()}
    families, shown = _fonts_for({c for text in plain.values() for c in text})
    return Writing(
        families,
        {v: wrapped("".join(shown.get(c, c) for c in text), columns, lines) for v, text in plain.items()},
    )


def wrapped(text: str, columns: int, lines: int) -> str:
    """A text in at most ``lines`` lines of at most ``columns`` characters, shortened in the middle where it must be."""
    rows = textwrap.wrap(text, columns) or [text]
    if len(rows) > lines:
        room = columns * lines - lines - 1  # wrapping at spaces wastes a character a line, about
        while len(rows) > lines:
            head = room * 2 // 3
            short = f"{text[:head].rstrip()}…{text[len(text) - (room - head) :].lstrip()}"
            rows = textwrap.wrap(short, columns)
            room -= 1
    return "\n".join(rows)


def _fonts_for(characters: set[str]) -> tuple[tuple[str, ...], dict[str, str]]:
    """Font families that show the characters as far as possible, and substitutes for those that none can show."""
    from matplotlib import font_manager

    usual = list(font_manager.FontProperties().get_family())
    missing = {c for c in characters if not c.isascii() or not c.isprintable()}
    missing -= _shown_by(tuple(usual), missing)
    extra: list[str] = []
    if missing:
        installed = {font.name for font in font_manager.fontManager.ttflist}
        for family in FALLBACK_FONTS:
            if family in installed and (found := _shown_by((family,), missing)):
                extra.append(family)
                missing -= found
    return (*usual, *extra), {c: _substitute(c) for c in sorted(missing)}


def _shown_by(families: tuple[str, ...], characters: set[str]) -> set[str]:
    """The characters that one of the families has a glyph for."""
    from matplotlib import font_manager

    if not characters:
        return set()
    paths = {str(font_manager.findfont(font_manager.FontProperties(family=[family]))) for family in families}
    return {c for c in characters if any(ord(c) in _glyphs(path) for path in paths)}


@lru_cache(maxsize=64)
def _glyphs(path: str) -> frozenset[int]:
    """The code points of a font file."""
    from matplotlib import font_manager

    font: Any = font_manager.get_font(path)
    return frozenset(font.get_charmap())


def _substitute(character: str) -> str:
    """What is written for a character without a glyph: its escape, nothing where it has no width anyway."""
    if unicodedata.category(character) in ("Cf", "Mn"):
        return ""
    return character.encode("unicode_escape").decode("ascii")
