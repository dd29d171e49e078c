"""What people bring: training functions to attack, runs of other libraries, cards as files."""
