package op

// Show returns a function that turns the result of a domain method into the
// answer of the API. view converts the value. An error passes through:
//
//	return op.Show(teamOf)(h.teams.Team(ctx, in.ID))
func Show[T, B any](view func(T) B) func(T, error) (*Body[B], error) {
	return func(thing T, err error) (*Body[B], error) {
		if err != nil {
			return nil, err
		}
		return &Body[B]{Body: view(thing)}, nil
	}
}

// ShowList is Show for one page of a list. The function takes the entries of
// the page and the number of entries on all pages.
func ShowList[T, B any](view func(*T) B) func([]T, int, error) (*List[B], error) {
	return func(found []T, total int, err error) (*List[B], error) {
		if err != nil {
			return nil, err
		}
		list := &List[B]{Total: total, Body: make([]B, len(found))}
		for i := range found {
			list.Body[i] = view(&found[i])
		}
		return list, nil
	}
}
