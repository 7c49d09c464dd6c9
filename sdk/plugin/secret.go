package plugin

import "fmt"

// Secret is a string that formats and marshals as a placeholder. Convert it to string to use it.
type Secret string

const hidden = "[secret]"

// String hides the secret.
func (Secret) String() string { return hidden }

// GoString hides the secret.
func (Secret) GoString() string { return hidden }

// Format hides the secret from every verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(hidden)) }

// MarshalText hides the secret from JSON and other encoders.
func (Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }
