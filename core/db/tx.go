package db

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/gorm"
)

// Tx is one transaction, seen by gorm and by pgx at once. It is valid until the
// function it was given to returns.
type Tx struct {
	*gorm.DB
	// Pgx is the same transaction for River's InsertTx and for COPY.
	Pgx pgx.Tx

	committed []func()
}

// OnCommit has f called once it is certain that the transaction was committed,
// before DB.Tx returns. It is not called for a transaction that was undone, or
// whose outcome is not known.
func (tx *Tx) OnCommit(f func()) { tx.committed = append(tx.committed, f) }

// Tx runs fn in a transaction: it commits when fn returns nil and rolls back
// when fn fails or panics. fn must not do network calls other than to the
// database, must not take another connection (it would wait for one while it
// holds one), and must not keep the Tx. It is called again when PostgreSQL gave
// the transaction up for another one, see Retryable: what it leaves outside the
// database must not add up.
//
// Nil means that it was committed, also where the connection broke in the
// commit and PostgreSQL said so afterwards. An error means that it was not,
// except for one in which UnsettledOutcome finds something: then nobody knows yet. The
// end of ctx undoes a transaction whose commit has not begun; a commit that has
// begun is seen through, see Config.CommitLimit.
func (d *DB) Tx(ctx context.Context, fn func(tx *Tx) error) error {
	conn, err := d.SQL.Conn(ctx)
	if err != nil {
		return Problem(acquiring(ctx, err))
	}
	defer func() { _ = conn.Close() }()
	// database/sql hands out its driver's connection only here. It stays ours
	// until conn is closed, and gorm's statements through conn then run inside
	// the transaction that pgx began on it.
	var raw *stdlib.Conn
	err = conn.Raw(func(driver any) error {
		var ok bool
		if raw, ok = driver.(*stdlib.Conn); !ok {
			return fmt.Errorf("the database driver is %T, not pgx", driver)
		}
		return nil
	})
	if err != nil {
		return Problem(fmt.Errorf("reaching the connection: %w", err))
	}
	return Problem(retry(ctx, func() error { return d.runTx(ctx, conn, raw, fn) }))
}

// runTx runs fn in a transaction. It commits if fn returns nil.
func (d *DB) runTx(ctx context.Context, conn *sql.Conn, raw *stdlib.Conn, fn func(tx *Tx) error) error {
	tx, err := raw.Conn().Begin(ctx)
	if err != nil {
		return fmt.Errorf("beginning a transaction: %w", err)
	}
	// After a commit this does nothing. The request's context may be over; the
	// roll-back must reach the server all the same, and a connection on which
	// it fails is thrown away by the pool.
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	session := d.gorm.Session(&gorm.Session{NewDB: true, Context: ctx, SkipDefaultTransaction: true})
	session.Statement.ConnPool = conn
	seen := &Tx{DB: session, Pgx: tx}
	if err := fn(seen); err != nil {
		return err
	}
	if err := d.commit(ctx, raw.Conn(), tx); err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	for _, f := range seen.committed {
		f()
	}
	return nil
}
