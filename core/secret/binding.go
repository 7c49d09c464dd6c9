package secret

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// Binding is the place to which a sealed value belongs. It is not stored with
// the value, and is needed to open it.
type Binding struct {
	Table, Column string
	// Row names the row by a key that never changes; see Row for keys of several columns.
	Row string
}

// Row joins the columns of a row's key so that no two keys become equal.
func Row(key ...any) string {
	escape := strings.NewReplacer("%", "%25", "/", "%2F")
	parts := make([]string, len(key))
	for i, k := range key {
		parts[i] = escape.Replace(fmt.Sprint(k))
	}
	return strings.Join(parts, "/")
}

// check refuses a binding with an empty part: two secrets could then be
// exchanged for each other.
func (b Binding) check() error {
	if b.Table == "" || b.Column == "" || b.Row == "" {
		return errors.New("a secret needs table, column and row to be bound to")
	}
	return nil
}

// associated returns the data that the cipher authenticates besides the value:
// the header of the sealed value and the place, each with its length in front.
// Without the lengths two different places could give the same bytes.
func (b Binding) associated(header []byte) []byte {
	data := []byte("hostler sealed value")
	for _, part := range []string{string(header), b.Table, b.Column, b.Row} {
		data = binary.BigEndian.AppendUint32(data, uint32(len(part)))
		data = append(data, part...)
	}
	return data
}
