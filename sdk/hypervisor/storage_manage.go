package hypervisor

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin"
)

// The types of values of a StorageKey.
const (
	StorageText    = "string"
	StorageFlag    = "boolean"
	StorageInteger = "integer"
	// StorageWords are words that a comma separates.
	StorageWords = "list"
)

// StorageKey is a key of the definition of a storage.
type StorageKey struct {
	Name string
	// Type is one of those of values.
	Type string
	// Values are those that there may be; nil for any of the type. Of a list
	// they are those of its words.
	Values []string
	// Min and Max bound integers; nil for no bound. MaxLength bounds texts in
	// characters; 0 for no bound.
	Min, Max  *int64
	MaxLength int64
	// Required keys are given when a storage is attached. Fixed ones cannot be changed later.
	Required bool
	Fixed    bool
	// Secret values are never told again.
	Secret bool
}

// StorageType is a type of storage that can be attached.
type StorageType struct {
	// Name is the hypervisor's word, such as "nfs".
	Name string
	Keys []StorageKey
}

// StorageSetting is a key with its value, which may be a secret. A flag is "1" or "0".
type StorageSetting struct {
	Key   string
	Value plugin.Secret
}

// StorageSpec is a storage to attach.
type StorageSpec struct {
	Name   string
	Type   string
	Config []StorageSetting
}

// StorageDefinition is what the hypervisor knows of a storage apart from its state.
type StorageDefinition struct {
	Name string
	Type string
	// Digest changes when the definition does; it may change with those of other storages.
	Digest string
	// Config has the keys that are set, without those of secrets.
	Config map[string]string
}

// StorageChange is a change of a definition; what is not named stays.
type StorageChange struct {
	Name string
	// Digest is that of the definition that the change was made from; empty takes any.
	Digest string
	Set    []StorageSetting
	// Clear are keys that shall not be set any more.
	Clear []string
}

// StorageManager is satisfied by hosts whose storages can be attached and
// detached. Reading needs the Monitoring capability, all else Lifecycle.
//
// The methods that change something send their request once and never repeat it
// by themselves. No error has the value of a secret in it.
type StorageManager interface {
	// StorageTypes tells which types there are. It asks nobody.
	StorageTypes(ctx context.Context) ([]StorageType, error)
	// StorageDefinition reads one past any cache. An unknown storage is NotFound.
	StorageDefinition(ctx context.Context, name string) (StorageDefinition, error)
	// AttachStorage makes the hypervisor know a storage. A name that is taken
	// is Conflict, a key that does not fit Invalid with its name as the field.
	AttachStorage(ctx context.Context, spec StorageSpec) error
	// EditStorage changes a definition. A stale digest is Conflict with the field "digest".
	EditStorage(ctx context.Context, change StorageChange) error
	// DetachStorage makes the hypervisor forget a storage. What lies on it stays there.
	DetachStorage(ctx context.Context, name string) error
}
