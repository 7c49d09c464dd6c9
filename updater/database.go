package updater

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/hostler/hostler/updater/installation"
)

// Database is the service's database, reached by PostgreSQL's own programs,
// which must have the server's version or a newer one. They never get a
// password: they use peer authentication, or trust in tests.
type Database installation.Database

// databaseName is the form of names that need no quotes and no escapes
// anywhere.
var databaseName = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)

// databaseRoom is the length of what the names of the updater's databases add
// to the service's.
const databaseRoom = len("_failed_20060102t150405_abcdef")

// check refuses a configuration with which names of databases could not be
// made: PostgreSQL cuts names at 63 bytes without a word, and two of them could
// become the same.
func (d Database) check() error {
	for _, name := range []string{d.Name, d.Owner, d.Admin} {
		if !databaseName.MatchString(name) {
			return errors.New("the names of the database, its owner and the administrator must have only lower-case letters, digits and " +
				"underscores")
		}
	}
	if len(d.Name)+databaseRoom > 63 {
		return errors.New("the name of the database is too long to derive the names of its copies")
	}
	if d.Host == "" || d.Port < 1 || d.Port > 65535 {
		return errors.New("the database needs a host and a port")
	}
	return nil
}

// environment returns the environment for libpq.
func (d Database) environment(role, name string) []string {
	return []string{
		"PGHOST=" + d.Host, "PGPORT=" + strconv.Itoa(d.Port), "PGUSER=" + role, "PGDATABASE=" + name,
		"PGCONNECT_TIMEOUT=10", "PGAPPNAME=" + d.application(), "PGTZ=UTC",
	}
}

// application is the name of the updater's connections at the server, which
// cuts a longer name.
func (d Database) application() string { return "hostler-updater " + d.Name }

// url returns a connection string for the service.
func (d Database) url(name string) string {
	u := url.URL{Scheme: "postgres", Path: "/" + name, User: url.User(d.Owner)}
	u.RawQuery = url.Values{"host": {d.Host}, "port": {strconv.Itoa(d.Port)}}.Encode()
	return u.String()
}

// owner returns a program that runs as the owner of the database.
func (d Database) owner(name, program string, args ...string) command {
	return command{as: d.OwnerUser, env: d.environment(d.Owner, name), name: program, args: args}
}

// admin returns a program that runs as the administrator. Its connections look
// up names only in pg_catalog: if everybody may create objects in the schema
// public of the database postgres, as on servers from before PostgreSQL 15, a
// role could place an operator there that a bare name finds. They also do not
// wait for locks for ever.
func (d Database) admin(program string, args ...string) command {
	return command{as: d.AdminUser, env: append(d.environment(d.Admin, "postgres"), "PGOPTIONS=-c search_path= -c lock_timeout=20s"),
		name: program, args: args}
}

// sql runs statements as the administrator, each in a separate transaction, and
// stops at the first error.
func (d Database) sql(ctx context.Context, statements ...string) (string, error) {
	args := []string{"--no-psqlrc", "--quiet", "--no-align", "--tuples-only", "--set=ON_ERROR_STOP=1"}
	for _, s := range statements {
		args = append(args, "--command="+s)
	}
	return d.admin("psql", args...).output(ctx)
}

// names lists the databases whose name is the live one's or begins with it.
func (d Database) names(ctx context.Context) ([]string, error) {
	list, err := d.sql(ctx, `SELECT datname FROM pg_database WHERE datname ~ '^`+d.Name+`(_|$)'`)
	if err != nil {
		return nil, fmt.Errorf("listing the databases: %w", err)
	}
	return strings.Fields(list), nil
}

// silence ends the statements of an updater that was killed: the server
// continues them although the program is gone. The caller holds the lock, so
// that there is no other updater.
func (d Database) silence(ctx context.Context) error {
	_, err := d.sql(ctx, "SELECT count(pg_terminate_backend(pid, 30000)) FROM pg_stat_activity WHERE application_name = '"+d.application()+
		"' AND pid <> pg_backend_pid()")
	return err
}

// create creates an empty database of the owner to which nobody else can
// connect.
func (d Database) create(ctx context.Context, name string) error {
	_, err := d.sql(ctx, fmt.Sprintf(`CREATE DATABASE %q OWNER %q TEMPLATE template0 ENCODING 'UTF8'`, name, d.Owner), closed(name))
	return err
}

// closed is the statement that lets nobody but owner and superusers in.
func closed(name string) string { return fmt.Sprintf(`REVOKE ALL ON DATABASE %q FROM PUBLIC`, name) }

// admit gives everybody access to a database who has it to another one: the
// database that replaces the live one must be as open.
func (d Database) admit(ctx context.Context, like, name string) error {
	_, err := d.sql(ctx, admission(like, name))
	return err
}

// admission is the statement that gives a database the same rights of
// connection as another one.
func admission(like, name string) string {
	return fmt.Sprintf(`DO $do$ DECLARE of record; BEGIN
		FOR of IN SELECT privilege_type, is_grantable, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(rolname) END AS who
			FROM pg_database, aclexplode(coalesce(datacl, acldefault('d', datdba))) AS acl LEFT JOIN pg_roles r ON r.oid = grantee
			WHERE datname = '%s' AND grantee <> datdba
		LOOP
			EXECUTE format('GRANT %%s ON DATABASE %%I TO %%s', of.privilege_type, '%s',
			of.who) || CASE WHEN of.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END;
		END LOOP;
	END $do$`, like, name)
}

// drop drops a database, also while it is used. A missing one is no error.
func (d Database) drop(ctx context.Context, name string) error {
	_, err := d.sql(ctx, terminate(name), fmt.Sprintf(`DROP DATABASE IF EXISTS %q WITH (FORCE)`, name))
	return err
}

// copy copies a database inside the server, file by file. Nobody may use it
// meanwhile. The server does not copy the rights.
func (d Database) copy(ctx context.Context, from, to string) error {
	_, err := d.sql(ctx, terminate(from), fmt.Sprintf(`CREATE DATABASE %q OWNER %q TEMPLATE %q STRATEGY FILE_COPY`, to, d.Owner, from),
		closed(to), admission(from, to))
	return err
}

// renameTries is how often somebody may reconnect between the end of all
// sessions and the renaming.
const renameTries = 5

// rename renames a database, also while it is used.
func (d Database) rename(ctx context.Context, from, to string) (err error) {
	for range renameTries {
		_, err = d.sql(ctx, terminate(from), fmt.Sprintf(`ALTER DATABASE %q RENAME TO %q`, from, to))
		if err == nil || !strings.Contains(err.Error(), "is being accessed by other users") && !strings.Contains(err.Error(), "lock timeout") {
			return err
		}
	}
	return err
}

// terminate ends all sessions that use a database, and those in other databases
// that keep it locked, for example by an open transaction that comments on it.
// A session may outlive the program that began it.
func terminate(name string) string {
	return `SELECT count(pg_terminate_backend(pid)) FROM (
		SELECT pid FROM pg_stat_activity WHERE datname = '` + name + `'
		UNION SELECT l.pid FROM pg_locks l JOIN pg_database d ON d.oid = l.objid
			WHERE d.datname = '` + name + `' AND l.locktype = 'object' AND l.classid = 'pg_database'::regclass) AS users WHERE pid <> ` +
		`pg_backend_pid()`
}

// leftover finds the databases that runs of the updater leave.
var leftover = regexp.MustCompile(`^_(trial|before|failed)_([0-9]{8}t[0-9]{6}_[a-z0-9]{6})$`)

// left parses a name: which kind of database the updater made for which run.
// kind is empty for every other name.
func (d Database) left(name string) (kind, run string) {
	if parts := leftover.FindStringSubmatch(strings.TrimPrefix(name, d.Name)); parts != nil {
		return parts[1], parts[2]
	}
	return "", ""
}

// database gives the name of a database of this run.
func (r *run) database(kind string) string {
	return r.cfg.Database.Name + "_" + kind + "_" + strings.ToLower(r.id)
}

// trialDatabase is where migrations are tried.
func (r *run) trialDatabase() string { return r.database("trial") }

// beforeDatabase is where the backup is restored for a comparison and for the
// way back.
func (r *run) beforeDatabase() string { return r.database("before") }

// failedDatabase is the name under which a failed run's data stays, for who
// looks for the cause.
func (r *run) failedDatabase() string { return r.database("failed") }
