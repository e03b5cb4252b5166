package hostload

import (
	"fmt"
	"math/big"
	"math/bits"
	"slices"
)

// Merge merges the loads of several clients, some of which may be nil. The cores of a machine count
// once, however many clients ran there. Merge also returns one note for each machine on which the
// clients were the limit together.
func Merge(loads []*Load) (sum *Load, notes []string) {
	for _, m := range byMachine(loads) {
		l, n := mergeMachine(m)
		sum, notes = add(sum, l), append(notes, n...)
	}
	return sum, notes
}

// byMachine groups loads. A load of an unknown machine has a separate group.
func byMachine(loads []*Load) (machines [][]*Load) {
	places := map[string]int{}
	for _, l := range loads {
		if l == nil {
			continue
		}
		at, known := places[l.Machine]
		if !known || l.Machine == "" || l.Start.IsZero() {
			at = len(machines)
			machines = append(machines, nil)
		}
		if !l.Start.IsZero() {
			places[l.Machine] = at
		}
		machines[at] = append(machines[at], l)
	}
	return machines
}

// mergeMachine merges the loads of one machine. Consecutive runs take longer and use the same cores
// again.
func mergeMachine(loads []*Load) (sum *Load, notes []string) {
	loads = slices.Clone(loads)
	slices.SortStableFunc(loads, func(a, b *Load) int { return a.Start.Compare(b.Start) })
	for len(loads) > 0 {
		n, wall := overlapping(loads)
		l := mergeOverlapping(loads[:n], wall)
		if text := cpuVerdict(l); n > 1 && text != "" {
			notes = append(notes, fmt.Sprintf("%s%d clients on one machine together %s", suspicion, n, text))
		}
		loads = loads[n:]
		if sum == nil {
			sum = l
			continue
		}
		cores, before := max(sum.Cores, l.Cores), sum.WallSeconds
		sum = add(sum, l)
		sum.Cores, sum.WallSeconds = cores, before+wall
	}
	return sum, notes
}

// overlapping returns how many of the sorted loads ran at the same time as the first one or as each
// other, and the time from the start of the first to the end of the last.
func overlapping(loads []*Load) (n int, wall float64) {
	for ; n < len(loads); n++ {
		start := loads[n].Start.Sub(loads[0].Start).Seconds()
		if n > 0 && start >= wall {
			break
		}
		wall = max(wall, start+loads[n].WallSeconds)
	}
	return n, wall
}

// mergeOverlapping merges loads of one machine that ran at the same time.
func mergeOverlapping(loads []*Load, wall float64) (sum *Load) {
	cpus := new(big.Int)
	known := true
	for _, l := range loads {
		sum = add(sum, l)
		mask, ok := new(big.Int).SetString(l.CPUs, 16)
		if known = known && ok && mask.Sign() > 0; known {
			cpus.Or(cpus, mask)
		}
	}
	sum.WallSeconds = wall
	if known {
		sum.Cores = min(sum.Cores, float64(count(cpus)))
	}
	return sum
}

// count returns the number of CPUs.
func count(cpus *big.Int) (n int) {
	for _, word := range cpus.Bits() {
		n += bits.OnesCount(uint(word))
	}
	return n
}

// add returns the combined load of two clients. It sums their resources and their use. For the time, and
// for figures that limit a single client, it takes the worse value. a may be nil.
func add(a, b *Load) *Load {
	if a == nil {
		sum := *b
		return &sum
	}
	link := a
	if b.LinkShare > a.LinkShare || b.LinkShare == a.LinkShare && b.Link < a.Link {
		link = b
	}
	return &Load{
		CPUSeconds:  a.CPUSeconds + b.CPUSeconds,
		CPUWaitS:    a.CPUWaitS + b.CPUWaitS,
		Cores:       a.Cores + b.Cores,
		Connections: a.Connections + b.Connections,
		IdleShare:   min(a.IdleShare, b.IdleShare),
		GoSchedS:    max(a.GoSchedS, b.GoSchedS),
		PacingLagS:  max(a.PacingLagS, b.PacingLagS),
		Link:        link.Link,
		LinkShare:   link.LinkShare,
		WallSeconds: max(a.WallSeconds, b.WallSeconds),
		MaxRSSBytes: max(a.MaxRSSBytes, b.MaxRSSBytes),
		GCPauseS:    max(a.GCPauseS, b.GCPauseS),
		LagMaxS:     max(a.LagMaxS, b.LagMaxS),
	}
}
