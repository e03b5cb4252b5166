package workload

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"warp/internal/check"
)

// example is a profile that uses all fields.
func example() *Profile {
	exponent := .99
	return &Profile{
		Version: Version, Kind: Kind, Formats: []string{"op log of warp"}, Notes: []string{"a note"},
		Lines: Lines{Read: 12, Unreadable: 1, LeftOut: 1}, DurationS: 3, Requests: 10, Errors: 1,
		Operations: []Operation{
			{Op: Get, Requests: 7, Share: .7, Objects: 7, Errors: 1, Statuses: []Status{{404, 1}}, Sizes: Sizes{{1, 1, 2}, {4096, 4100, 3}}},
			{Op: Put, Requests: 3, Share: .3, Objects: 3, Sizes: Sizes{{4096, 4096, 3}}},
		},
		Ranges:     &Ranges{Requests: 1, Share: 1. / 6, Sizes: Sizes{{10, 10, 1}}, Objects: Sizes{{100, 100, 1}}},
		Popularity: &Popularity{Requests: 6, Keys: 3, Sampled: 1, Exponent: &exponent, ExponentError: .1, Objects: 4, Hottest: .5},
		Arrivals:   Arrivals{IntervalS: 1, Requests: []uint64{4, 0, 6}, Gaps: PoissonGaps, Dispersion: []Dispersion{{1, 1.1, 3}}},
		Reuse: &Reuse{Requests: 6, Bytes: 12291, Objects: 3, Sampled: 1, FirstRequests: 2, FirstBytes: 2,
			Caches: []Cache{{Size: 1024, Requests: .1, Bytes: .2}, {Size: 2048, Requests: .2, Bytes: .3}}},
	}
}

func encode(t testing.TB, p *Profile) []byte {
	var b bytes.Buffer
	check.OK(t, p.Write(&b))
	return b.Bytes()
}

func TestFile(t *testing.T) {
	t.Parallel()
	want := example()
	got, err := Read(bytes.NewReader(encode(t, want)))
	check.OK(t, err)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v, want %+v", got, want)
	}
}

func TestFileRefused(t *testing.T) {
	t.Parallel()
	damage := func(f func(*Profile)) string {
		p := example()
		f(p)
		return string(encode(t, p))
	}
	for _, text := range []string{"79a59 bucket [06/Feb/2019:00:00:38 +0000] -\n", "\n 1\n", "\x28\xb5\x2f\xfd", "{\"api\":{}}\n{\"api\":{}}\n", "[]"} {
		if _, err := Read(strings.NewReader(text)); err != errNoProfile {
			t.Errorf("%q: %v", text, err)
		}
	}
	for want, text := range map[string]string{
		"cut off":                     string(encode(t, example())[:200]),
		"there is more after":         string(encode(t, example())) + "{}",
		"not a profile":               `{"version":2,"groups":[]}`,
		"version 9":                   damage(func(p *Profile) { p.Version = 9 }),
		"unknown or occurs twice":     damage(func(p *Profile) { p.Operations[1].Op = Get }),
		`"secret" is unknown`:         damage(func(p *Profile) { p.Operations[1].Op = "secret" }),
		"not above the one before":    damage(func(p *Profile) { p.Operations[0].Sizes[1].Min = 1 }),
		"or more than there are":      damage(func(p *Profile) { p.Operations[1].Sizes[0].Requests = 4 }),
		"but the profile has":         damage(func(p *Profile) { p.Requests++ }),
		"do not add up to the errors": damage(func(p *Profile) { p.Operations[0].Statuses = nil }),
		"do not add up to all":        damage(func(p *Profile) { p.Arrivals.Requests[0]-- }),
		"have no length":              damage(func(p *Profile) { p.Arrivals.IntervalS = 0 }),
		"ascending":                   damage(func(p *Profile) { p.Reuse.Caches[1].Size = 1 }),
		"popularity.exponent":         damage(func(p *Profile) { *p.Popularity.Exponent = 21 }),
		"gaps are":                    damage(func(p *Profile) { p.Arrivals.Gaps = "odd" }),
		"ranges.share":                damage(func(p *Profile) { p.Ranges.Share = -1 }),
		"damaged: json":               strings.Replace(string(encode(t, example())), `"requests": 10`, `"requests": "x"`, 1),
	} {
		_, err := Read(strings.NewReader(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestSizes(t *testing.T) {
	t.Parallel()
	s := Sizes{{10, 10, 1}, {100, 200, 2}, {1000, 1000, 1}}
	if s.Requests() != 4 || s.Mean() != (10+300+1000)/4. || s.Quantile(0) != 10 || s.Quantile(.5) != 150 || s.Quantile(1) != 1000 || (Sizes{}).Quantile(.5) != 0 {
		t.Errorf("%d sizes, mean %v, quantiles %v %v %v", s.Requests(), s.Mean(), s.Quantile(0), s.Quantile(.5), s.Quantile(1))
	}
}

// A profile that Read accepts is the same after it is written and read again.
func FuzzRead(f *testing.F) {
	f.Add(encode(f, example()))
	f.Add([]byte(`{"version":1,"kind":"workload"}`))
	f.Add([]byte(`{"version":1,"kind":"workload","requests":-1}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := Read(bytes.NewReader(b))
		if err != nil {
			return
		}
		again, err := Read(bytes.NewReader(encode(t, p)))
		if err != nil {
			t.Fatalf("%v: %s", err, b)
		}
		x, _ := json.Marshal(p)
		y, _ := json.Marshal(again)
		if !bytes.Equal(x, y) {
			t.Fatalf("%s became %s", x, y)
		}
	})
}
