package identity

import (
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/secret"
)

// Config sets the limits of log-ins and sessions. The zero value of each field
// stands for its default.
type Config struct {
	// Argon2 is the cost of new password hashes; DefaultArgon2 by default. Tests take less.
	Argon2 Argon2
	// Hashes is how many passwords are hashed at the same time, and so bounds
	// the memory that a flood of log-ins takes; 2 by default, and one more for
	// those who are logged in or whose browser the account knows. Others wait
	// up to HashWait, by default 10 s, and are then told to try again.
	Hashes   int
	HashWait time.Duration
	// AccountTries and AddressTries are how many wrong passwords one account,
	// and one address, may be given within TriesWindow; 10, 30 and 15 minutes
	// by default. All strangers to an account share one count of AccountTries;
	// each browser and each network that has logged in to it has a count of its
	// own. Wrong codes of a second factor are counted in the same way, apart.
	AccountTries int
	AddressTries int
	TriesWindow  time.Duration
	// SessionIdle ends a session that was not used for so long, SessionLife
	// every session; 12 h and 7 d by default.
	SessionIdle time.Duration
	SessionLife time.Duration
	// Keys seals the secrets of second factors. Without it none can be
	// enrolled, and who has one gets in by a recovery code only.
	Keys secret.Keys
	// Assets gives the hosts of a deleted team to the default one; without it
	// only a team without hosts can be deleted.
	Assets Assets
	Logger hclog.Logger
}

// withDefaults replaces zero values by the defaults.
func (c Config) withDefaults() Config {
	orDuration := func(d *time.Duration, fallback time.Duration) {
		if *d <= 0 {
			*d = fallback
		}
	}
	orInt := func(n *int, fallback int) {
		if *n <= 0 {
			*n = fallback
		}
	}
	if c.Argon2 == (Argon2{}) {
		c.Argon2 = DefaultArgon2
	}
	orInt(&c.Hashes, 2)
	orDuration(&c.HashWait, 10*time.Second)
	orInt(&c.AccountTries, 10)
	orInt(&c.AddressTries, 30)
	orDuration(&c.TriesWindow, 15*time.Minute)
	orDuration(&c.SessionIdle, 12*time.Hour)
	orDuration(&c.SessionLife, 7*24*time.Hour)
	if c.Logger == nil {
		c.Logger = hclog.NewNullLogger()
	}
	return c
}

// Store keeps users, sessions, keys and teams. It is safe for concurrent use,
// also by several instances on one database.
type Store struct {
	db     *db.DB
	config Config
	hasher *hasher
	log    hclog.Logger
	watch  watch
}

// New returns a store on a migrated database. It makes no query.
func New(d *db.DB, config Config) *Store {
	config = config.withDefaults()
	return &Store{db: d, config: config, hasher: newHasher(config), log: config.Logger.Named("identity")}
}

// Hashes returns how many passwords the store has hashed. Tests use it to prove
// that an unknown account costs the same work as a known one.
func (s *Store) Hashes() int64 { return s.hasher.runs.Load() }
