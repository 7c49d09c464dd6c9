//go:build !unix

package tree

const nonBlocking = 0
