package secret_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/secret"
)

const canary = "canary-7f3e91"

type holder struct {
	Public  secret.String
	private secret.String
}

func TestStringIsNeverShown(t *testing.T) {
	t.Parallel()
	s := secret.New(canary)
	h := holder{Public: s, private: s}
	values := map[string]any{
		"value": s, "pointer": &s, "struct": h, "pointer to struct": &h, "slice": []secret.String{s}, "map": map[string]secret.String{"k": s},
		"interface": []any{s, h}, "nested": struct{ inner holder }{h},
	}
	seen := func(t *testing.T, text string) {
		t.Helper()
		if strings.Contains(text, canary) || strings.Contains(text, fmt.Sprintf("%x", canary)) ||
			strings.Contains(text, fmt.Sprintf("%X", canary)) {
			t.Errorf("the secret is in %q", text)
		}
	}
	for name, v := range values {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T", "%p", "% x", "%10s", "%t"} {
				seen(t, fmt.Sprintf(verb, v))
			}
			seen(t, fmt.Sprint(v)+fmt.Sprintln(v))
			seen(t, fmt.Errorf("failed: %v", v).Error())
			text, err := json.Marshal(v)
			seen(t, fmt.Sprint(string(text), err))
			text, err = xml.Marshal(v)
			seen(t, fmt.Sprint(string(text), err))
			var out bytes.Buffer
			err = gob.NewEncoder(&out).Encode(v)
			seen(t, fmt.Sprint(out.String(), err))
			for _, asJSON := range []bool{false, true} {
				out.Reset()
				hclog.New(&hclog.LoggerOptions{Output: &out, JSONFormat: asJSON}).With("with", v).Error("message", "key", v, "format",
					hclog.Fmt("%v", v))
				if !strings.Contains(out.String(), "message") {
					t.Error("the log line is lost")
				}
				seen(t, out.String())
			}
			out.Reset()
			slog.New(slog.NewTextHandler(&out, nil)).Error("message", "key", v)
			slog.New(slog.NewJSONHandler(&out, nil)).Error("message", "key", v)
			seen(t, out.String())
		})
	}
}

func TestStringIsNotStored(t *testing.T) {
	t.Parallel()
	s := secret.New(canary)
	if _, err := s.Value(); !errors.Is(err, secret.ErrStored) {
		t.Errorf("Value: %v", err)
	}
	if _, err := s.MarshalYAML(); !errors.Is(err, secret.ErrStored) {
		t.Errorf("MarshalYAML: %v", err)
	}
	if _, err := s.MarshalBinary(); !errors.Is(err, secret.ErrStored) {
		t.Errorf("MarshalBinary: %v", err)
	}
	if err := gob.NewEncoder(new(bytes.Buffer)).Encode(s); err == nil {
		t.Error("gob took it")
	}
}

// model is what a careless author might write.
type model struct {
	ID       int64
	Password secret.String
}

func TestStringIsNotSavedByGorm(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t, dbtest.EmptyURL(t))
	if _, err := d.Pool.Exec(t.Context(), "CREATE TABLE models (id bigserial PRIMARY KEY, password text)"); err != nil {
		t.Fatal(err)
	}
	err := d.Tx(t.Context(), func(tx *db.Tx) error { return tx.Create(&model{Password: secret.New(canary)}).Error })
	if err == nil {
		t.Error("gorm saved a secret")
	} else if strings.Contains(err.Error(), canary) {
		t.Errorf("the error shows the secret: %v", err)
	}
	var rows int
	if err := d.Pool.QueryRow(t.Context(), "SELECT count(*) FROM models").Scan(&rows); err != nil || rows != 0 {
		t.Errorf("%d rows, %v", rows, err)
	}
}

func TestStringReads(t *testing.T) {
	t.Parallel()
	var in struct{ Password secret.String }
	if err := json.Unmarshal([]byte(`{"Password":"`+canary+`"}`), &in); err != nil || in.Password.Reveal() != canary {
		t.Errorf("%v", err)
	}
	for _, bad := range []string{`{"Password":{"x":"` + canary + `"}}`, `{"Password":["` + canary + `"]}`, `{"Password":7}`} {
		err := json.Unmarshal([]byte(bad), &in)
		if err == nil {
			t.Errorf("%s was read", bad)
		} else if strings.Contains(err.Error(), canary) {
			t.Errorf("the error repeats the value: %v", err)
		}
	}
}

func TestStringEqual(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{{"", "", true}, {"a", "", false}, {"a", "a", true}, {"a", "b", false}, {"a", "aa", false}} {
		if got := secret.New(c.a).Equal(secret.New(c.b)); got != c.want {
			t.Errorf("%q and %q: %v", c.a, c.b, got)
		}
	}
	if !(secret.String{}).Empty() || !secret.New("").Empty() || secret.New("x").Empty() {
		t.Error("Empty is wrong")
	}
}
