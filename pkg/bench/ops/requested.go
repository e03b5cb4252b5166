package ops

import (
	"container/heap"
	"math"
)

// A SizeShare is a size and the relative number of requests that have it.
type SizeShare struct {
	Size   int64
	Weight float64
}

// requestedSizes gives n objects sizes so that the requests which choose among them by popularity have the given shares of sizes.
// Beginning with the most popular object, each gets the size that lacks the most requests.
func requestedSizes(shares []SizeShare, exponent float64, seed uint64, n int) []int64 {
	popular := newPopularity(exponent, seed, n)
	total, requests := 0.0, 0.0
	for _, s := range shares {
		total += s.Weight
	}
	for rank := range n {
		requests += math.Pow(float64(rank+1), -exponent)
	}
	missing := make(sizeHeap, len(shares))
	for i, s := range shares {
		missing[i] = SizeShare{s.Size, s.Weight / total * requests}
	}
	heap.Init(&missing)
	sizes := make([]int64, n)
	for rank := range n {
		place := rank
		if popular != nil {
			place = popular.places.At(rank)
		}
		sizes[place] = missing[0].Size
		missing[0].Weight -= math.Pow(float64(rank+1), -exponent)
		heap.Fix(&missing, 0)
	}
	return sizes
}

// A sizeHeap has at its top the size that lacks the most requests.
type sizeHeap []SizeShare

func (h sizeHeap) Len() int           { return len(h) }
func (h sizeHeap) Less(i, j int) bool { return h[i].Weight > h[j].Weight }
func (h sizeHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *sizeHeap) Push(x any)        { *h = append(*h, x.(SizeShare)) }
func (h *sizeHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
