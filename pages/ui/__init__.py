"""Parts that every page is built from: knobs, live runs, guarantee cards, charts."""
