package connlimit

// Share is how many connections strangers may hold: no more than most, and at
// most half of the files that the process may have open, since the rest is for
// what it is there for.
func Share(most int) int { return share(most, openFiles()) }

func share(most int, files uint64) int {
	const least = 8 // or nobody would get in
	if files == 0 || files/2 >= uint64(most) {
		return most
	}
	return max(least, int(files/2))
}
