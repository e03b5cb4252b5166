#!/usr/bin/env python3
"""Makes series.json, against which series statistics are tested.

Needs numpy, scipy, arch and pymannkendall; run it in this folder. It is no
part of the tests, which read what it has written.
"""
import json

import numpy as np
import pymannkendall
from arch.bootstrap import optimal_block_length
from scipy import stats

rng = np.random.default_rng(19)


def autoregressive(n, phi, slope=0.0):
    x = np.zeros(n)
    for i in range(1, n):
        x[i] = phi * x[i - 1] + rng.normal()
    return np.round(100 + x + slope * np.arange(n), 6)


cases = []
for n in (10, 25, 60, 137, 400):
    for phi, slope in ((0, 0), (0.5, 0), (0.9, 0), (-0.4, 0), (0.3, 0.05), (0, 0.5)):
        x = autoregressive(n, phi, slope)
        if n == 60:
            x = np.round(x)  # ties
        s = stats.theilslopes(x, alpha=0.95)
        h = pymannkendall.hamed_rao_modification_test(x)
        plain = pymannkendall.original_test(x)
        cases.append(dict(
            x=x.tolist(), block=float(optimal_block_length(x)["circular"].iloc[0]),
            slope=s.slope, low=s.low_slope, high=s.high_slope,
            variance=plain.var_s, factor=h.var_s / plain.var_s, variation=float(stats.variation(x, ddof=1)),
            spread=float(stats.median_abs_deviation(x, scale="normal"))))
with open("series.json", "w") as f:
    json.dump(cases, f)
