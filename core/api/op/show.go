package op

// Show makes the answer that shows one thing in the words of the API, from what a noun's method returns:
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

// ShowList is Show for a page of a list and the number of all its entries.
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
