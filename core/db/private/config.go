package private

import (
	"fmt"
	"path/filepath"

	"github.com/hashicorp/go-hclog"
)

// Names inside the cluster.
const (
	// Database and Role are what the service works with: the role owns the database and is no superuser.
	Database = "hostler"
	Role     = "hostler"
	// Superuser is the bootstrap role; only the service's system user may log in as it.
	Superuser = "postgres"
)

// Config says where and how to run the cluster. The zero value of every field but Dir is usable.
type Config struct {
	// Dir is the folder of the cluster, made on first start. It must be empty then, and be used for nothing else.
	Dir string
	// Logger gets PostgreSQL's messages and the supervisor's. Nil: nothing is logged.
	Logger hclog.Logger
	// Binaries is the folder with postgres and initdb. Empty: the newest installed one is searched for.
	Binaries string
	// User is the system user that PostgreSQL runs as when the service is root. Empty: "postgres". A service that is not
	// root runs PostgreSQL as itself, and then User must be empty or its own name.
	User string
	// Settings are PostgreSQL settings over the defaults of this package, such as {"shared_buffers": "256MB"}. What keeps
	// the cluster private (sockets, addresses, authentication, logging) cannot be set.
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
