"""Makes sets.json, the values that TestSetsAgreeWithSciPy compares with.

    pip install scipy statsmodels
    python3 pkg/compare/testdata/sets.py

It is no part of make test: what it makes stays in the repository.
"""

import json
import pathlib

import numpy as np
from scipy import stats
from statsmodels.stats.multitest import multipletests

rng = np.random.default_rng(31)
sizes = [8, 8, 7, 8, 9, 8, 8, 10]
effects = [1, 1, 1.02, 0.94, 1.1, 1.03, 0.99, 1.06]


def values(n, effect, noise):
    return np.round(1000 * effect * np.exp(noise * rng.normal(size=n)), 6).tolist()


sets = [{"throughput": values(n, e, 0.01), "p50": values(n, 1 / e, 0.03)} for n, e in zip(sizes, effects)]


def judged(pairs):
    rows = []
    for i, k in pairs:
        for metric in ("throughput", "p50"):
            p = stats.mannwhitneyu(sets[i][metric], sets[k][metric], method="exact").pvalue
            rows.append({"before": i, "after": k, "metric": metric, "p": float(p)})
    rejected, adjusted, _, _ = multipletests([r["p"] for r in rows], alpha=0.05, method="holm")
    for r, yes, p in zip(rows, rejected, adjusted):
        r["rejected"], r["adjusted"] = bool(yes), float(p)
    return rows


n = len(sets)
result = {
    "sets": sets,
    "first": judged([(0, k) for k in range(1, n)]),
    "pairs": judged([(i, k) for i in range(n) for k in range(i + 1, n)]),
}
pathlib.Path(__file__).with_name("sets.json").write_text(json.dumps(result, indent=1) + "\n")
