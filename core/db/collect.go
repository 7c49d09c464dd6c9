package db

import (
	"fmt"

	"github.com/jackc/pgx/v5"
)

// MaxList is the most that CollectRows reads, in bytes as the server sends them.
const MaxList = 32 << 20

// ListTooLarge is the error of a list with more than MaxList bytes.
type ListTooLarge struct {
	// Fits is how many of its rows have fewer; 0 where a shorter page does not make the list shorter.
	Fits int
}

func (e *ListTooLarge) Error() string {
	return fmt.Sprintf("a list takes more than %d MiB: %d of its rows take less", MaxList>>20, e.Fits)
}

// CollectRows is pgx.CollectRows for lists of any length: one with more than MaxList bytes is the error ListTooLarge, and takes no more
// memory than that.
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
