package command

import "github.com/urfave/cli/v3"

// An Environment looks up a variable. It is passed around so that tests need not
// touch the environment of the process.
type Environment func(name string) (value string, ok bool)

// Value returns the value of a variable, "" if it is not set.
func (env Environment) Value(name string) string {
	value, _ := env(name)
	return value
}

// Vars returns the variables as sources of a flag. An empty variable counts as not
// set.
func (env Environment) Vars(names ...string) cli.ValueSourceChain {
	var chain cli.ValueSourceChain
	for _, name := range names {
		chain.Chain = append(chain.Chain, variable{name, env})
	}
	return chain
}

// A variable is one environment variable as a source of a flag.
type variable struct {
	name string
	env  Environment
}

func (v variable) Lookup() (string, bool) {
	value, ok := v.env(v.name)
	return value, ok && value != ""
}

func (v variable) IsFromEnv() bool  { return true }
func (v variable) Key() string      { return v.name }
func (v variable) String() string   { return "environment variable " + v.name }
func (v variable) GoString() string { return "variable{" + v.name + "}" }
