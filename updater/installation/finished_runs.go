package installation

// FinishedRuns are all runs at their end that the end of the journal tells of, the oldest first, and after them the request
// that was refused last.
func FinishedRuns(stateDir string) ([]Status, error) {
	lines, err := ReadJournal(Journal(stateDir))
	if err != nil {
		return nil, err
	}
	var runs []Status
	for len(lines) > 0 {
		n := 1
		for n < len(lines) && lines[n].Run == lines[0].Run {
			n++
		}
		if s := summary(lines[:n]); !s.FinishedAt.IsZero() {
			runs = append(runs, *s)
		}
		lines = lines[n:]
	}
	refused, err := readRefusal(stateDir)
	if err == nil && refused != nil {
		runs = append(runs, *refused.status())
	}
	return runs, err
}

// WatchedFiles are the files that change whenever FinishedRuns does.
func WatchedFiles(stateDir string) []string {
	return []string{Journal(stateDir), refusalPath(stateDir)}
}
