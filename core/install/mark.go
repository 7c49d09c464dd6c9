package install

import (
	"crypto/rand"
	"encoding/hex"
)

// markPrefix is what all marks begin with, and failedTag what the container of an install gets that has failed.
const (
	markPrefix = "hostler-job-"
	failedTag  = "hostler-failed"
)

// newMark makes a tag that no other job has, of this service or another one on the same cluster.
func newMark() string {
	random := make([]byte, 8)
	_, _ = rand.Read(random) // which never fails
	return markPrefix + hex.EncodeToString(random)
}
