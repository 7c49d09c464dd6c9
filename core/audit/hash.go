package audit

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"

	"github.com/jackc/pgx/v5"
)

// digest is an HMAC-SHA256 (RFC 2104).
type digest [sha256.Size]byte

// hashed are the columns that the hash of a row covers: all of them, in this
// order for ever. If a later release adds a column, rows with it need another
// domain.
const hashed = "a.id, a.at, a.actor_type, a.actor_id, a.actor_email, a.action, a.target_kind, a.target_id, a.target_name, " +
	"a.team_id, a.host_id, a.job_id, a.result, a.error, a.address, a.request_id, a.details::text"

// rowOfEach joins the audit row to a table's audit_id, with one look-up for
// each. OFFSET keeps the planner from reading the whole audit log for one page.
func rowOfEach(table string) string {
	return "LEFT JOIN LATERAL (SELECT * FROM audit WHERE id = " + table + ".audit_id OFFSET 0) a ON true"
}

// These domains begin the hashed data, so that no hash can be taken for one of
// another purpose.
const (
	domainRow    = "hostler audit row 1"
	domainHead   = "hostler audit head 1"
	domainAnchor = "hostler audit anchor 1"
	domainBlank  = "hostler audit blank 1"
)

// hasher makes hashes with the chain's key. It is not safe for concurrent use.
type hasher struct {
	key   []byte
	mac   hash.Hash
	small []byte
}

// newHasher returns a hasher with the key of the chain.
func newHasher(key []byte) *hasher { return &hasher{key: key, mac: hmac.New(sha256.New, key)} }

// clone returns a hasher for another goroutine.
func (h *hasher) clone() *hasher { return newHasher(h.key) }

// sum returns the hash of what was written.
func (h *hasher) sum() (d digest) {
	h.mac.Sum(d[:0])
	return d
}

// begin starts a hash. The domain keeps a hash of one purpose from being
// accepted for another one.
func (h *hasher) begin(domain string, numbers ...int64) {
	h.mac.Reset()
	h.small = append(h.small[:0], domain...)
	h.small = append(h.small, 0)
	for _, n := range numbers {
		h.small = binary.BigEndian.AppendUint64(h.small, uint64(n))
	}
	h.mac.Write(h.small)
}

// row returns the hash of a place: of its number, the hash before, and the
// columns in hashed, in PostgreSQL's binary format: integers of 8 bytes, times
// as microseconds since 2000 in UTC, text in UTF-8. Each has its length in
// front, and null has a length that no value has. A missing row has only nulls.
func (h *hasher) row(seq int64, previous digest, columns [][]byte) digest {
	h.begin(domainRow, seq)
	h.mac.Write(previous[:])
	for _, column := range columns {
		length := uint32(len(column))
		if column == nil {
			length = 1<<32 - 1
		}
		h.small = binary.BigEndian.AppendUint32(h.small[:0], length)
		h.mac.Write(h.small)
		h.mac.Write(column)
	}
	return h.sum()
}

// head returns the hash of the end of the chain.
func (h *hasher) head(seq int64, last digest) digest {
	h.begin(domainHead, seq)
	h.mac.Write(last[:])
	return h.sum()
}

// anchor returns the hash of a range of rows that were removed.
func (h *hasher) anchor(first, last int64, end digest) digest {
	h.begin(domainAnchor, first, last)
	h.mac.Write(end[:])
	return h.sum()
}

// binaryResults asks for every column in binary.
var binaryResults = pgx.QueryResultFormats{pgx.BinaryFormatCode}

// isBinary refuses a result in text format, whose times and numbers would have
// other hashes.
func isBinary(rows pgx.Rows) error {
	for _, column := range rows.FieldDescriptions() {
		if column.Format != pgx.BinaryFormatCode {
			return errors.New("the connection does not return binary results: the database URL must not set a query mode that prevents " +
				"them")
		}
	}
	return nil
}

// int8 reads a column of type bigint that is not null.
func int8(raw []byte) int64 { return int64(binary.BigEndian.Uint64(raw)) }
