package connlimit

import "warp/pkg/hostload"

// Share returns the max number of connections for strangers: the limit, or half of the
// files that the process may have open if that is less, since the run needs the rest.
func Share(limit int) int { return share(limit, hostload.OpenFiles()) }

func share(limit int, files uint64) int {
	const minimum = 8 // or nobody would get in
	if files == 0 || files/2 >= uint64(limit) {
		return limit
	}
	return max(minimum, int(files/2))
}
