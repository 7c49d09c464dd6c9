package secret

// Keys seals and opens values: what a noun that keeps secrets needs of a Box.
type Keys interface {
	// Seal encrypts a text for a place in the database.
	Seal(s String, place Binding) ([]byte, error)
	// Open decrypts what Seal made for that place. The errors are ErrKeyWrong and ErrNotOpened, among others.
	Open(sealed []byte, place Binding) (String, error)
}

var _ Keys = (*Box)(nil)
