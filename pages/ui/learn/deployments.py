"""Budgets that organisations have published, each with the text that states it."""

from dataclasses import dataclass

UNKNOWN = "unknown"


@dataclass(frozen=True)
class Deployment:
    """One published budget.

    Attributes:
        who: Organisation.
        what: What is published or collected.
        epsilon: The budget as its source states it; `UNKNOWN` where the source gives none.
        protects: The unit of privacy: for whom or what, and for how long.
        source: Where budget and unit are stated, with a link.
    """

    who: str
    what: str
    epsilon: str
    protects: str
    source: str


_REGISTRY = "[Desfontaines, list](https://desfontain.es/blog/real-world-differential-privacy.html)"
_DAY = "one user, for one day"
LIST = (
    Deployment("Apple", "Which emoji are popular", "4", _DAY, _REGISTRY),
    Deployment("Apple", "New words that are typed", "16", _DAY, _REGISTRY),
    Deployment("Apple", "Hints in searches", "8", _DAY, _REGISTRY),
    Deployment("Apple", "Which kinds of health data are used", "2", _DAY, _REGISTRY),
    Deployment("Apple", "Websites that crash or drain the battery", "8", _DAY, _REGISTRY),
    Deployment(
        "Google", "Searches for symptoms, 2020", "1.68", _DAY,
        "[Bavadekar et al. 2020](https://arxiv.org/abs/2009.01265)",
    ),
    Deployment(
        "Google", "Searches about vaccination, 2021", "2.19 (δ = 10⁻⁵)", _DAY,
        "[Bavadekar et al. 2021](https://arxiv.org/abs/2107.01179)",
    ),
    Deployment("Google", "How visits to shops and parks changed, 2020", "2.64", _DAY, _REGISTRY),
    Deployment(
        "Google", "Models that suggest the next word", "0.994 to 13.69 (δ = 10⁻¹⁰)", "one user",
        "[Google Research 2024](https://research.google/blog/"
        "advances-in-private-training-for-production-on-device-language-models/)",
    ),
    Deployment(
        "Israel, Ministry of Health", "Births of 2014", "9.98", "one mother and her newborn",
        "[Hod and Canetti 2024](https://arxiv.org/abs/2405.00267)",
    ),
    Deployment(
        "LinkedIn", "What members respond to, for advertisers", "34.9 (δ = 7 × 10⁻⁹)",
        "one member, for one month", "[Rogers et al. 2020](https://arxiv.org/abs/2002.05839)",
    ),
    Deployment("Meta", "How far people move, 2020", "2", _DAY, _REGISTRY),
    Deployment(
        "Microsoft", "Use of broadband by postcode, 2021", UNKNOWN, "one household",
        "[Pereira et al. 2021](https://arxiv.org/abs/2103.14035)",
    ),
    Deployment(
        "US Census Bureau", "Counts for voting districts, 2020", "17.14 + 2.47 = 19.61",
        "one person (17.14), one housing unit (2.47)",
        "[Press release 2021](https://www.census.gov/newsroom/press-releases/2021/"
        "2020-census-key-parameters.html)",
    ),
    Deployment(
        "Wikimedia", "Views of each page by country", "about 1 (δ = 10⁻⁷)",
        "one device's first 10 pages, for one day",
        "[Read me of the data](https://analytics.wikimedia.org/published/datasets/"
        "country_project_page/00_README.html)",
    ),
)  # fmt: skip
NOTE = (
    "δ is 0 or not stated where none is given. *Unknown*: the source's summary gives no ε, and "
    "public lists give different ones. Apple's phones add the noise before anything is sent. The "
    "method of the census: [Abowd et al. 2022](https://doi.org/10.1162/99608f92.529e3cb9). More "
    "budgets: [a public registry](https://registry.oblivious.com/)."
)
