package lxd

import (
	"math"
	"strconv"
	"strings"
)

// What a virtual machine has where its configuration does not say.
const (
	// These are LXD's defaults for a VM whose configuration sets no limits.
	machineCPUs   = 1
	machineMemory = 1 << 30
)

// units are the suffixes of sizes. Longer ones precede those that they end
// with. A size without a suffix is in bytes.
var units = []struct {
	ending string
	bytes  float64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"PiB", 1 << 50}, {"EiB", 1 << 60},
	{"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"PB", 1e15}, {"EB", 1e18}, {" bytes", 1}, {"B", 1},
}

// size parses a size of a configuration, such as 512MiB, 1GB or 1048576. ok is
// false for anything else, percentages included.
func size(text string) (bytes int64, ok bool) {
	factor := 1.0
	for _, u := range units {
		if number, has := strings.CutSuffix(text, u.ending); has {
			text, factor = number, u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if product := float64(n) * factor; err != nil || n < 0 || product >= math.MaxInt64 {
		return 0, false
	}
	return n * int64(factor), true
}

// share parses a percentage, such as 50%, and applies it to a whole.
func share(text string, whole *int64) (bytes int64, ok bool) {
	number, has := strings.CutSuffix(text, "%")
	n, err := strconv.ParseInt(number, 10, 64)
	if !has || err != nil || n < 0 || n > 100 || whole == nil {
		return 0, false
	}
	return int64(float64(*whole) / 100 * float64(n)), true
}

// maxCPUs limits what a set of CPUs can mean, so that a nonsensical
// configuration gives no nonsensical number.
const maxCPUs = 1 << 16

// cpuCount parses a limit of CPUs: a number, or a set such as 0-3,8.
func cpuCount(text string) (count int64, ok bool) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, n > 0 && n <= maxCPUs
	}
	for part := range strings.SplitSeq(text, ",") {
		first, last, ranged := strings.Cut(strings.TrimSpace(part), "-")
		if !ranged {
			last = first
		}
		from, err := strconv.ParseInt(first, 10, 64)
		to, lastErr := strconv.ParseInt(last, 10, 64)
		if err != nil || lastErr != nil || from < 0 || to < from || to >= maxCPUs {
			return 0, false
		}
		count += to - from + 1
	}
	return count, count > 0 && count <= maxCPUs
}
