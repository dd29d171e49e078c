"""A slide as a file of PowerPoint: a chart that can be edited there, with its numbers."""

import io
from pathlib import Path
from typing import Any

from engine.core import files
from engine.core.errors import RequestError
from pages.ui import words
from pages.ui.bundle.slide import Line, Slide, ends, made, parsed, rounded

try:
    from lxml import etree
    from pptx import Presentation
    from pptx.chart.data import XyChartData
    from pptx.dml.color import RGBColor
    from pptx.enum.chart import XL_CHART_TYPE, XL_LEGEND_POSITION, XL_MARKER_STYLE, XL_TICK_MARK
    from pptx.enum.dml import MSO_LINE
    from pptx.util import Inches, Pt
except ImportError:
    raise RequestError("slide: expected python-pptx: pip install python-pptx") from None

WIDE, HIGH = Inches(13.333), Inches(7.5)
"""A slide of 16 to 9."""
LARGE, SMALL = Pt(28), Pt(16)
BLANK = 6
"""The layout without places of its own."""
DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"


def write(text: str, path: Path) -> None:
    """Writes the slide of an address.

    Args:
        text: The address, such as "survival?survival.epsilon=1".
        path: The file.

    Raises:
        RequestError: An address that names nothing, a view whose runs are not there, or a file
            that cannot be written.
    """
    slide = made(*parsed(text))
    show = Presentation()
    show.slide_width, show.slide_height = WIDE, HIGH
    page = show.slides.add_slide(show.slide_layouts[BLANK])
    text_box(page, slide.title, Inches(0.4), Inches(1.1), LARGE)
    data = XyChartData()
    scale = 100.0 if slide.share else 1.0
    for line in slide.lines:
        series = data.add_series(line.name)
        for at, height in line.points:
            series.add_data_point(rounded(at), rounded(scale * height))
    frame = page.shapes.add_chart(
        XL_CHART_TYPE.XY_SCATTER_LINES, Inches(0.4), Inches(1.5), WIDE - Inches(0.8),
        HIGH - Inches(2.2), data,
    )  # fmt: skip
    named = words.listed([line.name for line in slide.lines])
    frame.name = f"{slide.axis} against privacy budget: {named}"
    _drawn(frame.chart, slide, scale)
    if slide.below:
        text_box(page, slide.below, HIGH - Inches(0.6), Inches(0.5), SMALL)
    page.notes_slide.notes_text_frame.text = "\n".join(slide.notes)
    content = io.BytesIO()
    show.save(content)
    with files.asked(path):
        files.give(path, content.getvalue())


def text_box(page: Any, text: str, top: Any, high: Any, size: Any) -> None:
    """Writes a text as wide as the slide."""
    box = page.shapes.add_textbox(Inches(0.5), top, WIDE - Inches(1.0), high).text_frame
    box.word_wrap, box.text = True, text
    box.paragraphs[0].font.size = size


def _drawn(chart: Any, slide: Slide, scale: float) -> None:
    """Lines in the colours of the app, both axes with their titles, and the names beside."""
    chart.has_legend, chart.has_title = True, False
    chart.legend.position, chart.legend.include_in_layout = XL_LEGEND_POSITION.RIGHT, False
    chart.legend.font.size = SMALL
    for series, line in zip(chart.plots[0].series, slide.lines, strict=True):
        _line(series, line)
    points = [at for line in slide.lines for at, _ in line.points]
    _axis(chart.category_axis, slide.budget, ends(min(points), max(points)), "General", log=True)
    low, high = (scale * end for end in (ends(*slide.ends) if slide.log else slide.ends))
    form = '0.##"%"' if slide.share else "General"
    _axis(chart.value_axis, slide.axis, (low, high), form, log=slide.log)


def _line(series: Any, line: Line) -> None:
    colour = RGBColor.from_string(line.colour.lstrip("#").upper())
    series.smooth = False
    series.format.line.color.rgb, series.format.line.width = colour, Pt(2.5)
    series.marker.style = XL_MARKER_STYLE.NONE if line.dashed else XL_MARKER_STYLE.CIRCLE
    if line.dashed:
        series.format.line.dash_style = MSO_LINE.ROUND_DOT
        return
    series.marker.size = 7
    series.marker.format.fill.solid()
    series.marker.format.fill.fore_color.rgb = colour
    series.marker.format.line.color.rgb = colour


def _axis(axis: Any, title: str, ends: tuple[float, float], form: str, *, log: bool) -> None:
    axis.has_title, axis.has_major_gridlines = True, True
    axis.axis_title.text_frame.text = title
    axis.axis_title.text_frame.paragraphs[0].font.size = SMALL
    axis.axis_title.text_frame.paragraphs[0].font.bold = False
    axis.tick_labels.font.size = SMALL
    axis.tick_labels.number_format, axis.tick_labels.number_format_is_linked = form, False
    axis.major_tick_mark = XL_TICK_MARK.OUTSIDE
    axis.major_gridlines.format.line.color.rgb = RGBColor(0xDB, 0xE1, 0xE0)
    axis.minimum_scale, axis.maximum_scale = map(rounded, ends)
    if log:  # the library has no word for it
        scaling = axis._element.find(f"{DRAWING}scaling")
        base = etree.SubElement(scaling, f"{DRAWING}logBase")
        base.set("val", "10")
        scaling.insert(0, base)
    for cross in axis._element.findall(f"{DRAWING}crosses"):
        cross.set("val", "min")
