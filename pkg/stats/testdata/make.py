"""Makes exact.json, the values that the tests of this package compare with.

    pip install scipy statsmodels
    python3 pkg/stats/testdata/make.py

It is no part of make test: what it makes stays in the repository.
"""

import itertools
import json
import pathlib

import numpy as np
from scipy import stats
from statsmodels.stats.multitest import multipletests

rng = np.random.default_rng(19)


def sample(n, ties):
    """Values of which many are equal where ties is set."""
    if ties:
        return rng.integers(0, 6, n).astype(float).tolist()
    return np.round(rng.normal(size=n), 6).tolist()


def rank_sum(a, b):
    def u(x, y):
        return stats.mannwhitneyu(x, y, method="asymptotic").statistic

    if len(set(a + b)) == len(a + b):
        return stats.mannwhitneyu(a, b, method="exact").pvalue
    # SciPy has no exact p-value with ties, so all permutations are enumerated.
    return stats.permutation_test((a, b), u, permutation_type="independent", n_resamples=np.inf).pvalue


def signed_rank(d):
    d = [x for x in d if x != 0]
    if not d:
        return 1.0
    ranks = stats.rankdata(np.abs(d))
    observed = sum(r for r, x in zip(ranks, d) if x > 0)
    sums = [sum(r for r, s in zip(ranks, signs) if s) for signs in itertools.product((0, 1), repeat=len(d))]
    low = np.mean([s <= observed + 1e-9 for s in sums])
    high = np.mean([s >= observed - 1e-9 for s in sums])
    p = min(1.0, 2 * min(low, high))
    if len(set(np.abs(d))) == len(d):
        assert np.isclose(p, stats.wilcoxon(d, method="exact").pvalue), d
    return p


def interval(values, cdf, alpha):
    """Cuts k values off at either side, so that at least 1 - alpha is left."""
    k = 0
    while k + 1 <= len(values) // 2 and cdf(k) <= alpha / 2:
        k += 1
    if k == 0:
        return None
    return {"low": values[k - 1], "high": values[-k], "level": 1 - 2 * cdf(k - 1)}


def u_cdf(n, m):
    counts = {}
    for chosen in itertools.combinations(range(1, n + m + 1), n):
        u = sum(chosen) - n * (n + 1) // 2
        counts[u] = counts.get(u, 0) + 1
    total = sum(counts.values())
    return lambda x: sum(c for u, c in counts.items() if u <= x) / total


def w_cdf(n):
    sums = [sum(r for r, s in zip(range(1, n + 1), signs) if s) for signs in itertools.product((0, 1), repeat=n)]
    return lambda x: sum(s <= x for s in sums) / len(sums)


def sides(n, m, ties, alpha):
    a, b = sample(n, ties), sample(m, ties)
    differences = sorted(y - x for x in a for y in b)
    return {"a": a, "b": b, "p": rank_sum(a, b), "alpha": alpha,
            "estimate": float(np.median(differences)), "interval": interval(differences, u_cdf(n, m), alpha)}


def pairs(n, ties, alpha):
    d = [x - 2 for x in sample(n, True)] if ties else sample(n, False)
    walsh = sorted((d[i] + d[j]) / 2 for i in range(n) for j in range(i, n))
    return {"d": d, "p": signed_rank(d), "alpha": alpha,
            "estimate": float(np.median(walsh)), "interval": interval(walsh, w_cdf(n), alpha)}


def holm(n):
    p = np.round(rng.uniform(0, .1, n), 5).tolist()
    rejected, adjusted, _, _ = multipletests(p, .05, "holm")
    return {"p": p, "adjusted": adjusted.tolist(), "rejected": rejected.tolist()}


def median(n):
    values = sorted(sample(n, False))
    k = 0
    while k < n // 2 and stats.binom.cdf(k, n, .5) <= .025:
        k += 1
    return {"values": values, "interval": [values[k - 1], values[n - k]] if k else None}


result = {
    "sides": [sides(n, m, ties, alpha) for n, m in ((2, 3), (3, 3), (4, 4), (4, 7), (5, 5), (6, 6), (8, 5), (7, 7))
              for ties in (False, True) for alpha in (.05, .05 / 3)],
    "pairs": [pairs(n, ties, alpha) for n in (3, 5, 6, 8, 11, 12) for ties in (False, True) for alpha in (.05, .05 / 3)],
    "large": [{"a": a, "b": b, "p": float(stats.mannwhitneyu(a, b, method="exact").pvalue)}
              for a, b in ((sample(20, False), sample(31, False)), (sample(50, False), sample(50, False)))],
    "holm": [holm(n) for n in (1, 2, 3, 3, 3, 6, 6)],
    "median": [median(n) for n in (4, 5, 6, 7, 8, 20)],
}
path = pathlib.Path(__file__).with_name("exact.json")
path.write_text(json.dumps(result, indent=1) + "\n")
