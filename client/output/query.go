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

// Query is a program of jq that chooses from answers.
type Query struct{ code *gojq.Code }

// Compile reads a program. It can read no files and no environment.
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

// Run gives what the program makes of an answer, a line each; texts stand as they are, as with jq -r. With clean they cannot act on a
// terminal.
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

// numbers makes those of jq from JSON's: whole ones keep all their digits.
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
