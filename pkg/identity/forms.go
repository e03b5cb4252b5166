package identity

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"warp/pkg/bench/pacing"
	"warp/pkg/generator"
	"warp/pkg/script"
)

// A form makes the setting of the value of a flag; "" if the flag does not matter, or changes nothing with that value.
type form func(value string, r *run) (string, error)

// word takes the value as it is.
func word(value string, _ *run) (string, error) { return value, nil }

// toggle is for flags without a value.
func toggle(value string, _ *run) (string, error) {
	if value == "false" {
		return "", nil
	}
	return value, nil
}

// given is for names that differ from place to place. It matters only whether there is one.
func given(value string, _ *run) (string, error) {
	if value == "" {
		return "", nil
	}
	return "true", nil
}

// elsewhere is for flags that change the settings of others.
func elsewhere(string, *run) (string, error) { return "", nil }

// number is for numbers. 0 changes nothing.
func number(value string, _ *run) (string, error) {
	if value == "" {
		return "", nil
	}
	x, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return "", errors.New("not a number")
	}
	return formatNumber(x), nil
}

// formatNumber leaves out the digits in which sums of decimal fractions are off; "" = 0.
func formatNumber(x float64) string {
	if x == 0 {
		return ""
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

// total is a number for each client, of all clients together.
func total(value string, r *run) (string, error) {
	text, err := number(value, r)
	if err != nil || text == "" {
		return "", err
	}
	x, _ := strconv.ParseFloat(text, 64)
	return formatNumber(rounded(x * float64(r.clients))), nil
}

// objects are the objects of each client, or those of all clients together if a profile sets them.
func objects(value string, r *run) (string, error) {
	if r.Like != "" && !r.existing() {
		return number(value, r)
	}
	return total(value, r)
}

func rounded(x float64) float64 {
	const digits = 1e9
	if math.Abs(x) >= digits {
		return math.Round(x)
	}
	return math.Round(x*digits) / digits
}

// size is in bytes.
func size(value string, _ *run) (string, error) {
	if value == "" {
		return "", nil
	}
	n, err := generator.ParseSize(value)
	if err != nil || n == 0 {
		return "", err
	}
	return strconv.FormatInt(n, 10), nil
}

// with is for flags that matter only together with another.
func with(other string, f form) form {
	return func(value string, r *run) (string, error) {
		if !r.on(other) {
			return "", nil
		}
		return f(value, r)
	}
}

// uploaded is for flags about objects that are uploaded.
func uploaded(f form) form {
	return func(value string, r *run) (string, error) {
		if r.existing() {
			return "", nil
		}
		return f(value, r)
	}
}

// unlessScript is for flags that do nothing in scripts.
func unlessScript(f form) form {
	return func(value string, r *run) (string, error) {
		if r.Benchmark == "script" {
			return "", nil
		}
		return f(value, r)
	}
}

// unitPattern matches sizes as package generator formats them.
var unitPattern = regexp.MustCompile(`[0-9]+([KMGT]i?)?B`)

// sizes are sizes of objects: one, or a distribution.
func sizes(value string, r *run) (string, error) {
	if r.on("min-size") || r.on("max-size") {
		value = r.Parameters["min-size"] + "-" + r.Parameters["max-size"]
	}
	parsed, err := generator.ParseSizes(value, r.on("obj.randsize"))
	if err != nil {
		return "", err
	}
	var wrong error
	text := unitPattern.ReplaceAllStringFunc(parsed.String(), func(s string) string {
		n, err := generator.ParseSize(s)
		wrong = errors.Join(wrong, err)
		return strconv.FormatInt(n, 10)
	})
	return text, wrong
}

// The default sizes of parts: of uploads, and of copies.
const (
	usualPart = "16777216"
	usualCopy = "5368709120"
)

// partSize fills in the default, which the flag itself does not have.
func partSize(value string, r *run) (string, error) {
	text, err := size(value, r)
	switch {
	case err != nil || text != "":
		return text, err
	case r.Benchmark == "copy":
		return usualCopy, nil
	}
	return usualPart, nil
}

// shares returns the flags of a mix of operations.
func shares() []string {
	return []string{"get-distrib", "stat-distrib", "put-distrib", "delete-distrib"}
}

// share is a part of a mix, in percent: only proportions matter.
func share(value string, r *run) (string, error) {
	x, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return "", errors.New("not a number")
	}
	sum := 0.0
	for _, flag := range shares() {
		if part, err := strconv.ParseFloat(r.Parameters[flag], 64); err == nil {
			sum += part
		}
	}
	if x == 0 || sum == 0 {
		return "", nil
	}
	return formatNumber(rounded(100 * x / sum)), nil
}

// percentPuts is an abbreviation of the shares in warp mixed, and a setting of its own in warp aisloader.
func percentPuts(value string, r *run) (string, error) {
	if _, ok := r.Parameters[shares()[0]]; ok {
		return "", nil
	}
	return number(value, r)
}

// arrival matters in an open loop.
func arrival(value string, r *run) (string, error) {
	if !r.on("rps-limit") && !r.on("stages") {
		return "", nil
	}
	return value, nil
}

// stages are rates of all clients together, except of clients that were started by hand.
func stages(value string, r *run) (string, error) {
	if value == "" {
		return "", nil
	}
	parsed, err := pacing.ParseStages(value)
	if err != nil {
		return "", err
	}
	by := 1.0
	if n, err := strconv.ParseFloat(r.Parameters["client-count"], 64); err == nil && n > 1 {
		by = n
	}
	texts := make([]string, len(parsed))
	for i, s := range parsed {
		s.From, s.To = rounded(s.From*by), rounded(s.To*by)
		texts[i] = s.String()
	}
	return strings.Join(texts, ", "), nil
}

// everyObject is implied by a number of passes.
func everyObject(value string, r *run) (string, error) {
	if r.on("epochs") {
		return "true", nil
	}
	return toggle(value, r)
}

// md5Sum is the value of --checksum that means --md5.
const md5Sum = "MD5"

func checksum(value string, _ *run) (string, error) {
	if value == md5Sum {
		return "", nil
	}
	return value, nil
}

func md5(value string, r *run) (string, error) {
	if r.Parameters["checksum"] == md5Sum {
		return "true", nil
	}
	return toggle(value, r)
}

// signature leaves out where the keys are from.
func signature(value string, _ *run) (string, error) {
	if value == "IAM" || value == "STS_WEB_TOKEN" {
		return usualSignature, nil
	}
	return value, nil
}

// source leaves out the name of a file.
func source(value string, _ *run) (string, error) {
	kind, _, _ := strings.Cut(value, ":")
	return kind, nil
}

// pairs are how many keys and values there are, and how long they are together. The words are names.
func pairs(value string, _ *run) (string, error) {
	if value == "" {
		return "", nil
	}
	count, length := 0, 0
	for pair := range strings.SplitSeq(value, ",") {
		key, text, _ := strings.Cut(pair, "=")
		count++
		length += len(key)
		if n, err := strconv.Atoi(strings.TrimPrefix(text, "rand:")); err == nil && strings.HasPrefix(text, "rand:") {
			length += n
		} else {
			length += len(text)
		}
	}
	return fmt.Sprintf("%d of %d bytes", count, length), nil
}

// addStatements adds the statements of a script without seeds and names: contexts are numbered in the order in which they occur.
func addStatements(settings map[string]string, texts []string) error {
	statements, err := script.Parse(strings.Join(texts, ";\n"))
	if err != nil {
		return fmt.Errorf("the statements of the script: %w", err)
	}
	contexts := map[string]int{}
	for i, s := range statements {
		if contexts[s.Context] == 0 {
			contexts[s.Context] = len(contexts) + 1
		}
		parts := []string{string(s.Verb)}
		add := func(name, value string, is bool) {
			if is {
				parts = append(parts, name+"="+value)
			}
		}
		add("objects", strconv.Itoa(s.Objects), s.Objects > 0)
		add("size", strconv.FormatInt(s.Size, 10), s.Verb == script.Put)
		add("runtime", s.Runtime.String(), s.Runtime > 0)
		add("warmup", s.Warmup.String(), s.Warmup > 0)
		add("rate", formatNumber(s.Rate), s.Rate > 0)
		add("concurrent", strconv.Itoa(s.Max), s.Max > 0)
		add("prefixes", "random", s.Strategy == script.RandomPrefix)
		add("context", strconv.Itoa(contexts[s.Context]), true)
		settings[fmt.Sprintf("statement %03d", i+1)] = strings.Join(parts, " ")
	}
	return nil
}
