package selfupdate

// Shape is how the store takes the service to be installed.
func (s *Store) Shape() Shape { return s.shape }
