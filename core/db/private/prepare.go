package private

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// prepare creates the role and the database of the service if they do not
// exist. It runs at each start, so that a start that was killed between the two
// is completed by the next one.
func (c *Cluster) prepare(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	conn, err := c.connect(ctx, c.connection(Superuser, "postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	// A killed service's session goes on making the database for a moment; it holds this lock meanwhile.
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock(hashtext('hostler prepare'))"); err != nil {
		return fmt.Errorf("waiting for an earlier start: %w", err)
	}
	var role, database bool
	err = conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1), EXISTS (SELECT FROM pg_database WHERE datname = $2)`,
		Role, Database).Scan(&role, &database)
	if err != nil {
		return fmt.Errorf("checking for the service's database: %w", err)
	}
	if !role {
		if _, err := conn.Exec(ctx, "CREATE ROLE "+Role+" LOGIN"); err != nil {
			return fmt.Errorf("creating the service's database role: %w", diskFull(err))
		}
	}
	if !database {
		if _, err := conn.Exec(ctx, "CREATE DATABASE "+Database+" OWNER "+Role); err != nil {
			return fmt.Errorf("creating the service's database: %w", diskFull(err))
		}
	}
	return nil
}

// connect opens a connection and checks the system identifier, to prove that
// the cluster is ours.
func (c *Cluster) connect(ctx context.Context, url string) (*pgx.Conn, error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("connecting to the private cluster: %w", err)
	}
	var system string
	err = conn.QueryRow(ctx, "SELECT system_identifier::text FROM pg_control_system()").Scan(&system)
	switch {
	case err != nil:
		err = fmt.Errorf("reading the identifier of the private cluster: %w", err)
	case system != c.marker.SystemIdentifier:
		err = fmt.Errorf("%w: cluster %s answered, but ours is %s; nothing was changed", ErrForeign, system, c.marker.SystemIdentifier)
	default:
		return conn, nil
	}
	return nil, errors.Join(err, conn.Close(context.WithoutCancel(ctx)))
}

// diskFull wraps PostgreSQL's error disk_full (SQLSTATE 53100) in ErrNoSpace.
func diskFull(err error) error {
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == "53100" {
		return fmt.Errorf("%w: free some space or move the state folder (%w)", ErrNoSpace, err)
	}
	return err
}
