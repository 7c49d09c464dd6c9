package pve

import "testing"

// The lines are those of real tasks, but for the last ones.
func TestShareOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{
		"transferred 0.0 B of 2.0 GiB (0.00%)":                            0,
		"transferred 20.5 MiB of 2.0 GiB (1.00%)":                         0.01,
		"drive-scsi0: transferred 1.0 GiB of 32.0 GiB (3.12%) in 5s":      0.0312,
		"transferred 2.0 GiB of 2.0 GiB (100.00%)":                        1,
		"INFO:   3% (1.0 GiB of 32.0 GiB) in 3s, read: 341.3 MiB/s":       0.03,
		"INFO: 100% (32.0 GiB of 32.0 GiB) in 1m 2s, read: 1.0 GiB/s":     1,
		"progress 42% (read 14431090114 bytes, duration 21 sec)":          0.42,
		"migration active, transferred 512.0 MiB of 4.0 GiB VM-state":     0,
		"INFO: backup is sparse: 22.43 GiB (70%) total zero data":         0,
		"  WARNING: Sum of all thin volume sizes exceeds the pool (120%)": 0,
		"TASK OK":                         0,
		"":                                0,
		"progress 999% ":                  1,
		"transferred (99999999999999%)":   0,
		"INFO: " + "9999999999999999999%": 0,
	} {
		if got := shareOf(text); got != want {
			t.Errorf("%q tells %v, want %v", text, got, want)
		}
	}
}
