package feed

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// position is a snapshot in the form of PostgreSQL's type pg_snapshot. Changes
// of transactions that are visible in it were reported.
type position struct {
	text string
	// Those below min are visible, those from max on are not; in between all
	// are but those of running, which is sorted.
	min, max uint64
	running  []uint64
}

// parsePosition reads xmin:xmax:xip,xip,….
func parsePosition(text string) (position, error) {
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		return position{}, fmt.Errorf("a snapshot of %d parts", len(parts))
	}
	p := position{text: text}
	var err error
	if p.min, err = strconv.ParseUint(parts[0], 10, 63); err != nil {
		return position{}, fmt.Errorf("reading a snapshot: %w", err)
	}
	if p.max, err = strconv.ParseUint(parts[1], 10, 63); err != nil {
		return position{}, fmt.Errorf("reading a snapshot: %w", err)
	}
	if p.min == 0 || p.max < p.min {
		return position{}, fmt.Errorf("the snapshot ends before it begins")
	}
	if parts[2] == "" {
		return p, nil
	}
	last := uint64(0)
	for one := range strings.SplitSeq(parts[2], ",") {
		xid, err := strconv.ParseUint(one, 10, 63)
		if err != nil {
			return position{}, fmt.Errorf("reading a snapshot: %w", err)
		}
		if xid < p.min || xid >= p.max || xid <= last {
			return position{}, fmt.Errorf("the snapshot has a transaction out of range or out of order")
		}
		p.running, last = append(p.running, xid), xid
	}
	return p, nil
}

// saw reports whether the transaction is visible.
func (p position) saw(xid uint64) bool {
	if xid < p.min || xid >= p.max {
		return xid < p.min
	}
	_, runs := slices.BinarySearch(p.running, xid)
	return !runs
}

// cursor is a reader's place: the position, the history to which it belongs,
// and the sight.
type cursor struct {
	origin, sight string
	at            position
}

// String is the form that readers keep and send back as Last-Event-ID.
func (c cursor) String() string { return c.origin + "." + c.sight + "." + c.at.text }

// parseCursor reads a text of String.
func parseCursor(text string) (cursor, error) {
	parts := strings.SplitN(text, ".", 3)
	if len(parts) != 3 {
		return cursor{}, fmt.Errorf("a cursor of %d parts", len(parts))
	}
	at, err := parsePosition(parts[2])
	return cursor{parts[0], parts[1], at}, err
}

// key is equal for sights that get the same messages.
func (s Filter) key() string {
	var b strings.Builder
	if s.Visible.All {
		b.WriteString("all")
	} else {
		teams := slices.Clone(s.Visible.Teams)
		slices.Sort(teams)
		for _, team := range slices.Compact(teams) {
			b.WriteString(strconv.FormatInt(team, 10) + ",")
		}
	}
	for _, kind := range Kinds {
		if s.wants(kind) {
			b.WriteString(" " + string(kind))
		}
	}
	if s.Figures {
		b.WriteString(" " + string(Figures))
	}
	return b.String()
}

// digest returns the key in the form for a cursor.
func (s Filter) digest() string {
	sum := sha256.Sum256([]byte(s.key()))
	return hex.EncodeToString(sum[:6])
}

// wants reports whether the reader asked for the kind.
func (s Filter) wants(kind Kind) bool {
	if kind == Figures {
		return s.Figures
	}
	return len(s.Kinds) == 0 || slices.Contains(s.Kinds, kind)
}

// sees reports whether objects of a team are visible. Zero stands for objects
// that only users with a role in the default team see.
func (s Filter) sees(team int64) bool {
	return s.Visible.All || team != 0 && s.Visible.Includes(team)
}
