package op

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/hostler/hostler/core/problem"
)

// huma's hooks for errors and two of its defaults are package variables. This
// process has no other user of huma.
func init() {
	huma.ValidateStrictCasing = true // as encoding/json's own folding would let "Confirm" pass for "confirm"
	huma.DefaultArrayNullable = false
	huma.NewError = func(status int, _ string, _ ...error) huma.StatusError {
		return &refusal{status: status}
	}
	huma.NewErrorWithContext = func(e huma.Context, status int, msg string, errs ...error) huma.StatusError {
		q := requestOf(e.Context())
		return q.api.refusal(e.Context(), q.invalid(status, msg, errs))
	}
}

// refusal is a problem on its way through huma.
type refusal struct {
	status int
	body   json.RawMessage
}

var _ huma.StatusError = (*refusal)(nil)

// Error, GetStatus, ContentType and MarshalJSON make a refusal usable as an
// error of the library.
func (r *refusal) Error() string                { return http.StatusText(r.status) }
func (r *refusal) GetStatus() int               { return r.status }
func (r *refusal) ContentType(string) string    { return "application/problem+json" }
func (r *refusal) MarshalJSON() ([]byte, error) { return r.body, nil }

// refusal sends the problem of err. What huma then tries to write is discarded.
func (a *API) refusal(ctx context.Context, err error) huma.StatusError {
	p := a.problem(ctx, err)
	a.fail(ctx, p)
	requestOf(ctx).w.discard = true
	return &refusal{status: p.Status(), body: json.RawMessage(`null`)}
}

// invalid returns the 422 with everything that huma found wrong and what was
// wrong with the raw input.
func (q *request) invalid(status int, msg string, errs []error) error {
	if status >= http.StatusInternalServerError {
		return problem.From(errors.Join(append([]error{errors.New(msg)}, errs...)...))
	}
	faults := slices.Clone(q.faults)
	if status == http.StatusBadRequest && len(errs) == 0 || bodyMissing(msg) {
		if !slices.ContainsFunc(slices.Concat(faults, q.misfits), inBody) {
			faults = append(faults, problem.Fault{Loc: []any{"body"}, Msg: "required", Type: "missing"})
		}
	}
	amiss := slices.ContainsFunc(slices.Concat(q.faults, q.misfits), inBody)
	var resolved []problem.Fault
	for _, err := range errs {
		if own, ok := errors.AsType[*problem.Error](err); ok && own.Code == problem.CodeInvalid {
			resolved = append(resolved, own.Faults...)
		} else if fault := translate(err); !(amiss && inBody(fault)) { // the decoding stumbles over what inspect has named
			faults = append(faults, fault)
		}
	}
	faults = append(faults, q.misfits...)
	// A huma.Resolver tells its faults as a problem of ours. What it says of a
	// value that could not be bound is void.
	faults = append(faults, atNewPlaces(resolved, faults)...)
	return problem.Invalid(limitFaults(faults)...)
}

// atNewPlaces returns the faults at locations without another fault.
func atNewPlaces(faults, found []problem.Fault) []problem.Fault {
	return slices.DeleteFunc(slices.Clone(faults), func(f problem.Fault) bool {
		return slices.ContainsFunc(found, func(g problem.Fault) bool { return slices.Equal(f.Loc, g.Loc) })
	})
}

// bodyMissing reports whether a message of the library says that there is no
// body.
func bodyMissing(msg string) bool { return msg == "request body is required" }

// inBody reports whether a fault is in the body.
func inBody(f problem.Fault) bool { return f.Loc[0] == "body" }

// limitFaults removes repetitions, limits the number, and puts unknown keys
// last in a stable order: huma finds them by walking a map.
func limitFaults(faults []problem.Fault) []problem.Fault {
	type identity struct{ loc, kind string }
	seen := map[identity]bool{}
	locate := func(f problem.Fault) string {
		b, _ := json.Marshal(f.Loc) // strings and integers only
		return string(b)
	}
	var known, unknown []problem.Fault
	for _, f := range faults {
		id := identity{locate(f), f.Type}
		switch {
		case seen[id]:
		case f.Type == "extra_forbidden":
			unknown = append(unknown, f)
		default:
			known = append(known, f)
		}
		seen[id] = true
	}
	slices.SortFunc(unknown, func(a, b problem.Fault) int { return strings.Compare(locate(a), locate(b)) })
	all := append(known, unknown...)
	return all[:min(len(all), maxFaults)]
}

// translate turns an error of huma into a fault. It drops the rejected value,
// which huma adds to the error and to some messages, because it may be a
// secret.
func translate(err error) problem.Fault {
	detail, ok := errors.AsType[*huma.ErrorDetail](err)
	if !ok {
		return problem.Fault{Loc: []any{"body"}, Msg: "not valid", Type: "value_error"}
	}
	loc := split(detail.Location)
	if kind, field, ok := strings.Cut(strings.TrimPrefix(detail.Message, decodeMark), decodeMark); ok {
		for part := range strings.SplitSeq(field, ".") {
			if part != "" {
				loc = append(loc, part)
			}
		}
		return problem.Fault{Loc: loc, Msg: kindMessages[kind], Type: kind}
	}
	if name, ok := strings.CutPrefix(detail.Message, "expected required property "); ok {
		name = strings.TrimSuffix(name, " to be present")
		return problem.Fault{Loc: append(loc, name), Msg: "required", Type: "missing"}
	}
	msg, kind := plain(detail.Message)
	return problem.Fault{Loc: loc, Msg: msg, Type: kind}
}

// plain returns the text of a fault for people, and its type, for a message of
// huma.
func plain(message string) (msg, kind string) {
	for _, k := range kinds {
		if !strings.HasPrefix(message, k.prefix) {
			continue
		}
		limit := formatLimit(message[strings.LastIndexByte(message, ' ')+1:])
		switch {
		case k.msg == "":
			return message, k.kind
		case k.kind == "too_short" && limit == "1":
			return "must not be empty", k.kind
		}
		return strings.ReplaceAll(k.msg, "{limit}", limit), k.kind
	}
	return "not valid", "value_error"
}

// formatLimit writes a limit as 1000000 instead of 1e+06.
func formatLimit(limit string) string {
	if n, err := strconv.ParseFloat(limit, 64); err == nil && strings.ContainsRune(limit, 'e') {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return limit
}

// wholeNumber is the text of a value that is not an integer.
const wholeNumber = "must be a whole number"

// kinds maps the beginnings of huma's messages to our stable types. msg
// replaces a message that could contain the value, or that is not plain. In it,
// {limit} stands for the last word of the message.
var kinds = []struct{ prefix, kind, msg string }{
	{"unexpected property", "extra_forbidden", "unknown key"},
	{"required ", "missing", "required"},
	{"expected boolean", "bool_type", ""},
	{"invalid boolean", "bool_parsing", "expected true or false"},
	{"expected integer", "int_type", wholeNumber},
	{"invalid integer", "int_parsing", wholeNumber},
	{"expected number >=", "greater_than_equal", "must be at least {limit}"},
	{"expected number <=", "less_than_equal", "must be at most {limit}"},
	{"expected number >", "greater_than", "must be greater than {limit}"},
	{"expected number <", "less_than", "must be less than {limit}"},
	{"expected number to be a multiple", "multiple_of", "must be a multiple of {limit}"},
	{"expected number", "float_type", "must be a number"},
	{"invalid float", "float_parsing", "must be a number"},
	{"expected length >=", "too_short", "must have at least {limit} characters"},
	{"expected length <=", "too_long", "must have at most {limit} characters"},
	{"expected array length >=", "too_short", "must have at least {limit} entries"},
	{"expected array length <=", "too_long", "must have at most {limit} entries"},
	{"expected object with at least", "too_short", ""},
	{"expected object with at most", "too_long", ""},
	{"expected array", "list_type", ""},
	{"expected object", "dict_type", ""},
	{"expected value to be one of", "enum", ""},
	{"expected string to match pattern", "string_pattern_mismatch", ""},
	{"expected string to be RFC 3339", "datetime_parsing", ""},
	{"expected string to be RFC 5322 email", "email", "expected an email address"},
	{"expected string to be RFC 3986", "url_parsing", "expected a URL"},
	{"expected string to be RFC 4122", "uuid_parsing", "expected a UUID"},
	{"expected string to be regex", "regex", "expected a regular expression"},
	{"expected string to be", "string_pattern_mismatch", ""},
	{"expected string", "string_type", ""},
	{"expected duration", "duration_parsing", "expected a duration"},
	{"invalid date/time", "datetime_parsing", "expected a time as in RFC 3339"},
	{"expected property", "missing", ""},
}

// split splits a location such as query.name.
func split(location string) []any {
	var loc []any
	for part := range strings.SplitSeq(location, ".") {
		loc = append(loc, part)
	}
	return loc
}

// decodeMark begins and divides the message of a decoding error, because huma
// keeps only the text of such an error.
const decodeMark = "\x1e"

// kindMessages are the texts of faults for which the library has none.
var kindMessages = map[string]string{
	"int_type": wholeNumber, "float_type": "must be a number", "string_type": "expected string",
	"bool_type": "expected boolean", "list_type": "expected array", "dict_type": "expected object", "value_error": "not valid",
}

// unmarshal is json.Unmarshal with errors that do not contain the value.
func unmarshal(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	if err == nil {
		return nil
	}
	kind, field := "value_error", ""
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		field = wrong.Field
		switch wrong.Type.Kind() {
		case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
			reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
			kind = "int_type"
		case reflect.Float32, reflect.Float64:
			kind = "float_type"
		case reflect.String:
			kind = "string_type"
		case reflect.Bool:
			kind = "bool_type"
		case reflect.Slice, reflect.Array:
			kind = "list_type"
		case reflect.Struct, reflect.Map:
			kind = "dict_type"
		}
	}
	return errors.New(decodeMark + kind + decodeMark + field)
}
