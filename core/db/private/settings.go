package private

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// defaults are the settings for a small machine that also runs other programs.
var defaults = map[string]string{
	"max_connections":                 "60",
	"shared_buffers":                  "64MB",
	"huge_pages":                      "off",
	"work_mem":                        "4MB",
	"maintenance_work_mem":            "32MB",
	"effective_cache_size":            "256MB",
	"min_wal_size":                    "32MB",
	"max_wal_size":                    "256MB",
	"wal_compression":                 "on",
	"max_worker_processes":            "4",
	"max_parallel_workers":            "2",
	"max_parallel_workers_per_gather": "1",
	"autovacuum_max_workers":          "2",
	"jit":                             "off",
	"timezone":                        "UTC",
	"datestyle":                       "iso, ymd",
	"lc_messages":                     "C",
	"password_encryption":             "scram-sha-256",

	// A statement's text and the details of an error can hold values that must not reach a log; the client gets them anyway.
	"log_min_messages":        "log",
	"log_min_error_statement": "panic",
	"log_error_verbosity":     "terse",
	"log_checkpoints":         "off",
	"log_timezone":            "UTC",
	"log_line_prefix":         "%m [%p] ",
}

// fixed are the settings on the command line, where neither ALTER SYSTEM nor a
// file can override them.
func fixed(clusterName string) []string {
	return []string{
		"-c", "listen_addresses=",
		"-c", "unix_socket_directories=../run", // seen from the data directory, so that its length does not matter
		"-c", "unix_socket_permissions=0700",
		"-c", "port=5432", // part of the socket's name only
		"-c", "cluster_name=" + clusterName,
		"-c", "logging_collector=off",
		"-c", "log_destination=stderr",
	}
}

var (
	settingName = regexp.MustCompile(`^[a-z_][a-z0-9_]*(\.[a-z_][a-z0-9_]*)?$`)
	protected   = []string{
		"listen_addresses", "unix_socket_directories", "unix_socket_permissions", "unix_socket_group", "port", "cluster_name",
		"data_directory", "config_file", "hba_file", "ident_file", "external_pid_file",
		"logging_collector", "log_destination", "log_min_error_statement", "log_statement", "log_error_verbosity",
		"log_parameter_max_length_on_error", "include", "include_dir", "include_if_exists",
	}
)

func checkSettings(settings map[string]string) error {
	for name, value := range settings {
		if !settingName.MatchString(name) {
			return fmt.Errorf("%q is not the name of a PostgreSQL setting", name)
		}
		if slices.Contains(protected, name) {
			return fmt.Errorf("the PostgreSQL setting %s cannot be changed: it keeps the cluster private", name)
		}
		if strings.ContainsAny(value, "\x00\r\n") {
			return fmt.Errorf("the PostgreSQL setting %s has a line break or NUL in its value", name)
		}
	}
	return nil
}

// configuration returns the text of postgresql.conf.
func configuration(settings map[string]string) []byte {
	all := maps.Clone(defaults)
	maps.Copy(all, settings)
	var b bytes.Buffer
	b.WriteString("# Written by Hostler at every start. Use ALTER SYSTEM for lasting settings of your own.\n")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&b, "%s = %s\n", name, quote(all[name]))
	}
	return b.Bytes()
}

// quote quotes a value for postgresql.conf and pg_ident.conf.
func quote(value string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(value) + "'"
}

// access is the text of pg_hba.conf: the kernel reports who connects, and the
// map decides who may log in.
const access = "# Written by Hostler at every start.\nlocal all all peer map=hostler\n"

// identities returns the text of pg_ident.conf: only the service's system user
// may log in.
func identities(service string) []byte {
	return fmt.Appendf(nil, "# Written by Hostler at every start.\nhostler \"%[1]s\" %[2]s\nhostler \"%[1]s\" %[3]s\n", service, Role,
		Superuser)
}
