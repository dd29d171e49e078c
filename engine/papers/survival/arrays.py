"""What runs keep, by name, and what of it is released by private methods. No torch here."""

from engine.core.kept import Kept

ARRAYS = {
    "coefficients": Kept("Spline and covariate coefficients on the model's scale", released=True),
    "centre": Kept("What is taken from each covariate", released=True, public=True),
    "span": Kept("What each covariate is then divided by", released=True, public=True),
    "norm": Kept("What all covariates are then divided by", released=True, public=True),
    "horizon": Kept("The time at which the curves end", released=True, public=True),
    "start": Kept("Coefficients after the first noisy releases", released=True),
    "clip": Kept(
        "Bound on the gradients: from a noisy count, for the oracle from raw records", released=True
    ),
    "noise": Kept("Standard deviation of the noise in each coefficient"),
    "uncertainty": Kept(
        "Covariance of the coefficients' errors, from sampling and from noise", released=True
    ),
    "sampling": Kept(
        "Standard deviation of each coefficient's error from sampling alone", released=True
    ),
    "events_per_noise": Kept(
        "Estimated events, divided by the noise multiplier of the whole run", released=True
    ),
    "tau": Kept("Norm of the gradient where the optimiser stopped"),
    "clipped": Kept("Share of records whose gradient was clipped"),
    "draws": Kept("Draws of the chains: the release is one of them"),
    "r_hat": Kept("How well the chains agree"),
    "ess": Kept("Effective sample size of the draws"),
    "trace": Kept("Error of the draws so far, against the optimum"),
    "epochs": Kept("Epochs after which the error was taken", released=True, public=True),
    "V": Kept("Running mean of squared gradients"),
    "mode": Kept("Mode of the posterior"),
    "laplace": Kept("Standard deviations of the normal approximation"),
    "acceptance": Kept("Share of accepted proposals"),
    "apart": Kept("Estimated distance of the chain from its target"),
    "optimum": Kept("The fit without privacy and regularisation"),
    "errors": Kept("Its standard errors"),
    "cox": Kept("Coefficients of Cox regression"),
    "cox_errors": Kept("Their standard errors"),
    "km_private": Kept("The private Kaplan-Meier curve at the interval ends", released=True),
    "km_low": Kept("Where its 95 % band begins, at the same times", released=True),
    "km_high": Kept("Where that band ends", released=True),
    "log_rank_counts": Kept(
        "Counts with noise by group, outcome (censored, event) and interval", released=True
    ),
    "log_rank": Kept("Log-rank statistic of two groups, in standard errors", released=True),
    "p_value": Kept("Two-sided p-value of the log-rank test", released=True),
    "km_time": Kept("Times of the Kaplan-Meier curve"),
    "km_survival": Kept("The Kaplan-Meier curve of all records"),
    "by_group": Kept("Measure and number of records of each group"),
}
RAW = (
    *("tau", "signal", "clipped"),
    *("aim.*", "proposal.*", "mode", "covariance", "place", "weight", "accepted", "largest"),
    *("total", "mixing.*"),
)
"""How fitting went, and what a sampler knows of its target beside its draws."""
