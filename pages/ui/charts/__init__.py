"""Pure functions from results to Plotly figures. No Streamlit here."""
