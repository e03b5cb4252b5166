package connlimit

// Share is how many connections strangers may hold: no more than the limit, and
// at most half of the files that the process may have open, since the rest is for
// what it is there for.
func Share(limit int) int { return share(limit, openFiles()) }

func share(limit int, files uint64) int {
	const minimum = 8 // or nobody would get in
	if files == 0 || files/2 >= uint64(limit) {
		return limit
	}
	return max(minimum, int(files/2))
}
