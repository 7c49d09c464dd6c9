// Package appscriptstest has valid requests to the scripts of apps. The tests
// over all operations of the API send them; see package requesttest.
package appscriptstest

import (
	"github.com/hostler/hostler/core/api/requesttest"
)

// Requests are those of the resource.
var Requests = requesttest.Requests{
	Values: func(f *requesttest.Fixture) map[string]string {
		f.Expect("PUT", "/api/v1/apps/"+f.ID("SELECT id FROM apps WHERE id = $1", f.App)+"/script", `{"content":"echo zqcanary\n"}`, 200)
		return nil
	},
	Changes: func(*requesttest.Fixture) []requesttest.Change {
		return []requesttest.Change{
			{Operation: "put_app_script", Body: `{"content":"#!/bin/sh\necho zqcanary\n"}`},
			{Operation: "update_app", Body: `{"consent":true}`, Status: 409, Code: "invalid_state", Why: "the app's script was edited"},
			{Operation: "update_all_apps", Body: `{"consent":true}`, Nameless: true},
			{Operation: "revert_app_script", Status: 409, Code: "invalid_state", Why: "the app was adopted: the catalog has no entry of it"},
		}
	},
}
