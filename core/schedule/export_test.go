package schedule

// SetHook calls fn after the checks of a due schedule, before the transaction that starts its job.
func (s *Store) SetHook(fn func(id int64)) { s.hook = fn }
