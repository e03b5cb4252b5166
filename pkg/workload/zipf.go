package workload

import (
	"math"
	"slices"
)

// A zipfFit is the Zipf distribution that fits the requests for keys best.
type zipfFit struct {
	exponent float64
	err      float64 // half of the 95 % interval
	objects  uint64  // that the distribution chooses from
}

const (
	minFitKeys  = 30
	largestFit  = 4.   // exponent that is searched
	maxFitError = .5   // an exponent that is less certain is none
	maxUnseen   = 1000 // objects for each key that was seen
	groupRanks  = 1.08 // ratio of neighbouring groups of ranks
	singleRanks = 16   // ranks that are not in groups
	sections    = 12   // of an interval that is narrowed down
	spread      = .125 // relative standard deviation of the means of very popular keys
	outliers    = 1e-9 // share of the keys that may have any number of requests
)

// fitZipf fits the distribution by maximum likelihood. The key of rank k gets a number of requests that is a Poisson variable
// with a mean in proportion to k^-exponent, and keys without a request are not seen. The likelihood is about the number of
// keys with similar numbers of requests. Unlike a line through the logarithms of ranks and counts, this has no bias because of
// chance in the order of the ranks, and it does not depend on a few keys at the top.
func fitZipf(counts []uint64, requests uint64, sample float64) (zipfFit, bool) {
	if len(counts) < minFitKeys || slices.Max(counts) == 1 {
		return zipfFit{}, false
	}
	l := newLikelihood(counts, requests, sample)
	exponent := maximum(0, largestFit, 11, func(s float64) float64 { v, _ := l.profile(s); return v })
	value, objects := l.profile(exponent)
	if zero, _ := l.profile(0); zero >= value {
		exponent = 0
		value, objects = l.profile(0)
	}
	fit := zipfFit{exponent: exponent, objects: uint64(math.Round(objects))}
	// The likelihood is 1.92 below its maximum at the ends of the 95 % interval.
	const width = .02
	upper, _ := l.profile(exponent + width)
	lower := upper
	if exponent >= width {
		lower, _ = l.profile(exponent - width)
	}
	curvature := (2*value - upper - lower) / (width * width)
	if curvature <= 0 {
		return zipfFit{}, false
	}
	fit.err = 1.96 / math.Sqrt(curvature)
	return fit, fit.err <= maxFitError
}

// maximum returns the place of the maximum between two numbers. A function may have several, so it looks at a number of places
// before it narrows down to one of them.
func maximum(from, to float64, places int, f func(float64) float64) float64 {
	step, best, value := (to-from)/float64(places-1), from, math.Inf(-1)
	for i := range places {
		x := from + float64(i)*step
		if v := f(x); v > value {
			best, value = x, v
		}
	}
	return golden(max(best-step, from), min(best+step, to), f)
}

// golden returns the place of the only maximum between two numbers, by sections in the golden ratio.
func golden(a, b float64, f func(float64) float64) float64 {
	const ratio = .6180339887498949
	c, d := b-ratio*(b-a), a+ratio*(b-a)
	fc, fd := f(c), f(d)
	for range sections {
		if fc > fd {
			b, d, fd = d, c, fc
			c = b - ratio*(b-a)
			fc = f(c)
		} else {
			a, c, fc = c, d, fd
			d = a + ratio*(b-a)
			fd = f(d)
		}
	}
	return (a + b) / 2
}

// A likelihood is the likelihood of the numbers of requests for keys.
type likelihood struct {
	requests float64
	keys     float64   // that were seen
	edges    []uint64  // the highest count of each bin
	seen     []float64 // keys by bin
	chances  []float64 // expected number of keys in each bin
	groups   []rankGroup
}

// A rankGroup has ranks that count as equally popular.
type rankGroup struct {
	ranks  float64
	weight float64 // of all of them
}

func newLikelihood(counts []uint64, requests uint64, sample float64) *likelihood {
	l := &likelihood{requests: float64(requests), keys: float64(len(counts)) / sample}
	for edge, largest := uint64(1), slices.Max(counts); ; edge = max(edge+1, edge+edge/4) {
		l.edges = append(l.edges, edge)
		if edge >= largest {
			break
		}
	}
	l.seen, l.chances = make([]float64, len(l.edges)), make([]float64, len(l.edges))
	for _, n := range counts {
		i, _ := slices.BinarySearch(l.edges, n)
		l.seen[i]++
	}
	return l
}

// profile returns the highest logarithm of the likelihood for an exponent, and the number of objects that it has then.
func (l *likelihood) profile(exponent float64) (value, objects float64) {
	of := func(log float64) float64 { return l.at(exponent, l.keys*math.Exp(log)) }
	log := maximum(0, math.Log(maxUnseen), 6, of)
	value = of(log)
	if all := of(0); all >= value {
		return all, l.keys
	}
	return value, l.keys * math.Exp(log)
}

// at returns the logarithm of the likelihood of a distribution.
func (l *likelihood) at(exponent, objects float64) float64 {
	var total float64
	l.groups, total = rankGroups(l.groups[:0], exponent, objects)
	clear(l.chances)
	unseen := 0.
	for _, g := range l.groups {
		unseen += l.addKeys(g.ranks, l.requests*g.weight/total/g.ranks)
	}
	seen := math.Log(max(objects-unseen, 1e-300))
	sum := 0.
	for i, n := range l.seen {
		if n > 0 {
			sum += n * (math.Log(l.chances[i]+outliers*objects) - seen)
		}
	}
	return sum
}

// rankGroups appends the ranks of a distribution, and returns the weight of all of them.
func rankGroups(groups []rankGroup, exponent, objects float64) (all []rankGroup, total float64) {
	integral := integrator(exponent)
	for from := 1.; from <= objects; {
		to, weight := from, math.Pow(from, -exponent)
		if from > singleRanks {
			to = min(math.Floor(from*groupRanks), objects)
			weight = integral(from-.5, to+.5)
		}
		groups = append(groups, rankGroup{to - from + 1, weight})
		total += weight
		from = to + 1
	}
	return groups, total
}

// addKeys adds keys that get a mean number of requests, and returns the expected number of those that get none.
func (l *likelihood) addKeys(keys, mean float64) (unseen float64) {
	if mean > 64 {
		l.addNormal(keys, mean)
		return 0
	}
	p := math.Exp(-mean)
	unseen = keys * p
	end := mean + 10*math.Sqrt(mean) + 20
	bin := 0
	for n := 1.; n < end; n++ {
		p *= mean / n
		for uint64(n) > l.edges[bin] {
			if bin++; bin == len(l.edges) {
				return unseen
			}
		}
		l.chances[bin] += keys * p
	}
	return unseen
}

// addNormal is addKeys for large means, with a normal distribution. It is wider than the distribution of a Poisson variable, because no
// load follows the law exactly, and a few very popular keys should not decide.
func (l *likelihood) addNormal(keys, mean float64) {
	deviation := math.Sqrt(mean + mean*mean*spread*spread)
	below := 0. // share of the keys up to the edge before
	bin, _ := slices.BinarySearch(l.edges, uint64(max(mean-8*deviation, 1)))
	for ; bin < len(l.edges) && below < 1; bin++ {
		share := math.Erfc((mean-float64(l.edges[bin])-.5)/(math.Sqrt2*deviation)) / 2
		l.chances[bin] += keys * (share - below)
		below = share
	}
}

// integrator returns the integral of x^-exponent between two numbers, which is about the sum of the weights of the ranks between
// them.
func integrator(exponent float64) func(from, to float64) float64 {
	if math.Abs(exponent-1) < 1e-9 {
		return func(from, to float64) float64 { return math.Log(to / from) }
	}
	power := 1 - exponent
	return func(from, to float64) float64 { return (math.Pow(to, power) - math.Pow(from, power)) / power }
}
