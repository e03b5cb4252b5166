package consistency

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// registerModel is a register for porcupine.
func registerModel() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return "" },
		Step: func(state, input, output any) (bool, any) {
			if in := input.(access); in.write {
				return true, in.value
			}
			return output.(string) == state.(string), state
		},
	}
}

// A simulation makes histories of clients that each send one request after the other to a register.
type simulation struct {
	rand    *rand.Rand
	clients int
	ops     int
	broken  bool // some reads return any value
}

// run returns a history. Each request takes effect at an instant of its interval, and a write with unknown outcome
// at any later time, or never.
func (s *simulation) run() (history []access, clients []int) {
	type request struct {
		access
		client int
		at     int64 // when it takes effect
		never  bool
	}
	var requests []request
	busy := make([]int64, s.clients)
	for i := range s.ops {
		client := s.rand.IntN(s.clients)
		r := request{client: client}
		r.start = busy[client] + 1 + s.rand.Int64N(12)
		r.end = r.start + s.rand.Int64N(30)
		busy[client] = r.end
		r.at = r.start + s.rand.Int64N(r.end-r.start+1)
		if r.write = s.rand.IntN(2) == 0; r.write {
			r.value = fmt.Sprint("v", i)
			if s.rand.IntN(5) == 0 {
				r.never = s.rand.IntN(2) == 0
				r.end, r.at = forever, r.start+s.rand.Int64N(120)
			}
		}
		r.op = &Operation{Start: r.start, End: r.end}
		requests = append(requests, r)
	}
	slices.SortStableFunc(requests, func(a, b request) int { return int(a.at - b.at) })
	value, written := "", []string{""}
	for i := range requests {
		r := &requests[i]
		switch {
		case r.write && !r.never:
			value = r.value
			written = append(written, value)
		case !r.write:
			r.value = value
			if s.broken && s.rand.IntN(4) == 0 {
				r.value = written[max(0, len(written)-1-s.rand.IntN(3))]
			}
		}
	}
	for _, r := range requests {
		history, clients = append(history, r.access), append(clients, r.client)
	}
	return history, clients
}

// withoutUnseen drops the writes with unknown outcome whose values nobody read, as the judge does.
func withoutUnseen(history []access) []access {
	seen := map[string]bool{}
	for _, a := range history {
		if !a.write {
			seen[a.value] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(history), func(a access) bool { return a.write && a.end == forever && !seen[a.value] })
}

// Porcupine searches for an order and zones need none, so that both are unlikely to have the same mistake.
func TestZonesAgreeWithPorcupine(t *testing.T) {
	t.Parallel()
	histories := 4000
	if testing.Short() {
		histories = 1000
	}
	model, violated := registerModel(), 0
	for seed := range histories {
		s := simulation{rand: rand.New(rand.NewPCG(uint64(seed), 1)), broken: seed%3 > 0}
		s.clients, s.ops = 2+s.rand.IntN(7), 5+s.rand.IntN(20)
		history, clients := s.run()
		var ops []porcupine.Operation
		for i, a := range history {
			ops = append(ops, porcupine.Operation{ClientId: clients[i], Input: a, Call: a.start, Output: a.value, Return: a.end})
		}
		want := porcupine.CheckOperations(model, ops)
		conflicts := judgeRegister(withoutUnseen(history))
		if got := len(conflicts) == 0; got != want {
			t.Fatalf("history %d: zones say %v, porcupine says %v: %+v", seed, got, want, history)
		}
		if !s.broken && !want {
			t.Fatalf("history %d of a correct register is judged as broken", seed)
		}
		if !want {
			violated++
		}
	}
	if violated < histories/10 {
		t.Errorf("only %d of %d histories are broken, so that the test shows little", violated, histories)
	}
}

// A general checker gives up on a thousandth of these.
func TestZonesOfManyOperations(t *testing.T) {
	t.Parallel()
	s := simulation{rand: rand.New(rand.NewPCG(1, 2)), clients: 32, ops: 100_000}
	history, _ := s.run()
	history = withoutUnseen(history)
	began := time.Now()
	conflicts := judgeRegister(history)
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %v", took)
	}
	if len(conflicts) > 0 {
		t.Errorf("a correct register is judged as broken: %v", conflicts[0])
	}
	t.Logf("%d operations took %v", len(history), time.Since(began))
	read := slices.IndexFunc(history, func(a access) bool { return !a.write && a.value != "" })
	late := history[read]
	late.start += 1 << 40
	late.end = late.start + 1
	if conflicts := judgeRegister(append(history, late)); len(conflicts) == 0 {
		t.Error("a read of the first value at the end was not noticed")
	}
}

func BenchmarkZones(b *testing.B) {
	s := simulation{rand: rand.New(rand.NewPCG(1, 2)), clients: 32, ops: 100_000}
	history, _ := s.run()
	history = withoutUnseen(history)
	for b.Loop() {
		if len(judgeRegister(history)) > 0 {
			b.Fatal("a correct register is judged as broken")
		}
	}
}
