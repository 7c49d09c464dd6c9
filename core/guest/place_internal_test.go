package guest

import (
	"testing"

	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Where the numbers up to the highest are all in use, the search for another one ends with a fault.
func TestNoFreeNumber(t *testing.T) {
	t.Parallel()
	for highest, want := range map[int64]string{999_999_999: "999999999", 999_999_998: "", 0: "999999999"} {
		number := int64(999_999_997)
		p := place{number: "vmid", Placement: hypervisor.Placement{ID: "999999997", Number: &number,
			Limits: hypervisor.GuestLimits{MinNumber: 100, MaxNumber: highest}}}
		p.avoid([]string{"999999997", "999999998"}, false)
		switch err := p.err(); {
		case want == "" && problem.CodeOf(err) != problem.CodeInvalid:
			t.Errorf("highest %d: %v, and the number %s", highest, err, p.ID)
		case want != "" && (err != nil || string(p.ID) != want || *p.Number != 999_999_999):
			t.Errorf("highest %d: %v, and the number %s instead of %s", highest, err, p.ID, want)
		}
	}
}
