// Package scenarios tests the resources of the API from outside, on the whole service: its tests are in files named after the resource.
// They are one program, because linking the service costs seconds of processor for each program of tests that stands on it.
package scenarios

import "github.com/hostler/hostler/core/api/apitest"

// do is one request and what is expected of its answer, which never has a secret of a test in it: those have "canary" in them.
func do(name, method, url, body string, as *apitest.Caller, status int, code string, contains ...string) apitest.Scenario {
	return apitest.Scenario{Name: name, Method: method, URL: url, Body: body, As: as, Status: status, Error: code, Contains: contains,
		Lacks: []string{"canary"}}
}
