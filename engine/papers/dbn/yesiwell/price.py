r"""What each method releases, how far one record moves it, and how many steps it takes.

No torch here, and no data. Three units of protection, each by adding or removing one:

`window`: one window of one user. It adds one term to each sum. The friends' influence \psi is
taken as given, though it was computed from other windows' labels.

`user`: all W = M - N + 1 windows of one user, and their influence on friends. Of a user's own
terms, each of norm at most c, W go. The user's labels also enter the friends' term
s_w = (\kappa / D) \sum_{v \in F_w} (2\psi(v, w) - 1) of each friend w: one summand of size at
most \kappa / D, for at most D friends with W windows each. With p = (a, s), \|p\| \le 1, a change
of s by \delta moves pp' by at most 2|\delta| and p(y - 1/2) by at most |\delta| / 2, so that
    \Delta(\sum pp') = W (1 + 2\kappa)  and  \Delta(\sum p(y - 1/2)) = W (1 + \kappa) / 2.
D is checked on the public friendships.

`user_and_graph`: the same, and the friendships of the user go too. F_w then loses the same
summand, since the sum is divided by D and not by |F_w|. That no user has more than D friends is
then an assumption, since the friendships are secret. A run that breaks it stops and names the
largest number of friends, which no ε covers.

Moments of patches see a user's own attributes alone: \Delta = W.
"""

from dataclasses import dataclass

from engine.papers.dbn.price import functional, layer_budgets, once, whole
from engine.papers.dbn.yesiwell.spec import YesiwellSpec
from engine.privacy.mechanisms import Gaussian, Laplace
from engine.privacy.releases import Release, exposed


@dataclass(frozen=True)
class Moments:
    """The Gaussian releases of the rigorous networks, in the order in which they are made."""

    first: Gaussian
    second: Gaussian
    matrix: Gaussian
    vector: Gaussian

    @property
    def listed(self) -> tuple[Release, ...]:
        """All before the first step."""
        return once(
            {
                "second moments of the windows' patches": self.first,
                "second moments of the first layer's patches": self.second,
                "Σpp' of the features": self.matrix,
                "Σp(y − ½) of features and labels": self.vector,
            }
        )


@dataclass(frozen=True)
class Codes:
    """The Laplace releases of the rigorous auto-encoder."""

    decoder: Laplace
    output: Laplace

    @property
    def listed(self) -> tuple[Release, ...]:
        """Both before the first step."""
        return once(
            {
                "Σhh' and Σh(x − c)' of the auto-encoder": self.decoder,
                "Σpp' and Σp(y − ½) of the output layer": self.output,
            }
        )


def own_windows(spec: YesiwellSpec) -> int:
    """Windows that go with one record: 1, or all W of a user."""
    return 1 if spec.unit == "window" else spec.windows


def group(spec: YesiwellSpec) -> int:
    """Windows that change with one record where friends' influence has no bound: W (1 + D)."""
    return 1 if spec.unit == "window" else spec.windows * (1 + spec.most_friends)


def printed_layer(spec: YesiwellSpec, bound: float, layers: int) -> Laplace:
    """The text's noise on a layer's coefficients, of which a window moves `bound`."""
    return Laplace(bound * group(spec), layer_budgets(spec.epsilon, spec.layer_share, layers)[0])


def printed_output(spec: YesiwellSpec, features: int) -> Laplace:
    """The functional mechanism's noise on the output layer's quadratic."""
    _, budget = layer_budgets(spec.epsilon, spec.layer_share, 1)
    return Laplace(functional(features) * group(spec), budget)


def matrix_sensitivity(spec: YesiwellSpec) -> float:
    """Of Σpp', in Frobenius norm."""
    spread = 0.0 if spec.unit == "window" else 2.0 * spec.social
    return own_windows(spec) * (1.0 + spread)


def vector_sensitivity(spec: YesiwellSpec) -> float:
    """Of Σp(y − ½), in L2 norm."""
    spread = 0.0 if spec.unit == "window" else spec.social
    return own_windows(spec) * (1.0 + spread) / 2.0


def moments(spec: YesiwellSpec) -> Moments:
    """The releases whose composition costs ε at δ, split in 1/σ²."""
    alone = whole(spec.epsilon, spec.delta)
    low = alone * (2.0 / spec.moment_share) ** 0.5
    rest = alone * (1.0 - spec.moment_share) ** -0.5
    moment = Gaussian(float(own_windows(spec)), low)
    return Moments(
        first=moment,
        second=moment,
        matrix=Gaussian(matrix_sensitivity(spec), rest * spec.matrix_share**-0.5),
        vector=Gaussian(vector_sensitivity(spec), rest * (1.0 - spec.matrix_share) ** -0.5),
    )


def codes(spec: YesiwellSpec) -> Codes:
    r"""The auto-encoder's releases; it sees a user's own windows alone.

    Every vector is scaled to L1 norm at most 1, so the upper triangle of hh' has L1 norm at most
    1 and h(x - c)' has too; p(y - 1/2) has 1/2.
    """
    count = own_windows(spec)
    return Codes(
        Laplace(2.0 * count, spec.epsilon * spec.layer_share),
        Laplace(1.5 * count, spec.epsilon * (1.0 - spec.layer_share)),
    )


def network_releases(spec: YesiwellSpec, n: int) -> tuple[Release, ...]:
    """The moments and the quadratic, whatever the number of epochs; as printed, all."""
    if spec.calibration == "rigorous":
        return moments(spec).listed
    return exposed("Filters follow raw windows; the noise covers some coefficients.")


def code_releases(spec: YesiwellSpec, n: int) -> tuple[Release, ...]:
    """The auto-encoder's moments; as printed, all."""
    if spec.calibration == "rigorous":
        return codes(spec).listed
    return exposed("The code follows raw windows; the noise covers coefficients that depend on it.")


def network_steps(spec: YesiwellSpec, n: int, layers: int = 2) -> int:
    """Steps of pre-training for each layer, then one for each epoch of the output layer.

    In the rigorous calibration the layers are released before the first step.
    """
    if spec.calibration == "rigorous":
        return spec.epochs
    return reference_steps(spec, n, layers)


def reference_steps(spec: YesiwellSpec, n: int, layers: int = 2) -> int:
    """The same for a method without noise, whatever the calibration."""
    return layers * spec.pretraining + spec.epochs
