package op_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"

	"github.com/hostler/hostler/core/api/op"
)

// worstBodies are bodies of about n bytes, each with the most work for its size of one kind. Those of the second group
// fit their schema and are read to the end.
func worstBodies(n int) map[string]string {
	repeat := func(head, piece, tail string) string {
		return head + strings.Repeat(piece, n/len(piece)) + tail
	}
	count := func(head, format, tail string) string {
		var b strings.Builder
		b.WriteString(head)
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, format, i)
		}
		b.WriteString(tail)
		return b.String()
	}
	const open, end = `{"name":"a","options":{"x":`, `}}`
	return map[string]string{
		"unknown keys":           count(`{"name":"a"`, `,"%x":1`, `}`),
		"unknown keys with dots": count(`{"name":"a"`, `,"%x.y[":1`, `}`),
		"bad items":              repeat(`{"name":"a","items":[{}`, `,{}`, `]}`),
		"items of unknown keys":  repeat(`{"name":"a","items":[{}`, `,{"size":"x","y.z":{}}`, `]}`),
		"one key many times":     repeat(`{"name":"a"`, `,"name":"a"`, `}`),
		"long name":              repeat(`{"name":"`, `a`, `"}`),
		"long text by a pattern": repeat(`{"name":"a","secret":"`, `a`, `"}`),
		"long address":           repeat(`{"name":"a","mail":"`, `\"<@`, `"}`),
		"name of escapes":        repeat(`{"name":"`, `\u00e9`, `"}`),
		"lone surrogates":        repeat(open+`[""`, `,"\ud800"`, `]`+end),
		"NULs":                   repeat(open+`"`, `\u0000`, `"`+end),
		"open brackets":          repeat(``, `[`, ``),
		"cut off":                repeat(open+`[0`, `,0`, ``),
		"something follows":      repeat(open+`[0`, `,0`, `]`+end+`,`),

		"spaces":             repeat(`{"name":"a"`, ` `, `}`),
		"numbers":            repeat(open+`[0`, `,0`, `]`+end),
		"long numbers":       repeat(open+`[0`, `,123456789012345678`, `]`+end),
		"fractions":          repeat(open+`[0`, `,1.234567890123456789e-12`, `]`+end),
		"one long fraction":  repeat(open+`0.`, `7`, end),
		"texts":              repeat(open+`[""`, `,""`, `]`+end),
		"long text":          repeat(open+`"`, `é`, `"`+end),
		"escapes":            repeat(open+`"`, `\u00e9\n`, `"`+end),
		"keys":               count(`{"name":"a","options":{"":0`, `,"%x":0`, end),
		"keys of escapes":    count(`{"name":"a","options":{"":0`, `,"\u00e9%x":0`, end),
		"empty arrays":       repeat(open+`[0`, `,[]`, `]`+end),
		"empty objects":      repeat(open+`[0`, `,{}`, `]`+end),
		"objects in arrays":  repeat(open+`[0`, `,[{"a":[{"b":[{"c":0}]}]}]`, `]`+end),
		"deep nesting":       repeat(open+`[0`, `,`+strings.Repeat(`{"a":[`, 14)+strings.Repeat(`]}`, 14), `]`+end),
		"deep nesting of []": repeat(open+`[0`, `,`+strings.Repeat(`[`, 28)+strings.Repeat(`]`, 28), `]`+end),
	}
}

// BenchmarkWorstBody is what a body costs to read and check, per megabyte: CPU of the whole process, the collector's too.
func BenchmarkWorstBody(b *testing.B) {
	const megabyte = 1_000_000
	s := newSample(b, sampleConfig{})
	for name, body := range worstBodies(megabyte) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			before := cpuTime(b)
			for b.Loop() {
				r := httptest.NewRequest("POST", "/api/v1/hosts", strings.NewReader(body))
				r.Header.Set("Authorization", "Bearer owner")
				r.Header.Set("Content-Type", "application/json")
				w := httptest.NewRecorder()
				if s.ServeHTTP(w, r); w.Code != 201 && w.Code != 422 {
					b.Fatal(w.Code)
				}
				s.entries = nil
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric((cpuTime(b)-before)*1000/float64(b.N)*megabyte/float64(len(body)), "cpu-ms/MB")
		})
	}
	shape := op.NewShape("sample", createIn{}.Body)
	b.Run("shape", func(b *testing.B) {
		b.ReportAllocs()
		body := []byte(worstBodies(megabyte)["unknown keys"])
		before := cpuTime(b)
		for b.Loop() {
			if len(shape.Faults(body, "body.params")) == 0 {
				b.Fatal("nothing is wrong")
			}
		}
		b.ReportMetric(0, "ns/op")
		b.ReportMetric((cpuTime(b)-before)*1000/float64(b.N)*megabyte/float64(len(body)), "cpu-ms/MB")
	})
}

// cpuTime is what this process has used up to now, in seconds.
func cpuTime(b *testing.B) float64 {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return seconds(used.Utime) + seconds(used.Stime)
}
