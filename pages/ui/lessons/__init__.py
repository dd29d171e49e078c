"""Lessons: lists of views with words, questions and the answers of a class; and presenting them."""
