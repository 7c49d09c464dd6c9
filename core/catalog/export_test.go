package catalog

// Hook has f called at named points of a sync: "verified" before anything is written, "applied" before the transaction ends.
func (s *Store) Hook(f func(point string)) { s.hook = f }
