"""The budget ratio: by hand, monotone in relevance, and of more contrast than its rival's."""

import math

import numpy as np
import pytest
from scipy.stats import spearmanr

from engine.papers.enadpp import ratios


def test_the_entropy_of_equal_relevances_is_the_logarithm_of_their_number():
    assert ratios.entropy(np.ones(8)) == pytest.approx(math.log(8))


def test_the_ratio_by_hand():
    """p = 1/2, 1/4, 1/8, 1/8: -p log p = .3466, .3466, .2599, .2599: ratios 1, 1, 0, 0."""
    np.testing.assert_allclose(
        ratios.enadpp(np.array([4.0, 2.0, 1.0, 1.0])), [1, 1, 0, 0], atol=1e-12
    )
    np.testing.assert_allclose(ratios.adppl(np.array([4.0, 2.0, 1.0, 1.0])), [1, 0.5, 0.25, 0.25])


def test_the_entropy_of_the_layer_cancels():
    relevance = np.random.default_rng(0).gamma(2.0, size=(5, 30))
    alone = ratios.surprise(ratios.shares(relevance))
    low, high = alone.min(-1, keepdims=True), alone.max(-1, keepdims=True)
    np.testing.assert_allclose(ratios.enadpp(relevance), (alone - low) / (high - low), atol=1e-9)


def test_both_methods_rank_neurons_alike_while_shares_are_below_one_over_e():
    relevance = np.random.default_rng(1).gamma(2.0, size=40)
    assert ratios.shares(relevance).max() < 1 / math.e
    assert spearmanr(relevance, ratios.enadpp(relevance)).statistic == pytest.approx(1.0)
    assert spearmanr(relevance, ratios.adppl(relevance)).statistic == pytest.approx(1.0)


def test_ratios_are_between_zero_and_one_and_reach_both():
    actual = ratios.enadpp(np.random.default_rng(2).gamma(2.0, size=(4, 20)))
    assert (actual.min(-1) == 0).all()
    assert (actual.max(-1) == 1).all()


def test_no_relevance_or_equal_relevances_give_ones():
    for value in (np.zeros(5), np.ones(5), np.full(5, np.nan)):
        assert ratios.enadpp(value).tolist() == [1.0] * 5
    assert ratios.adppl(np.zeros(5)).tolist() == [1.0] * 5


def test_negative_relevances_count_by_their_size():
    assert (ratios.enadpp(np.array([-3.0, 2.0, 1.0])) == ratios.enadpp(np.array([3.0, 2, 1]))).all()


def test_the_figure_has_three_curves_of_ten():
    curves = ratios.figure(np.arange(1.0, 11.0))
    assert {name: curve.shape for name, curve in curves.items()} == dict.fromkeys(
        ("share", "ADPPL", "EnADPP"), (10,)
    )
