// Package distributed tests runs on several machines: processes, where possible each in a network namespace, which are
// killed, and whose links are cut and slowed. The tests compare the rows of the final log with what the store has seen.
package distributed
