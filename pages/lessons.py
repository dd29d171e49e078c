"""The lessons: to take, to make and to share."""

from pages.ui.kit import shell
from pages.ui.lessons import page as lessons

shell.enter()
lessons.show()
