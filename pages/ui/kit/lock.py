"""Settings that a lesson holds fast."""

from collections.abc import Iterable

import streamlit as st

LOCKED = "lock.locked"


def hold(keys: Iterable[str]) -> None:
    """Locks these settings in this session and no others."""
    st.session_state[LOCKED] = tuple(keys)


def locked(key: str) -> bool:
    """Whether a setting cannot be changed now."""
    return key in st.session_state.get(LOCKED, ())
