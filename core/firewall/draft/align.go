package draft

import "slices"

// pair is an element that two lists have in common, by its indexes in both.
type pair struct{ from, to int }

// align finds a longest common subsequence of two lists and returns its
// elements as pairs. If there are several, it skips elements of to rather than
// of from. The algorithm is Hirschberg's (Communications of the ACM 18, 1975):
// time in the product of the lengths, but memory only in their sum. A table for
// two lists of ten thousand rules would need 400 MB.
func align[T comparable](from, to []T) []pair {
	known := map[T]int32{}
	number := func(list []T) []int32 {
		all := make([]int32, len(list))
		for i, element := range list {
			n, is := known[element]
			if !is {
				n = int32(len(known))
				known[element] = n
			}
			all[i] = n
		}
		return all
	}
	a := &alignment{from: number(from), to: number(to), common: make([]int32, len(to)+1), cross: make([]int32, len(to)+1)}
	a.between(0, len(from), 0, len(to))
	return a.pairs
}

// alignment is the state of align, with numbers in place of the elements.
type alignment struct {
	from, to []int32
	pairs    []pair
	// common and cross are the columns of one row of a table that is never held
	// as a whole: how many elements from[row:] and to[column:] have in common,
	// and where the way from there meets the row in the middle.
	common, cross []int32
}

// between pairs from[i:n] with to[j:m]. It finds where a best path through the
// table crosses the middle row, and continues with both halves.
func (a *alignment) between(i, n, j, m int) {
	for i < n && j < m && a.from[i] == a.to[j] {
		a.pairs = append(a.pairs, pair{i, j})
		i, j = i+1, j+1
	}
	switch {
	case i == n || j == m:
		return
	case i+1 == n:
		if at := slices.Index(a.to[j:m], a.from[i]); at >= 0 {
			a.pairs = append(a.pairs, pair{i, j + at})
		}
		return
	}
	to, common, cross := a.to[j:m], a.common[:m-j+1], a.cross[:m-j+1]
	clear(common)
	half := (i + n) / 2
	for row := n - 1; row >= i; row-- {
		diagonal, diagonalCross := common[len(to)], cross[len(to)]
		for c := len(to) - 1; c >= 0; c-- {
			below, belowCross := common[c], cross[c]
			switch {
			case a.from[row] == to[c]:
				common[c], cross[c] = diagonal+1, diagonalCross
			case common[c+1] >= below:
				common[c], cross[c] = common[c+1], cross[c+1]
			}
			diagonal, diagonalCross = below, belowCross
		}
		if row == half {
			for c := range cross {
				cross[c] = int32(c)
			}
		}
	}
	at := j + int(cross[0])
	a.between(i, half, j, at)
	a.between(half, n, at, m)
}
