"""Texts of pages, which are Markdown, as HTML and as plain words."""

from markdown_it import MarkdownIt

from pages.ui.words import unmarked

READER = MarkdownIt("commonmark", {"html": False, "xhtmlOut": False})
READER.enable(["table", "strikethrough"]).disable("image")
for link in ("link_open", "link_close"):  # a link of the app leads nowhere outside it
    READER.add_render_rule(link, lambda *_: "")


def html(text: str) -> str:
    """A sentence of a page as HTML: bold, italics and code.

    >>> html("**a** *b* [c](/d) <e> f* and f*")
    '<strong>a</strong> <em>b</em> c &lt;e&gt; f* and f*'
    """
    return str(READER.renderInline(unmarked(text)))


def paragraphs(text: str) -> str:
    r"""A text of a page as HTML: paragraphs, lists and tables of such sentences.

    >>> paragraphs("a **b** <c>:\n- d\n- e")
    '<p>a <strong>b</strong> &lt;c&gt;:</p>\n<ul>\n<li>d</li>\n<li>e</li>\n</ul>'
    """
    return str(READER.render(unmarked(text))).rstrip()


def plain(text: str) -> str:
    r"""The words of a text of a page: what is read aloud and saved has no marks.

    >>> plain(r"**9 of 10** at `q` = \*1, :green[*fewer*] than [here](/x) & <b>")
    '9 of 10 at q = *1, fewer than here & <b>'
    """
    (inline,) = READER.parseInline(unmarked(text))
    breaks = ("softbreak", "hardbreak")
    return "".join(" " if one.type in breaks else one.content for one in inline.children or ())
