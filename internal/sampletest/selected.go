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
	return hash(name)%n == 0
}

// OneOf returns the cases that a test of the given name runs: with -short one of them, always the same one; otherwise all. Use it when
// many tests run each case, so that together they still run all of them.
func OneOf[T any](name string, cases []T) []T {
	if !testing.Short() || len(cases) == 0 {
		return cases
	}
	n := hash(name) % uint32(len(cases))
	return cases[n : n+1]
}

func hash(name string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	return h.Sum32()
}
