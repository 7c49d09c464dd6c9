package lxd

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

var (
	// joinToken is where a join token begins: after the name of its certificate, or with the base64 of an object of JSON. It may be broken
	// over several lines.
	joinToken = regexp.MustCompile(`(?:^|\s)(?:hostler-[a-z_]{1,40}: ?([A-Za-z0-9+/]*={0,2})|(eyJ[A-Za-z0-9+/]*={0,2}))$`)
	// more is a line that may go on with one.
	more = regexp.MustCompile(`^[A-Za-z0-9+/]+={0,2}$`)
	// keptLine is how the script tells of a certificate that it kept.
	keptLine = regexp.MustCompile(`^hostler-([a-z_]{1,40}): kept,`)
)

// ReadRoleOutput finds the join tokens in what the role script has printed. Each names the certificate that it is for, and so its
// capability, itself: what `lxc config trust add` prints is read as well.
func (d *Driver) ReadRoleOutput(_ context.Context, output plugin.Secret) (hypervisor.RoleOutput, error) {
	if len(output) > hypervisor.MaxRoleOutput {
		return hypervisor.RoleOutput{}, badOutput("the text is longer than 64 KiB: paste only the output of the script")
	}
	r := outputReader{codes: map[endpoint.Capability]plugin.Secret{}, kept: map[endpoint.Capability]bool{}}
	for _, line := range hypervisor.TerminalLines(output) {
		if err := r.line(line); err != nil {
			return hypervisor.RoleOutput{}, err
		}
	}
	if r.reading {
		return hypervisor.RoleOutput{}, cutOff()
	}
	return r.answer()
}

// outputReader goes through the lines of an output.
type outputReader struct {
	// reading says that a join token's end has not come yet; code is what there is of it.
	reading bool
	code    string

	codes map[endpoint.Capability]plugin.Secret
	kept  map[endpoint.Capability]bool
	// script says that the script itself is in the output.
	script bool
}

// line reads one cleaned line of the output. A join token may be wrapped over
// several lines, by a terminal for example, so it collects lines until they
// decode; base64 ends at a multiple of four characters. A token for a
// certificate that the script does not create is an error.
func (r *outputReader) line(line string) error {
	switch match := joinToken.FindStringSubmatch(line); {
	case r.reading && more.MatchString(line) && len(r.code)+len(line) <= endpoint.MaxSecret:
		r.code += line
	case r.reading:
		return cutOff()
	case match != nil:
		r.reading, r.code = true, match[1]+match[2]
	default:
		r.script = r.script || strings.HasPrefix(line, "#!/bin/sh")
		if kept := keptLine.FindStringSubmatch(line); kept != nil && slices.Contains(capabilities, endpoint.Capability(kept[1])) {
			r.kept[endpoint.Capability(kept[1])] = true
		}
		return nil
	}
	if len(r.code)%4 != 0 { // base64 ends with a group of four
		return nil
	}
	token, err := lxdapi.ParseJoinToken(plugin.Secret(r.code))
	if err != nil {
		return nil // it goes on in the next line
	}
	code := plugin.Secret(r.code)
	r.reading, r.code = false, ""
	c := endpoint.Capability(strings.TrimPrefix(token.ClientName, client("")))
	if token.ClientName != client(c) || !slices.Contains(capabilities, c) {
		return badOutput("the text contains a join token that the script did not create: its tokens are for certificates " +
			"such as " + client(endpoint.Monitoring))
	}
	if before, ok := r.codes[c]; ok && before != code {
		return badOutput("the text has two join tokens for " + string(c) + ": paste only the output of the last run of the script")
	}
	r.codes[c] = code
	return nil
}

// answer returns what was read, in the order of the capabilities, or an error
// that says what to paste instead.
func (r *outputReader) answer() (out hypervisor.RoleOutput, err error) {
	for _, c := range capabilities {
		if code, ok := r.codes[c]; ok {
			out.Created = append(out.Created, endpoint.Credential{Capability: c, Form: endpoint.FormJoinToken, Secret: code})
		} else if r.kept[c] {
			out.Kept = append(out.Kept, c)
		}
	}
	switch {
	case len(out.Created)+len(out.Kept) > 0:
		return out, nil
	case r.script:
		return out, badOutput("this is the script itself: run it on the machine of the server, and paste its output")
	}
	return out, badOutput("the text contains no join token: paste the complete output of the script")
}

// cutOff returns the error for an incomplete join token.
func cutOff() error {
	return badOutput("a join token is incomplete or changed: paste it exactly as the script printed it")
}

// badOutput tells what is wrong with an output and nothing of what is in it.
func badOutput(why string) error { return invalid("output", "%s", why) }
