"""Polynomials against numpy's own Chebyshev tools and against numbers computed by hand."""

import numpy as np
import pytest
from numpy.polynomial import Polynomial
from numpy.polynomial import chebyshev as cheb

from engine.core.errors import RequestError, SpecError
from engine.papers.dbn.pcdbn import sensitivity
from engine.training import polynomials

SMOOTH = ("sigmoid", "tanh", "sinusoid", "sinc", "gaussian", "arctan")


@pytest.mark.parametrize("name", SMOOTH)
def test_series_is_that_of_interpolation(name):
    # interpolation at 60 nodes aliases only coefficients beyond 60, below 1e-12 here
    wanted = cheb.chebinterpolate(polynomials.activation(name), 60)[:12]
    np.testing.assert_allclose(polynomials.series(name, 12), wanted, atol=1e-12)


def test_softsign_has_a_kink_and_converges_slowly():
    wanted = cheb.chebinterpolate(polynomials.activation("softsign"), 4000)[:12]
    np.testing.assert_allclose(polynomials.series("softsign", 12), wanted, atol=1e-6)


def test_logistic_coefficients():
    actual = polynomials.series("sigmoid", 8)
    wanted = [0.5, 0.235571, 0, -0.00462009, 0, 1.0984e-4, 0, -2.6457e-6]
    np.testing.assert_allclose(actual, wanted, atol=5e-7)
    powers = polynomials.chebyshev("sigmoid", 3)
    np.testing.assert_allclose(powers, [0.5, 0.2494, 0, -0.0185], atol=1e-4)


@pytest.mark.parametrize(("degree", "error"), [(3, 1.12e-4), (5, 2.7e-6), (7, 6.5e-8)])
def test_chebyshev_errors(degree, error):
    actual = polynomials.chebyshev("sigmoid", degree)
    assert polynomials.error(actual, "sigmoid") == pytest.approx(error, rel=0.05)


@pytest.mark.parametrize("degree", [1, 3, 5, 7])
def test_printed_polynomials_are_steps(degree):
    p = Polynomial(polynomials.printed(degree))
    assert p(-1.0) == pytest.approx(0.0, abs=1e-15)
    assert p(1.0) == pytest.approx(1.0)


def test_printed_polynomial_is_far_from_the_logistic_function():
    assert polynomials.error(polynomials.printed(7), "sigmoid") == pytest.approx(0.322, abs=5e-4)
    assert Polynomial(polynomials.printed(7)).deriv()(0.0) == pytest.approx(35 / 32)
    with pytest.raises(SpecError, match="degree: expected one of 1, 2, 3, 5, 7"):
        polynomials.printed(4)


@pytest.mark.parametrize("name", sorted(polynomials._TAYLOR))
def test_taylor_touches_at_zero(name):
    x = np.array([-0.05, 0.05])
    actual = Polynomial(polynomials.taylor(name))(x)
    np.testing.assert_allclose(actual, polynomials.activation(name)(x), atol=1e-8)


def test_the_line_is_the_best_in_the_mean_square():
    x = np.linspace(-1, 1, 100_001)
    wanted = np.polynomial.polynomial.polyfit(x, polynomials.activation("sigmoid")(x), 1)
    np.testing.assert_allclose(polynomials.line("sigmoid"), wanted, atol=1e-4)


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("degree", [1, 2, 3, 5, 7])
def test_lemma_3_holds(name, degree):
    actual = polynomials.lemma3(name, degree)
    assert actual.lower <= actual.best + 1e-15
    assert actual.best <= actual.measured + 1e-15
    assert actual.measured <= actual.upper + 1e-15


def test_an_unknown_activation_is_named():
    with pytest.raises(RequestError, match="activation: expected one of sigmoid"):
        polynomials.activation("relu")


def test_sensitivities_of_the_paper_and_its_program():
    layer = sensitivity.Layer()
    # 2 * 24^2 * 3.5 * (1 + 25) + 28^2, with 3.5 the sum of |coefficients| of the printed L = 7
    assert sensitivity.lemma2(layer) == pytest.approx(105_616)
    assert sensitivity.equation28(layer) == 2 * 576 * 25 + 576 + 784
    assert sensitivity.groups(layer, 32) == pytest.approx(32 * (105_616 - 784) + 784)
    assert sensitivity.released(layer) == pytest.approx(1957.9, abs=0.1)
    assert sensitivity.softmax(25) == 1812.5
    assert sensitivity.monomials(5, 7) == 18_156_204


def test_larger_filters_and_degrees_raise_lemma_2():
    sizes = [sensitivity.lemma2(sensitivity.Layer(size=s)) for s in (3, 5, 7)]
    degrees = [sensitivity.lemma2(sensitivity.Layer(degree=d)) for d in (1, 3, 7)]
    assert sizes == sorted(sizes)
    assert degrees == sorted(degrees)
