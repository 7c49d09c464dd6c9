package identity

// FillSlots takes every slot for hashing that strangers have, as a flood of them does, until release.
func (s *Store) FillSlots() (release func()) {
	for range cap(s.hasher.slots) {
		s.hasher.slots <- struct{}{}
	}
	return func() {
		for range cap(s.hasher.slots) {
			<-s.hasher.slots
		}
	}
}
