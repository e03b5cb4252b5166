package ops

import (
	"math"
	"slices"
	"testing"

	"warp/pkg/bench"
	"warp/pkg/generator"
)

// The most popular places have the shares of the distribution, are not the first ones of the pool, and stay popular while
// the pool grows and shrinks.
func TestPopularity(t *testing.T) {
	t.Parallel()
	const n, draws = 200, 100_000
	total := 0.0
	for k := 1; k <= n; k++ {
		total += 1 / float64(k)
	}
	p := newPopularity(1, 7, n)
	w := &bench.Worker{Rand: generator.Rand(1, "worker", 0)}
	top := func(size int) (places []int, counts []int) {
		counts = make([]int, size)
		for range draws {
			counts[p.pick(w, size)]++
		}
		for i := range counts {
			places = append(places, i)
		}
		slices.SortFunc(places, func(a, b int) int { return counts[b] - counts[a] })
		return places, counts
	}
	places, counts := top(n)
	for rank, place := range places[:3] {
		want := 1 / float64(rank+1) / total
		if got := float64(counts[place]) / draws; math.Abs(got-want) > 5*math.Sqrt(want/draws) {
			t.Errorf("rank %d has a share of %.4f, want %.4f", rank, got, want)
		}
	}
	if places[0] < 3 && places[1] < 3 && places[2] < 3 {
		t.Errorf("the popular places are neighbours: %v", places[:3])
	}
	for _, size := range []int{n + 50, max(places[0], places[1]) + 1} {
		if now, _ := top(size); now[0] != places[0] || now[1] != places[1] {
			t.Errorf("with %d places, %v are the most popular ones, and not %v", size, now[:2], places[:2])
		}
	}
	if newPopularity(0, 7, n) != nil {
		t.Error("an exponent of 0 does not make all objects alike")
	}
}
