package pveapi_test

import (
	"encoding/json"
	"testing"

	"github.com/hostler/hostler/plugins/pve/pveapi"
)

func TestScalarsTakeEveryFormOfAValue(t *testing.T) {
	t.Parallel()
	type values struct {
		N pveapi.Int   `json:"n"`
		F pveapi.Float `json:"f"`
		B pveapi.Flag  `json:"b"`
		S pveapi.Text  `json:"s"`
	}
	whole := func(n int64) *int64 { return &n }
	real := func(f float64) *float64 { return &f }
	for json1, want := range map[string]struct {
		n *int64
		f *float64
		b bool
		s string
	}{
		`1`: {whole(1), real(1), true, "1"}, `"1"`: {whole(1), real(1), true, "1"}, `true`: {whole(1), real(1), true, "1"},
		`0`: {whole(0), real(0), false, "0"}, `"0"`: {whole(0), real(0), false, "0"}, `false`: {whole(0), real(0), false, "0"},
		`null`: {nil, nil, false, ""}, `""`: {nil, nil, false, ""}, `"N/A"`: {nil, nil, false, "N/A"},
		`"1.75"`: {whole(1), real(1.75), false, "1.75"}, `1.75`: {whole(1), real(1.75), true, "1.75"},
		`-3`:          {whole(-3), real(-3), true, "-3"},
		`25276502016`: {whole(25276502016), real(25276502016), true, "25276502016"},
		`1e3`:         {whole(1000), real(1000), true, "1e3"},
		`"on"`:        {nil, nil, true, "on"}, `"yes"`: {nil, nil, true, "yes"}, `"true"`: {nil, nil, true, "true"},
		`"Infinity"`: {nil, nil, false, "Infinity"}, `"nan"`: {nil, nil, false, "nan"}, `"0x10"`: {nil, nil, false, "0x10"},
		`1e400`: {nil, nil, false, "1e400"}, `99999999999999999999`: {nil, real(99999999999999999999), true, "99999999999999999999"},
		`{"a":1}`: {nil, nil, false, ""}, `[1]`: {nil, nil, false, ""}, `" 7 "`: {whole(7), real(7), false, " 7 "},
	} {
		var got values
		if err := json.Unmarshal([]byte(`{"n":`+json1+`,"f":`+json1+`,"b":`+json1+`,"s":`+json1+`}`), &got); err != nil {
			t.Errorf("%s: %v", json1, err)
			continue
		}
		// encoding/json does not call UnmarshalJSON with null for absent members only; both leave the value unset.
		if same(got.N.Ptr(), want.n) && same(got.F.Ptr(), want.f) && bool(got.B) == want.b && string(got.S) == want.s {
			continue
		}
		t.Errorf("%s: got %+v, want %+v", json1, got, want)
	}
}

func same[T comparable](a, b *T) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}
