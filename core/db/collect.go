package db

import (
	"fmt"

	"github.com/jackc/pgx/v5"
)

// MaxList is the maximum size in bytes of the rows that CollectRows reads, as
// PostgreSQL sends them.
const MaxList = 32 << 20

// ListTooLarge is the error of a list that exceeds MaxList.
type ListTooLarge struct {
	// Fits is how many rows fit; 0 if a shorter page does not make the list shorter.
	Fits int
}

// Error implements error.
func (e *ListTooLarge) Error() string {
	return fmt.Sprintf("the list exceeds %d MiB: only %d rows fit", MaxList>>20, e.Fits)
}

// CollectRows works like pgx.CollectRows, but returns ListTooLarge as soon as
// the rows exceed MaxList. Use it for lists of any length.
func CollectRows[T any](rows pgx.Rows, read pgx.RowToFunc[T]) ([]T, error) {
	defer rows.Close()
	all, size := []T{}, 0
	for rows.Next() {
		for _, value := range rows.RawValues() {
			size += len(value)
		}
		if size > MaxList {
			return nil, &ListTooLarge{len(all)}
		}
		one, err := read(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}
