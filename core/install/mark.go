package install

import (
	"crypto/rand"
	"encoding/hex"
)

// markPrefix is the prefix of the tags of all jobs. failedTag is the tag of the
// container of a failed install.
const (
	markPrefix = "hostler-job-"
	failedTag  = "hostler-failed"
)

// newMark returns a random tag. It is unique also among other services that
// manage the same cluster. It is the name of the run on the machine, too.
func newMark() string {
	random := make([]byte, 8)
	_, _ = rand.Read(random) // which never fails
	return markPrefix + hex.EncodeToString(random)
}
