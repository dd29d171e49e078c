"""An empty slide of PowerPoint in parts, which a page fills with a chart's picture and words."""

import io
import zipfile
from typing import Any

from PIL import Image
from pptx import Presentation
from pptx.util import Inches

from pages.ui.bundle.powerpoint import BLANK, HIGH, LARGE, SMALL, WIDE, text_box

TOP, BELOW = Inches(1.6), Inches(6.8)
"""Where the picture begins, and where the small sentence does."""
LEAST = Inches(0.4)
"""Beside the picture."""
WORDS = ("TITLE", "BELOW", "NOTES")
"""Places of words in the parts."""
SIZES = {"LEFT": 1_111_111, "UPPER": 2_222_222, "ACROSS": 3_333_333, "DOWN": 4_444_444}
"""Places of the picture's position and size, and the numbers that stand for them meanwhile."""
BINARY = ("thumbnail", "printerSettings")
"""What a new file holds besides text and nobody needs."""


def parts() -> dict[str, Any]:
    """The parts by name, and the room of the picture in units of the file."""
    show = Presentation()
    show.slide_width, show.slide_height = WIDE, HIGH
    blank = show.slide_layouts[BLANK]
    for layout in list(show.slide_layouts):
        if layout is not blank:
            show.slide_layouts.remove(layout)
    page = show.slides.add_slide(blank)
    title, below, notes = WORDS
    text_box(page, title, Inches(0.4), Inches(1.1), LARGE)
    text_box(page, below, BELOW, Inches(0.5), SMALL)
    dot = io.BytesIO()
    Image.new("RGBA", (1, 1)).save(dot, "PNG")
    drawn = page.shapes.add_picture(dot, *SIZES.values())
    drawn._element.nvPicPr.cNvPr.set("descr", title)
    page.notes_slide.notes_text_frame.text = notes
    for held in (show.part.package._rels, show.part.rels):
        for key in [key for key, one in held.items() if one.reltype.endswith(BINARY)]:
            held.pop(key)
    room = {"left": LEAST, "top": TOP, "wide": WIDE - 2 * LEAST, "high": BELOW - TOP}
    return {"parts": _texts(show), "room": {name: int(size) for name, size in room.items()}}


def _texts(show: Any) -> dict[str, str]:
    """The file's parts as text; the picture's name stands for its content."""
    content = io.BytesIO()
    show.save(content)
    texts = dict[str, str]()
    with zipfile.ZipFile(content) as archive:
        for name in archive.namelist():
            if name.endswith(".png"):
                texts["PICTURE"] = name
                continue
            text = archive.read(name).decode()
            for place, size in SIZES.items():
                text = text.replace(f'"{size}"', f'"{place}"')
            texts[name] = text
    return texts
