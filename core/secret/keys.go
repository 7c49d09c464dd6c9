package secret

// Keys seals and opens values. Packages that keep secrets need only this part
// of a Box.
type Keys interface {
	// Seal encrypts a text for a place in the database.
	Seal(s String, place Binding) ([]byte, error)
	// Open decrypts what Seal made for that place. The errors are ErrKeyWrong
	// and ErrDecrypt, among others.
	Open(sealed []byte, place Binding) (String, error)
}

var _ Keys = (*Box)(nil)
