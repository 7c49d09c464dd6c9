package updater

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// Database is the service's database, reached by PostgreSQL's own programs, which must be of the server's version or
// newer. No password is ever given to them: it is peer authentication, or trust in a test.
type Database struct {
	// Host is the folder of the unix socket, or an address.
	Host string
	Port int
	// Name is the database, Owner the role that owns it and all in it, Admin a role that may create and rename databases.
	Name, Owner, Admin string
	// OwnerUser and AdminUser are the system users to be for peer authentication; "" for the one that runs this.
	OwnerUser, AdminUser string
}

var databaseName = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)

// databaseRoom is what the names of the databases beside the live one add to its name.
const databaseRoom = len("_failed_20060102t150405_abcdef")

func (d Database) check() error {
	for _, name := range []string{d.Name, d.Owner, d.Admin} {
		if !databaseName.MatchString(name) {
			return errors.New("the database, its owner and the administrator need names of small letters, digits and underscores")
		}
	}
	if len(d.Name)+databaseRoom > 63 {
		return errors.New("the database's name is too long to make others beside it")
	}
	if d.Host == "" || d.Port < 1 || d.Port > 65535 {
		return errors.New("the database needs a host and a port")
	}
	return nil
}

// environment is libpq's.
func (d Database) environment(role, name string) []string {
	return []string{
		"PGHOST=" + d.Host, "PGPORT=" + strconv.Itoa(d.Port), "PGUSER=" + role, "PGDATABASE=" + name,
		"PGCONNECT_TIMEOUT=10", "PGAPPNAME=hostler-updater", "PGTZ=UTC",
	}
}

// url is a connection string for the service.
func (d Database) url(name string) string {
	u := url.URL{Scheme: "postgres", Path: "/" + name, User: url.User(d.Owner)}
	u.RawQuery = url.Values{"host": {d.Host}, "port": {strconv.Itoa(d.Port)}}.Encode()
	return u.String()
}

// owner is a program that works as the owner, admin one that works as the administrator.
func (d Database) owner(name, program string, args ...string) command {
	return command{as: d.OwnerUser, env: d.environment(d.Owner, name), name: program, args: args}
}

func (d Database) admin(program string, args ...string) command {
	return command{as: d.AdminUser, env: d.environment(d.Admin, "postgres"), name: program, args: args}
}

// sql runs statements as the administrator, each in a transaction of its own, and stops at the first that fails.
func (d Database) sql(ctx context.Context, statements ...string) (string, error) {
	args := []string{"--no-psqlrc", "--quiet", "--no-align", "--tuples-only", "--set=ON_ERROR_STOP=1"}
	for _, s := range statements {
		args = append(args, "--command="+s)
	}
	return d.admin("psql", args...).output(ctx)
}

// exists reports whether there is a database of the name.
func (d Database) exists(ctx context.Context, name string) (bool, error) {
	n, err := d.sql(ctx, "SELECT count(*) FROM pg_database WHERE datname = '"+name+"'")
	return n == "1", err
}

// create makes an empty database of the owner.
func (d Database) create(ctx context.Context, name string) error {
	_, err := d.sql(ctx, fmt.Sprintf(`CREATE DATABASE %q OWNER %q TEMPLATE template0 ENCODING 'UTF8'`, name, d.Owner))
	return err
}

// drop removes a database, whoever still uses it; one that is not there is well.
func (d Database) drop(ctx context.Context, name string) error {
	_, err := d.sql(ctx, fmt.Sprintf(`DROP DATABASE IF EXISTS %q WITH (FORCE)`, name))
	return err
}

// copyTo copies the database inside the server, file by file: as fast as the disk, and as exact. Nobody may use it.
func (d Database) copyTo(ctx context.Context, name string) error {
	_, err := d.sql(ctx, terminate(d.Name),
		fmt.Sprintf(`CREATE DATABASE %q OWNER %q TEMPLATE %q STRATEGY FILE_COPY`, name, d.Owner, d.Name))
	return err
}

// rename gives a database another name, whoever uses it.
func (d Database) rename(ctx context.Context, from, to string) error {
	_, err := d.sql(ctx, terminate(from), fmt.Sprintf(`ALTER DATABASE %q RENAME TO %q`, from, to))
	return err
}

func terminate(name string) string {
	return "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = '" + name + "' AND pid <> pg_backend_pid()"
}

// leftovers lists databases that earlier runs left: those of the live one's name with one of the updater's endings.
func (d Database) leftovers(ctx context.Context) ([]string, error) {
	list, err := d.sql(ctx, `SELECT datname FROM pg_database WHERE datname ~ '^`+d.Name+`_(trial|before|failed)_[0-9]{8}t[0-9]{6}_[a-z0-9]{6}$'`)
	return strings.Fields(list), err
}

func (r *run) database(kind string) string {
	return r.cfg.Database.Name + "_" + kind + "_" + strings.ToLower(r.id)
}

// trialDatabase is where migrations are tried, beforeDatabase the copy of the live one before them, failedDatabase the
// live one that was put aside.
func (r *run) trialDatabase() string  { return r.database("trial") }
func (r *run) beforeDatabase() string { return r.database("before") }
func (r *run) failedDatabase() string { return r.database("failed") }
