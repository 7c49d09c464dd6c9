package plugin

import "fmt"

// Secret is a string that prints and marshals as a placeholder, with every verb of
// fmt and in JSON. Convert it to string to use it.
type Secret string

// hidden is the placeholder.
const hidden = "[secret]"

// String returns the placeholder.
func (Secret) String() string { return hidden }

// GoString returns the placeholder, for %#v.
func (Secret) GoString() string { return hidden }

// Format writes the placeholder for every verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(hidden)) }

// MarshalText returns the placeholder, for JSON and other encoders.
func (Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }
