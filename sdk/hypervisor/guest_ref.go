package hypervisor

import (
	"unicode"
	"unicode/utf8"
)

// GuestID is the hypervisor's own id of a guest at an endpoint: "101", "customers/web1". It is opaque to the service, which
// shows it and hands it back. At one time no two guests have the same; in time it may come to be another guest's, and
// where guests are renamed a guest may get another. GuestRef.UID tells then.
type GuestID string

// Valid reports whether the id has the form of one: 1 to 255 bytes of printable UTF-8. A guest with another id is not shown, and
// a driver that is given one has no such guest: NotFound or Invalid.
func (id GuestID) Valid() bool { return printable(string(id)) }

// ValidUID reports whether a UID has the form of one, which is that of a GuestID. One of another form counts as none.
func ValidUID(uid string) bool { return printable(uid) }

func printable(s string) bool {
	if len(s) == 0 || len(s) > 255 {
		return false
	}
	for _, r := range s {
		// What stands for bytes that were no text may stand for any.
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

// GuestRef names a guest.
type GuestRef struct {
	Kind GuestKind
	// Node is where the guest was last seen. A driver answers NotFound when it is no longer there.
	Node string
	ID   GuestID
	// UID is the hypervisor's lasting identity of the guest, of either kind: a rename and a move keep it, and no other guest ever
	// has it. It is empty where the hypervisor has none; where it has one, every answer about the guest says it. A driver that is
	// given one answers NotFound when another guest has the ID by now, and does nothing to that.
	UID string
}

// Same reports whether two refs name one guest, wherever it is: by UID where both have one, by kind and ID where not.
func (r GuestRef) Same(other GuestRef) bool {
	if r.UID != "" && other.UID != "" {
		return r.UID == other.UID
	}
	return r.Kind == other.Kind && r.ID == other.ID
}
