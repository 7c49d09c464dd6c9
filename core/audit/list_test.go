package audit_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
)

func ptr[T any](v T) *T { return &v }

// fill writes a small audit log; the rows' target names are their numbers.
func fill(t *testing.T, d *db.DB) {
	t.Helper()
	for i, e := range []audit.Entry{
		{ActorType: audit.ActorUser, ActorID: ptr(int64(1)), ActorEmail: "anna@example.com", Action: "vm.start", TargetKind: "vm",
			TargetID: "11", TeamID: ptr(int64(2))},
		{ActorType: audit.ActorUser, ActorID: ptr(int64(2)), ActorEmail: "bert@example.com", Action: "vm.stop", TargetID: "12",
			TeamID: ptr(int64(3))},
		{ActorType: audit.ActorAPIKey, ActorID: ptr(int64(1)), ActorEmail: "anna@example.com", Action: "vmx", TargetID: "13"},
		{ActorType: audit.ActorSystem, Action: "owner.create", TargetID: `100%_\`},
		{ActorType: audit.ActorAnonymous, Action: "auth.login", TargetID: "1"},
	} {
		e.TargetName = fmt.Sprint(i)
		e.Result = audit.ResultOK
		if err := d.Tx(t.Context(), func(tx *db.Tx) error { return audit.WriteEntry(tx, e) }); err != nil {
			t.Fatal(err)
		}
		_, err := d.Pool.Exec(t.Context(), "UPDATE audit SET at = $1 WHERE target_name = $2",
			time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC), e.TargetName)
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestListFilters(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	fill(t, d)
	day := func(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }
	for name, test := range map[string]struct {
		filter audit.Filter
		want   []string
	}{
		"all, newest first":       {audit.Filter{}, []string{"4", "3", "2", "1", "0"}},
		"action":                  {audit.Filter{Action: "vm.start"}, []string{"0"}},
		"action prefix":           {audit.Filter{Action: "vm.*"}, []string{"1", "0"}},
		"action star inside":      {audit.Filter{Action: "v*.start"}, nil},
		"action is no pattern":    {audit.Filter{Action: "vm_start"}, nil},
		"prefix is no pattern":    {audit.Filter{Action: "v_*"}, nil},
		"prefix with percent":     {audit.Filter{Action: "%*"}, nil},
		"every action":            {audit.Filter{Action: "*"}, []string{"4", "3", "2", "1", "0"}},
		"search action":           {audit.Filter{Search: "LOGIN"}, []string{"4"}},
		"search email":            {audit.Filter{Search: "Anna@"}, []string{"2", "0"}},
		"search target id":        {audit.Filter{Search: "12"}, []string{"1"}},
		"search percent":          {audit.Filter{Search: "%"}, []string{"3"}},
		"search underscore":       {audit.Filter{Search: "_"}, []string{"3"}},
		"search backslash":        {audit.Filter{Search: `\`}, []string{"3"}},
		"search all three":        {audit.Filter{Search: `%_\`}, []string{"3"}},
		"search quote":            {audit.Filter{Search: `'; DROP TABLE audit; --`}, nil},
		"search NUL":              {audit.Filter{Search: "a\x00"}, nil},
		"search invalid UTF-8":    {audit.Filter{Search: "\xff"}, nil},
		"actor type":              {audit.Filter{ActorType: audit.ActorAPIKey}, []string{"2"}},
		"actor":                   {audit.Filter{Actor: ptr(int64(1))}, []string{"2", "0"}},
		"target":                  {audit.Filter{TargetKind: "vm", TargetID: "11"}, []string{"0"}},
		"target of another kind":  {audit.Filter{TargetKind: "app", TargetID: "11"}, nil},
		"target NUL":              {audit.Filter{TargetKind: "vm", TargetID: "1\x00"}, nil},
		"from holds its own time": {audit.Filter{From: day(4)}, []string{"4", "3"}},
		"to does not":             {audit.Filter{To: day(3)}, []string{"1", "0"}},
		"from and to":             {audit.Filter{From: day(2), To: day(4)}, []string{"2", "1"}},
		"together":                {audit.Filter{Action: "vm*", Actor: ptr(int64(1)), ActorType: audit.ActorUser}, []string{"0"}},
	} {
		t.Run(name, func(t *testing.T) {
			test.filter.AllTeams = true
			rows, total, err := audit.List(t.Context(), d, test.filter)
			if err != nil {
				t.Fatal(err)
			}
			if got := names(rows); !slices.Equal(got, test.want) || total != len(test.want) {
				t.Errorf("got %v of %d, want %v", got, total, test.want)
			}
		})
	}
}

func names(rows []audit.Row) []string {
	var got []string
	for _, r := range rows {
		got = append(got, r.TargetName)
	}
	return got
}

func TestListPagesAndTeams(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	fill(t, d)
	for name, test := range map[string]struct {
		filter audit.Filter
		want   []string
		total  int
	}{
		"first page":      {audit.Filter{AllTeams: true, Limit: 2}, []string{"4", "3"}, 5},
		"last page":       {audit.Filter{AllTeams: true, Limit: 2, Offset: 4}, []string{"0"}, 5},
		"beyond the last": {audit.Filter{AllTeams: true, Limit: 2, Offset: 400}, nil, 5},
		"one team":        {audit.Filter{Teams: []int64{2}}, []string{"0"}, 1},
		"two teams":       {audit.Filter{Teams: []int64{2, 3}}, []string{"1", "0"}, 2},
		"no team":         {audit.Filter{}, nil, 0},
		"strange team":    {audit.Filter{Teams: []int64{77}}, nil, 0},
		"team and search": {audit.Filter{Teams: []int64{2}, Search: "example"}, []string{"0"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			rows, total, err := audit.List(t.Context(), d, test.filter)
			if err != nil {
				t.Fatal(err)
			}
			if got := names(rows); !slices.Equal(got, test.want) || total != test.total || rows == nil {
				t.Errorf("got %v of %d, want %v of %d", got, total, test.want, test.total)
			}
		})
	}
}
