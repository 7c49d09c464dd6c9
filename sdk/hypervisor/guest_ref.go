package hypervisor

import (
	"unicode"
	"unicode/utf8"
)

// GuestID is the hypervisor's own ID of a guest at an endpoint, such as "101" or
// "customers/web1". The service displays it and passes it back, but does not
// interpret it.
//
// No two guests have the same ID at the same time. Later the ID may belong to
// another guest, and a renamed guest may get a new one. GuestRef.UID tells such
// guests apart.
type GuestID string

// Valid reports whether the ID is well-formed: 1 to 255 bytes of printable UTF-8.
// The service does not show a guest with a malformed ID. A driver that receives one
// returns NotFound or Invalid.
func (id GuestID) Valid() bool { return printable(string(id)) }

// ValidUID reports whether a UID is well-formed. The rule is that of GuestID.Valid.
// The service treats a malformed UID as no UID.
func ValidUID(uid string) bool { return printable(uid) }

// printable reports whether s has 1 to 255 bytes of printable UTF-8.
func printable(s string) bool {
	if len(s) == 0 || len(s) > 255 {
		return false
	}
	for _, r := range s {
		// RuneError replaces bytes that are not UTF-8. Two different byte strings
		// would become the same ID.
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

// GuestRef identifies a guest.
type GuestRef struct {
	// Kind is VM or Container.
	Kind GuestKind
	// Node is the node on which the guest was last seen. A driver returns NotFound
	// if the guest is no longer there.
	Node string
	// ID is the hypervisor's ID of the guest.
	ID GuestID
	// UID is the lasting identity of the guest. It stays the same after a rename or
	// a migration, and no other guest ever gets it. It is empty if the hypervisor
	// has none. If the hypervisor has UIDs, every answer about a guest contains it.
	//
	// A driver that receives a UID returns NotFound if another guest has the ID
	// now, and does not change that guest.
	UID string
}

// Same reports whether two refs identify the same guest, on any node. It compares
// the UIDs if both have one, and otherwise kind and ID.
func (r GuestRef) Same(other GuestRef) bool {
	if r.UID != "" && other.UID != "" {
		return r.UID == other.UID
	}
	return r.Kind == other.Kind && r.ID == other.ID
}
