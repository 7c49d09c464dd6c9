package install

// Hook is called at named points of every job: taken, prepared, started, ended, found and cleaned.
func (s *Store) Hook(fn func(point string, jobID int64)) { s.hook = fn }
