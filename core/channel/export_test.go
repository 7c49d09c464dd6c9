package channel

// Hook has f called before and after each sending.
func (s *Store) Hook(f func(point string)) { s.hook = f }

// Prune is prune.
var Prune = (*Store).prune
