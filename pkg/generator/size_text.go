package generator

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// maxSizeText limits the input of ParseSize. No size needs more, and rejecting garbage stays cheap.
const maxSizeText = 48

var (
	decimalUnits = []string{"KB", "MB", "GB", "TB"}
	binaryUnits  = []string{"KiB", "MiB", "GiB", "TiB"}
)

// ParseSize parses plain bytes ("4096", "4096B"), or a number with K/KB, M/MB, G/GB, T/TB (powers
// of 1000) or KiB, MiB, GiB, TiB (powers of 1024), in upper or lower case. With a unit, the number
// may have decimals ("1.5MiB"). The result is rounded to whole bytes.
func ParseSize(text string) (int64, error) {
	if len(text) > maxSizeText {
		return 0, fmt.Errorf("size %q… is too long to be a number", text[:maxSizeText])
	}
	number, unit := splitUnit(strings.TrimSpace(text))
	factor, ok := unitFactor(unit)
	if !ok {
		return 0, fmt.Errorf("size %q has an unknown unit %q: use B, KB, MB, GB, TB, KiB, MiB, GiB or TiB", text, unit)
	}
	if err := checkNumber(number, factor); err != nil {
		return 0, fmt.Errorf("size %q %w", text, err)
	}
	value, ok := new(big.Rat).SetString(number)
	if !ok {
		return 0, fmt.Errorf("size %q is not a number", text)
	}
	value.Mul(value, new(big.Rat).SetInt64(factor))
	bytes, ok := new(big.Int).SetString(value.FloatString(0), 10)
	if !ok || !bytes.IsInt64() {
		return 0, fmt.Errorf("size %q is larger than 8 EiB", text)
	}
	return bytes.Int64(), nil
}

// FormatSize formats n exactly, in the largest unit that gives an integer, binary units first.
// ParseSize parses the result back to n.
func FormatSize(n int64) string {
	if text, ok := wholeUnits(n, 1024, binaryUnits); ok {
		return text
	}
	if text, ok := wholeUnits(n, 1000, decimalUnits); ok {
		return text
	}
	return strconv.FormatInt(n, 10) + "B"
}

func wholeUnits(n, base int64, units []string) (string, bool) {
	unit := ""
	for _, name := range units {
		if n == 0 || n%base != 0 {
			break
		}
		n, unit = n/base, name
	}
	return strconv.FormatInt(n, 10) + unit, unit != ""
}

func splitUnit(text string) (number, unit string) {
	end := len(text)
	for end > 0 && (text[end-1] < '0' || text[end-1] > '9') && text[end-1] != '.' {
		end--
	}
	return text[:end], strings.TrimSpace(text[end:])
}

func unitFactor(unit string) (int64, bool) {
	switch strings.ToUpper(unit) {
	case "", "B":
		return 1, true
	case "K", "KB":
		return 1e3, true
	case "M", "MB":
		return 1e6, true
	case "G", "GB":
		return 1e9, true
	case "T", "TB":
		return 1e12, true
	case "KIB":
		return 1 << 10, true
	case "MIB":
		return 1 << 20, true
	case "GIB":
		return 1 << 30, true
	case "TIB":
		return 1 << 40, true
	}
	return 0, false
}

// checkNumber accepts digits with at most one point between them, because big.Rat alone would also
// accept fractions, exponents, hexadecimal and underscores.
func checkNumber(number string, factor int64) error {
	whole, decimals, point := strings.Cut(number, ".")
	switch {
	case strings.HasPrefix(number, "-"):
		return fmt.Errorf("is negative")
	case !allDigits(whole + decimals):
		return fmt.Errorf("is not a number with an optional unit, such as 4096, 10MiB or 1.5GB")
	case point && factor == 1:
		return fmt.Errorf("is not a whole number of bytes")
	}
	return nil
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
