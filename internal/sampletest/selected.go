// Package sampletest chooses which cases of a sweep run in the short tier of the tests.
package sampletest

import (
	"hash/fnv"
	"testing"
)

// Selected reports whether a case of a sweep runs. With -short about one case in n does, always the same ones; otherwise all do. Sample
// only cases that stand for each other: a case that nothing else covers must always run.
func Selected(name string, n uint32) bool {
	if !testing.Short() {
		return true
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	return h.Sum32()%n == 0
}
