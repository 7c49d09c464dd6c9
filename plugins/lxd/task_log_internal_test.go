package lxd

import "testing"

func TestProgressLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{
		"Unpack: 42% (9.70MB/s)": 0.42, "50%": 0.5, "rootfs: 100%": 1, "Unpack: 0%": 0, "rootfs: 1.31GB (51.2MB/s)": 0, "x 999%": 1,
		"v1.5%": 0, "99999999999999999999%": 0,
	} {
		if got := progressLine(3, text); got.Share != want || got.N != 3 || got.Text != text {
			t.Errorf("%q is %+v, want %v", text, got, want)
		}
	}
}
