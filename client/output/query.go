package output

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/itchyny/gojq"
)

// Query is a compiled jq program that filters a response (--jq). It is safe to
// run it several times, as --watch does.
type Query struct{ code *gojq.Code }

// Compile reads a jq program. The program is isolated: without loaders and
// environment options, gojq programs cannot read files, modules or environment
// variables, so a filter that somebody pasted cannot leak a key. An error names
// the flag --jq.
func Compile(program string) (*Query, error) {
	parsed, err := gojq.Parse(program)
	if err != nil {
		return nil, fmt.Errorf("--jq: %w", err)
	}
	code, err := gojq.Compile(parsed)
	if err != nil {
		return nil, fmt.Errorf("--jq: %w", err)
	}
	return &Query{code}, nil
}

// Run applies the program to a response and returns one line for each result. A
// string result is written without quotes, like with jq -r; every other result
// is compact JSON. With clean, characters that could control a terminal are
// replaced (see Clean); callers set it when the output goes to a terminal.
//
// If the program fails after some results, Run returns these results together
// with the error, like jq prints them. The jq function halt ends the program
// without an error.
func (q *Query) Run(ctx context.Context, body []byte, clean bool) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return nil, fmt.Errorf("the response is not valid JSON: %w", err)
	}
	var out bytes.Buffer
	for found := q.code.RunWithContext(ctx, numbers(value)); ; {
		one, ok := found.Next()
		if !ok {
			return out.Bytes(), nil
		}
		if err, failed := one.(error); failed {
			var halt *gojq.HaltError
			if errors.As(err, &halt) && halt.Value() == nil {
				return out.Bytes(), nil
			}
			return out.Bytes(), fmt.Errorf("--jq: %s", Clean(err.Error()))
		}
		if text, is := one.(string); is {
			if clean {
				text = Clean(text)
			}
			out.WriteString(text + "\n")
			continue
		}
		line, err := gojq.Marshal(one)
		if err != nil {
			return out.Bytes(), fmt.Errorf("--jq: %w", err)
		}
		out.Write(append(escape(line), '\n'))
	}
}

// numbers replaces the json.Number values by types that gojq calculates with.
// Whole numbers keep all their digits: int if they fit, otherwise *big.Int. IDs
// and sizes in bytes can exceed 2^53, which a float64 would round. It changes
// lists and maps in place.
func numbers(value any) any {
	switch v := value.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return int(n)
		}
		if !strings.ContainsAny(v.String(), ".eE") {
			if n, ok := new(big.Int).SetString(v.String(), 10); ok {
				return n
			}
		}
		f, _ := v.Float64() // one beyond all bounds is infinite
		return f
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = numbers(v[key])
		}
	}
	return value
}
