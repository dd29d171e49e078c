"""What the browser shows: one script per page, and the parts they share in `pages.ui`."""
