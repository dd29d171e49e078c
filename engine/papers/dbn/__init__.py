"""Private convolutional deep belief networks (Phan et al. 2017): a paper with two studies.

`pcdbn` classifies images of digits, `yesiwell` predicts behaviour in a health social network. What
both need stands here.
"""
