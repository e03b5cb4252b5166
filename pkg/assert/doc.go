// Package assert implements the language of assertions, such as GET.p99<50ms.
// It parses them, judges them by a report, and writes the results in the
// formats that CI systems read. docs/assertions.md has the grammar for users.
package assert
