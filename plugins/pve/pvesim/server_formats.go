package pvesim

import (
	"regexp"
	"strconv"
	"strings"
)

var (
	nodeNamePattern  = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?$`)
	configIDPattern  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]+$`)
	storageIDPattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._-]*[A-Za-z0-9]$`)
	emailPattern     = regexp.MustCompile(`^[^\s@]+@[^\s@]+$`)
)

// Formats return what is wrong with a value, or "".

func vmidFormat(s string) string {
	if n, err := strconv.Atoi(s); err != nil || n < 100 || n > 999_999_999 || s != strconv.Itoa(n) {
		return "value does not look like a valid VM ID"
	}
	return ""
}

func nodeFormat(s string) string {
	if !nodeNamePattern.MatchString(s) {
		return "value does not look like a valid node name"
	}
	return ""
}

func storageFormat(s string) string {
	if !storageIDPattern.MatchString(s) {
		return "storage ID '" + s + "' contains illegal characters"
	}
	return ""
}

func configIDFormat(s string) string {
	if !configIDPattern.MatchString(s) {
		return "invalid configuration ID '" + s + "'"
	}
	return ""
}

func emailFormat(s string) string {
	if s != "" && !emailPattern.MatchString(s) {
		return "value does not look like a valid email address"
	}
	return ""
}

func groupListFormat(s string) string {
	for _, g := range splitList(s) {
		if !groupIDPattern.MatchString(g) {
			return "group name '" + g + "' contains invalid characters"
		}
	}
	return ""
}

func userListFormat(s string) string {
	for _, u := range splitList(s) {
		if !userIDPattern.MatchString(u) {
			return "value '" + u + "' does not look like a valid user name"
		}
	}
	return ""
}

func tokenListFormat(s string) string {
	for _, t := range splitList(s) {
		if !authIDPattern.MatchString(t) || !strings.Contains(t, "!") {
			return "value '" + t + "' does not look like a valid token ID"
		}
	}
	return ""
}

func taskStatusListFormat(s string) string {
	for _, v := range splitList(s) {
		switch v {
		case "ok", "error", "warning", "unknown":
		default:
			return "unknown task status '" + v + "'"
		}
	}
	return ""
}

// splitList splits a value of the list formats.
func splitList(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ';' || r == ' ' || r == 0 })
}

// Path parameters that many endpoints share.

func nodeParam() param {
	return param{name: "node", inPath: true, format: nodeFormat}
}

func vmidParam() param {
	return param{name: "vmid", inPath: true, kind: integerParam, format: vmidFormat}
}

func upidParam() param { return param{name: "upid", inPath: true} }
