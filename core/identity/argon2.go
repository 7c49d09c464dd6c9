package identity

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/argon2"

	"github.com/hostler/hostler/core/problem"
)

// Argon2 is the cost of one Argon2id hash (RFC 9106).
type Argon2 struct {
	// Memory in KiB.
	Memory uint32
	// Time is the number of passes.
	Time uint32
	// Threads is the number of lanes.
	Threads uint8
}

// DefaultArgon2 has the memory and the passes of the second recommended option
// of RFC 9106 (section 4), but one lane: other work shares the machine. A hash
// takes about 150 ms on a small server.
var DefaultArgon2 = Argon2{Memory: 64 * 1024, Time: 3, Threads: 1}

// maxArgon2 bounds the parameters of a stored hash, so that a manipulated row
// cannot exhaust memory or time.
var maxArgon2 = Argon2{Memory: 1024 * 1024, Time: 64, Threads: 16}

// Sizes of a hash.
const (
	saltBytes = 16
	hashBytes = 32
	// largeMemory in KiB is worth a collection of garbage after each hash.
	largeMemory = 16 * 1024
)

// errHashFormat is the error of a hash that cannot be read. It does not contain
// the hash, which must not get into a log.
var errHashFormat = errors.New("the stored password hash is not an Argon2id hash that this release supports")

// hasher hashes passwords, a limited number at a time: each hash needs the
// configured memory. It is safe for concurrent use.
type hasher struct {
	cost Argon2
	wait time.Duration
	// slots are for everybody, spare is for those who are no strangers.
	slots, spare chan struct{}

	runs atomic.Int64
	// decoy is a hash of no password, of the same cost as a real one.
	decoy string
}

// newHasher returns a hasher with a limited number of slots: each hash needs
// the configured memory.
func newHasher(c Config) *hasher {
	h := &hasher{cost: c.Argon2, wait: c.HashWait, slots: make(chan struct{}, c.Hashes), spare: make(chan struct{}, 1)}
	h.decoy = encode(h.cost, randomBytes(saltBytes), randomBytes(hashBytes))
	return h
}

// hash returns a new hash of the password as a PHC string:
// $argon2id$v=19$m=65536,t=3,p=1$salt$hash. It uses the spare slot too, because
// only users whom an operation has admitted set a password.
func (h *hasher) hash(ctx context.Context, password string) (string, error) {
	salt := randomBytes(saltBytes)
	sum, err := h.run(ctx, h.cost, password, salt, hashBytes, true)
	if err != nil {
		return "", err
	}
	return encode(h.cost, salt, sum), nil
}

// verify reports whether the password is the one that was hashed, and whether
// the hash has another cost than new ones have. For an empty hash it does the
// same work and reports false, so that the time does not show which accounts
// exist. familiar allows it to use the spare slot.
func (h *hasher) verify(ctx context.Context, hash, password string, familiar bool) (ok, outdated bool, err error) {
	known := hash != ""
	if !known {
		hash = h.decoy
	}
	cost, salt, want, err := decode(hash)
	if err != nil {
		return false, false, err
	}
	got, err := h.run(ctx, cost, password, salt, uint32(len(want)), familiar)
	if err != nil {
		return false, false, err
	}
	return subtle.ConstantTimeCompare(got, want) == 1 && known, cost != h.cost, nil
}

// run waits for a slot and hashes in it. Strangers use the common slots only: a
// flood of them cannot lock out the users whose browser is known. The problem
// is rate_limited after the configured wait.
func (h *hasher) run(ctx context.Context, cost Argon2, password string, salt []byte, length uint32, familiar bool) ([]byte, error) {
	late := time.NewTimer(h.wait)
	defer late.Stop()
	slot, spare := h.slots, h.spare
	if !familiar {
		spare = nil
	}
	select {
	case slot <- struct{}{}:
	// A nil channel is never ready: a stranger has no spare slot.
	case spare <- struct{}{}:
		slot = spare
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting to check a password: %w", ctx.Err())
	case <-late.C:
		busy := problem.New(problem.CodeRateLimited, "too many users are logging in at the same time; try again in a moment")
		busy.RetryAfter = 5
		return nil, busy
	}
	defer func() { <-slot }()
	h.runs.Add(1)
	sum := argon2.IDKey([]byte(password), salt, cost.Time, cost.Memory, cost.Threads, length)
	if cost.Memory >= largeMemory {
		// The hash's memory is garbage now. Left alone it would stay with the
		// process for minutes, and in a flood as much again would be allocated
		// before it is collected: so it goes before the slot does.
		debug.FreeOSMemory()
	}
	return sum, nil
}

// encode returns a hash in the PHC string format, as other Argon2 libraries
// write it.
func encode(c Argon2, salt, sum []byte) string {
	b64 := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, c.Memory, c.Time, c.Threads, b64(salt), b64(sum))
}

// decode reads a hash of encode, within the bounds of maxArgon2.
func decode(hash string) (c Argon2, salt, sum []byte, err error) {
	parts := strings.Split(hash, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return c, nil, nil, errHashFormat
	}
	if n, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &c.Memory, &c.Time, &c.Threads); err != nil || n != 3 {
		return c, nil, nil, errHashFormat
	}
	salt, saltErr := base64.RawStdEncoding.DecodeString(parts[4])
	sum, sumErr := base64.RawStdEncoding.DecodeString(parts[5])
	if saltErr != nil || sumErr != nil || len(salt) < 8 || len(sum) < 16 || len(sum) > 64 || c.Time == 0 || c.Threads == 0 ||
		c.Memory > maxArgon2.Memory || c.Time > maxArgon2.Time || c.Threads > maxArgon2.Threads {
		return c, nil, nil, errHashFormat
	}
	return c, salt, sum, nil
}

// randomBytes returns n random bytes.
func randomBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails: crypto/rand ends the process first
	return b
}
