"""The address bar: it holds every setting, so that a link shows what its sender saw."""

from collections.abc import Mapping, Sequence
from typing import NoReturn
from urllib.parse import urlencode

import streamlit as st
from streamlit.runtime.scriptrunner import RerunData, RerunException, get_script_run_ctx

from datasets import own
from engine.catalog import paper
from engine.core.spec import Value
from engine.runs.job import Job
from pages.ui.kit.offers import MOVED, OFTEN, QUICK, REPEATS, Offer, figure
from pages.ui.words import escaped, short

NOTES = "address.notes"
LESSON, VIEW, PRESENT = "lesson", "view", "present"
TURNED = "turned"
"""Name of the data set that was chosen when the page was last drawn."""
LANG = "lang"
COMMON = (LESSON, VIEW, PRESENT, LANG)
"""Names that every page's address may hold: a lesson, its view, presenter mode, a language."""


def settle(page: str, slug: str, offers: Sequence[Offer], free: Sequence[str] = ()) -> None:
    """Puts right what a hand-typed address got wrong and says what was done.

    Streamlit drops a value that no widget offers without a word; so values are compared
    here, before any widget is made. Values that only differ in writing are rewritten.

    Args:
        page: Path of the page's script.
        slug: Prefix of the page's names in the address.
        offers: What the page's widgets offer.
        free: Further names, without the slug, that are the widgets' own to check.
    """
    asked = {key: st.query_params.get_all(key) for key in st.query_params}
    known = {f"{slug}.{offer.field}": offer for offer in offers}
    kept, notes, gone = dict(asked), [], []
    for key, texts in asked.items():
        if key in known:
            text, note = known[key].read(texts[-1])
            if note and st.session_state.get(key) in known[key].texts:
                continue  # what was offered has gone, and the widget says what stands for it
            if note and key in st.session_state:  # bound: the address follows the widget
                st.session_state[key] = text
                gone.append(_gone(texts[-1], text, note))
                continue
            kept[key] = [text]
        elif key in COMMON or key.removeprefix(f"{slug}.") in free:
            continue
        else:
            del kept[key]
            note = f"Link value ignored: {key}: expected a setting of this page"
        notes += [note] * bool(note)
    if kept != asked:
        st.session_state[NOTES] = notes
        st.switch_page(page, query_params=kept)
    for note in (*st.session_state.pop(NOTES, ()), *gone):
        if note.startswith(MOVED):  # untrue once that slider moves, which draws a part only
            st.toast(escaped(note), icon=":material/link_off:", duration="long")
        else:
            st.warning(escaped(note), icon=":material/link_off:")


def _gone(was: str, text: str, note: str) -> str:
    """What to say of a value that was offered a moment ago: a table that somebody has removed."""
    if own.mine(was.strip().lower().replace(" ", "_")):
        return f"{was} is no longer on this machine: it was removed. {text} is shown instead."
    return note


def value(prefix: str, offer: Offer) -> Value:
    """What the widget of an offer says, or will say once it is drawn."""
    key = f"{prefix}.{offer.field}"
    text = st.session_state.get(key) or st.query_params.get(key, offer.default)
    return offer.value(offer.read(str(text))[0])


def put(prefix: str, offer: Offer, text: str) -> None:
    """Chooses a text for what no widget holds."""
    say(f"{prefix}.{offer.field}", text, offer.default)


def say(key: str, text: str, default: str) -> None:
    """Writes a text that no widget holds: a default is left out, as widgets do."""
    if text != default:
        st.query_params[key] = text
    elif key in st.query_params:
        del st.query_params[key]


def turn(prefix: str, dataset: str, before: Mapping[str, Offer], now: Mapping[str, Offer]) -> None:
    """Moves knobs that stand at one data set's default to another's, once that is chosen.

    Args:
        prefix: What the names of the page's widgets begin with.
        dataset: The data set that is chosen.
        before: Offers of the knobs on the data set that was chosen last.
        now: The same on this one.
    """
    st.session_state[f"{prefix}.{TURNED}"] = dataset
    for field, offer in now.items():
        key, old = f"{prefix}.{field}", before[field].default
        if offer.default != old and st.session_state.get(key) == old:
            st.session_state[key] = offer.default


def follow(query: Mapping[str, str | Sequence[str]]) -> NoReturn:
    """Draws the page that is shown for another address, as the browser's Back does.

    Of a widget on the screen, Streamlit takes what it says and not what the address says, and lets
    nobody write its name there: so all names are free until their widgets are drawn again.
    """
    context = get_script_run_ctx()
    assert context is not None
    with context.session_state.query_params() as names:
        for key in {*names, *query}:
            if bound := names.get_binding_for_param(key):
                names.unbind_widget(bound.widget_id)
    st.query_params.from_dict(query)
    raise RerunException(
        RerunData(
            query_string=context.query_string,
            page_script_hash=context.page_script_hash,
            is_history_navigation=True,
            cached_message_hashes=context.cached_message_hashes,
            context_info=context.context_info,
        )
    )


def link(job: Job, *, quick: bool = False) -> str:
    """The address of the page that shows a job, with its method looked at.

    Args:
        job: The job.
        quick: Whether its page repeats the method more often than it says.
    """
    default, entry, count = paper(job.paper).opens(job.dataset), job.entry(), len(job.seeds)
    repeats = count // OFTEN * (count > QUICK) if quick else count
    values = {name: job.values[name] for name in entry.uses} | {
        field: axis[0] for field, axis in job.axes.items() if len(axis) == 1
    }
    texts = {
        f"{job.paper}.{field}": _text(value)
        for field, value in values.items()
        if (value != default.get(field) or field in job.axes)
        and len(job.axes.get(field, (value,))) == 1
    }
    if entry.role != "reference":
        texts[f"{job.paper}.method"] = entry.label
    if repeats in REPEATS and tuple(job.seeds) == tuple(range(count)):
        texts[f"{job.paper}.repeats"] = str(repeats)
    return f"/{job.paper}?{urlencode({f'{job.paper}.dataset': short(job.dataset), **texts})}"


def exhibit(slug: str, title: str) -> str:
    """The address of a paper's table or figure on the page Reproduce."""
    query = {"reproduce.paper": paper(slug).title, f"reproduce.{slug}": title}
    return f"/reproduce?{urlencode(query)}"


def _text(value: Value) -> str:
    return value if isinstance(value, str) else figure(float(value))
