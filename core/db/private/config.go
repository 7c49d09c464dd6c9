package private

import (
	"fmt"
	"path/filepath"

	"github.com/hashicorp/go-hclog"
)

// Names inside the cluster.
const (
	// Database and Role are what the service uses. The role owns the database
	// and is not a superuser.
	Database = "hostler"
	Role     = "hostler"
	// Superuser is the bootstrap role. Only the service's system user can log
	// in as it.
	Superuser = "postgres"
)

// Config says where and how to run the cluster. Only Dir is required.
type Config struct {
	// Dir is the folder of the cluster. Start creates it. It must be empty at
	// the first start and must not be used for anything else.
	Dir string
	// Logger gets the messages of PostgreSQL and of the supervisor; nil logs
	// nothing.
	Logger hclog.Logger
	// Binaries is the folder of the programs postgres and initdb; empty to use
	// the newest installed version.
	Binaries string
	// User is the system user that PostgreSQL runs as if the service is root;
	// empty means "postgres". A service that is not root runs PostgreSQL as its
	// own user; then User must be empty or the name of that user.
	User string
	// Settings override the defaults of this package, for example
	// {"shared_buffers": "256MB"}. Settings that keep the cluster private
	// (sockets, addresses, authentication, logging) cannot be changed.
	Settings map[string]string
}

func (c *Config) normalise() error {
	if c.Logger == nil {
		c.Logger = hclog.NewNullLogger()
	}
	if c.Dir == "" {
		return fmt.Errorf("no folder was specified for the private database")
	}
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return fmt.Errorf("finding the folder of the private database: %w", err)
	}
	c.Dir = dir
	return checkSettings(c.Settings)
}
