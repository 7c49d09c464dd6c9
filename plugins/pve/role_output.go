package pve

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

var (
	// labelled is a line with a token's id or its secret, as the role script
	// prints it, or as a row of pveum's own table.
	labelled = regexp.MustCompile(`(?i)(?:^|\s)(token id:|secret:)\s*(.*)$|^(full-tokenid|value)(?:\s+(.*))?$`)
	// scriptTokenID is the form of the script's token ids, with any user. The
	// name of the token is the capability.
	scriptTokenID = regexp.MustCompile(`^[^\s:/@!=]{1,60}@[A-Za-z][A-Za-z0-9._-]{1,31}!([a-z_]{1,40})$`)
	// tokenSecret is a UUID; Proxmox VE generates secrets in this form.
	tokenSecret = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
	// keptLine is the line by which the script reports a token that it kept.
	keptLine = regexp.MustCompile(`^([a-z_]{1,40}): (\S+)$`)
)

// Lengths of the parts of a token.
const (
	secretLength = 36  // of a token's secret
	maxTokenID   = 255 // a longer one is none
)

// ReadRoleOutput finds the tokens in the output of the role script, and in the
// tables that pveum prints if somebody creates one of its tokens by hand. A
// value that a terminal broke into several lines is joined again.
func (d *Driver) ReadRoleOutput(_ context.Context, output plugin.Secret) (hypervisor.RoleOutput, error) {
	if len(output) > hypervisor.MaxRoleOutput {
		return hypervisor.RoleOutput{}, badOutput("the text is longer than 64 KiB: paste only the output of the script")
	}
	r := outputReader{secrets: map[endpoint.Capability]endpoint.Credential{}, kept: map[endpoint.Capability]bool{}}
	for _, line := range hypervisor.TerminalLines(output) {
		if err := r.line(line); err != nil {
			return hypervisor.RoleOutput{}, err
		}
	}
	if err := r.end(); err != nil {
		return hypervisor.RoleOutput{}, err
	}
	return r.answer()
}

// part is the kind of value that is being read.
type part int

// What is being read from the output of the script.
const (
	nothing part = iota
	tokenID
	secretOfToken
)

// outputReader reads the lines of an output.
type outputReader struct {
	// reading is what value is being put together.
	reading part
	value   string
	// id and capability are of the token whose secret has not come yet.
	id         string
	capability endpoint.Capability
	secrets    map[endpoint.Capability]endpoint.Credential
	kept       map[endpoint.Capability]bool
	// script says that the script itself is in the output.
	script bool
}

// line reads one line of the output. A repetition of the script starts over.
func (r *outputReader) line(line string) error {
	if strings.HasPrefix(line, "#!/bin/sh") {
		r.script = true
	}
	if match := labelled.FindStringSubmatch(line); match != nil {
		if err := r.finish(); err != nil {
			return err
		}
		r.reading = tokenID
		if label := strings.ToLower(match[1] + match[3]); label == "secret:" || label == "value" {
			r.reading = secretOfToken
		}
		r.value = match[2] + match[4]
		return nil
	}
	if r.reading != nothing && !r.complete() && line != "" && !strings.ContainsRune(line, ' ') {
		r.value += line // the terminal was too narrow for it
		return nil
	}
	if match := keptLine.FindStringSubmatch(line); match != nil {
		if c, ok := capabilityOf(match[2]); ok && string(c) == match[1] {
			r.kept[c] = true
		}
	}
	return r.finish()
}

// complete reports whether nothing more can belong to the value.
func (r *outputReader) complete() bool {
	if r.reading == secretOfToken {
		return len(r.value) >= secretLength
	}
	_, ok := capabilityOf(r.value)
	return ok || len(r.value) > maxTokenID
}

// finish stores the value that is complete. A token ID must be followed by its
// secret, and a secret must follow an ID. Values that begin with "$" are the
// text of the script itself, which a shell may have echoed. Two different
// tokens for the same capability are an error, because only the last run's
// token is valid.
func (r *outputReader) finish() error {
	reading, value := r.reading, r.value
	r.reading, r.value = nothing, ""
	switch {
	case reading == nothing:
		return nil
	case strings.HasPrefix(value, "$"): // the script's own text, which the shell has shown
		r.script = true
		return nil
	case reading == tokenID:
		if r.id != "" {
			return badOutput("the secret of the token for " + string(r.capability) + " is missing")
		}
		c, ok := capabilityOf(value)
		if !ok {
			return badOutput("the text contains a token that the script did not create: its tokens are named after their capability, " +
				"such as service@pve!monitoring")
		}
		r.id, r.capability = value, c
		return nil
	case r.id == "":
		return badOutput("a secret has no token ID before it: paste the complete output of the script")
	case !tokenSecret.MatchString(value):
		return badOutput("the secret of the token for " + string(r.capability) + " is incomplete or changed: paste it exactly as the " +
			"script printed it")
	}
	made := endpoint.Credential{Capability: r.capability, Form: endpoint.FormToken, ID: r.id, Secret: plugin.Secret(value)}
	if before, ok := r.secrets[r.capability]; ok && before != made {
		return badOutput("the text has two tokens for " + string(r.capability) + ": paste only the output of the last run of the script")
	}
	r.secrets[r.capability] = made
	r.id, r.capability = "", ""
	return nil
}

// end checks that the last token is complete.
func (r *outputReader) end() error {
	if err := r.finish(); err != nil {
		return err
	}
	if r.id != "" {
		return badOutput("the text is incomplete: the secret of the token for " + string(r.capability) + " is missing")
	}
	return nil
}

// answer returns the tokens in the order of capabilities.
func (r *outputReader) answer() (out hypervisor.RoleOutput, err error) {
	for _, c := range endpoint.Capabilities() {
		if made, ok := r.secrets[c]; ok {
			out.Created = append(out.Created, made)
		} else if r.kept[c] {
			out.Kept = append(out.Kept, c)
		}
	}
	switch {
	case len(out.Created)+len(out.Kept) > 0:
		return out, nil
	case r.script:
		return out, badOutput("this is the script itself: run it as root on a node, and paste its output")
	}
	return out, badOutput("the text contains no token: paste the complete output of the script")
}

// capabilityOf returns the capability of a token of the script.
func capabilityOf(id string) (endpoint.Capability, bool) {
	match := scriptTokenID.FindStringSubmatch(id)
	if match == nil {
		return "", false
	}
	c := endpoint.Capability(match[1])
	return c, slices.Contains(endpoint.Capabilities(), c)
}

// badOutput says what is wrong with an output, and shows nothing of its
// content: it may contain secrets.
func badOutput(why string) error {
	e := plugin.Errorf(plugin.Invalid, "%s", why)
	e.Field = "output"
	return e
}
