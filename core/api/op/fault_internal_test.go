package op

import "testing"

func TestFaultsArePlain(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		"expected number >= 1":                     "must be at least 1",
		"expected number <= 1e+06":                 "must be at most 1000000",
		"expected number > 0":                      "must be greater than 0",
		"expected number < 100":                    "must be less than 100",
		"expected number to be a multiple of 1024": "must be a multiple of 1024",
		"expected number":                          "must be a number",
		"expected integer":                         "must be a whole number",
		"expected length >= 1":                     "must not be empty",
		"expected length >= 8":                     "must have at least 8 characters",
		"expected length <= 63":                    "must have at most 63 characters",
		"expected array length >= 1":               "must not be empty",
		"expected array length <= 500":             "must have at most 500 entries",
		"expected string":                          "expected string",
	} {
		if got, kind := plain(message); got != want || kind == "value_error" {
			t.Errorf("%q is told as %q, %s, want %q", message, got, kind, want)
		}
	}
}
