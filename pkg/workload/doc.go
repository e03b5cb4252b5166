// Package workload describes a load without names: what is requested how often, how large it is, how popular objects are, and
// when requests arrive. A [Collector] makes a [Profile] of the requests of logs, in memory that does not grow with them. No
// key, name or address gets into a profile.
package workload
