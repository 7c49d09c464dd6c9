package job

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"

	"github.com/hostler/hostler/core/secret"
)

// SealedTable is the column of encrypted parameters, for the rotation of the key.
var SealedTable = secret.Table{Name: "jobs", Column: "sealed", Key: []string{"id"}}

// place returns what the secrets of a job are bound to: a ciphertext moved to
// another row cannot be decrypted.
func place(jobID int64) secret.Binding {
	return secret.Binding{Table: SealedTable.Name, Column: SealedTable.Column, Row: secret.Row(jobID)}
}

// encodeParams returns the JSON of a job's parameters with every secret.String
// redacted, and the JSON of these secrets by their position, or nil if there
// are none.
func encodeParams(params any) (shown, secrets json.RawMessage, err error) {
	if params == nil {
		return json.RawMessage("{}"), nil, nil
	}
	if shown, err = json.Marshal(params); err != nil {
		return nil, nil, fmt.Errorf("encoding the job's parameters: %w", err)
	}
	found := map[string]string{}
	err = eachSecret(reflect.ValueOf(params), "", func(place string, s reflect.Value) error {
		if text := s.Interface().(secret.String).Reveal(); text != "" {
			found[place] = text
		}
		return nil
	})
	if err != nil || len(found) == 0 {
		return shown, nil, err
	}
	secrets, err = json.Marshal(found)
	return shown, secrets, err
}

// decodeParams is the inverse of encodeParams.
func decodeParams(shown, secrets json.RawMessage, into any) error {
	if err := json.Unmarshal(shown, into); err != nil {
		return fmt.Errorf("decoding the job's parameters: %w", err)
	}
	found := map[string]string{}
	if secrets != nil {
		if err := json.Unmarshal(secrets, &found); err != nil {
			// The text of the JSON library's error might contain a secret.
			return errors.New("decoding the job's secrets: they are not JSON")
		}
	}
	return eachSecret(reflect.ValueOf(into), "", func(place string, s reflect.Value) error {
		s.Set(reflect.ValueOf(secret.New(found[place])))
		return nil
	})
}

var (
	secretType   = reflect.TypeFor[secret.String]()
	errUnsealing = errors.New("a secret parameter of the job is in a map or behind an interface and could not be decoded")
)

// eachSecret calls visit for each secret.String that encoding/json reaches,
// with its position: the names of Go fields and the indexes in lists. A secret
// in a map or behind an interface is an error, because it could not be set when
// the parameters are read.
func eachSecret(v reflect.Value, place string, visit func(place string, s reflect.Value) error) error {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return eachSecret(v.Elem(), place, visit)
	case reflect.Struct:
		if v.Type() == secretType {
			return visit(place, v)
		}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() && !f.Anonymous || f.Tag.Get("json") == "-" {
				continue
			}
			if err := eachSecret(v.Field(i), place+"."+f.Name, visit); err != nil {
				return err
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if err := eachSecret(v.Index(i), place+"."+strconv.Itoa(i), visit); err != nil {
				return err
			}
		}
	case reflect.Map, reflect.Interface:
		if holdsSecret(v) {
			return errUnsealing
		}
	}
	return nil
}

// holdsSecret reports whether a map or an interface contains a secret.
func holdsSecret(v reflect.Value) bool {
	none := func(string, reflect.Value) error { return errUnsealing }
	if v.Kind() == reflect.Interface {
		return !v.IsNil() && eachSecret(v.Elem(), "", none) != nil
	}
	for entries := v.MapRange(); entries.Next(); {
		if eachSecret(entries.Value(), "", none) != nil {
			return true
		}
	}
	return false
}
