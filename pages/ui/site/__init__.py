"""The app without a server: static pages of what ships, for any web host or a folder."""
