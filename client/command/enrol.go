package command

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hostler/hostler/client/output"
	"github.com/hostler/hostler/client/transport"
)

// enrolment contains the flags of hostler host enrol, and what was decided so
// far.
type enrolment struct {
	address, driver, name, fingerprint, path string
	capabilities                             []string
	pasteFile                                string
}

// enrolCommand returns the command that enrols a host step by step, like the
// page does.
func (s *session) enrolCommand() *cobra.Command {
	var e enrolment
	c := &cobra.Command{
		Use: "enrol ADDRESS", Aliases: []string{"enroll"}, Short: "Enrol a host step by step", Args: cobra.ExactArgs(1),
		Long: "Enrol a host step by step: compare its certificate, choose capabilities, run the script that creates their tokens on the " +
			"host, and paste its output. Every token is tried before the host is stored. For a cluster, the address of one node is " +
			"enough.\n\nWithout a terminal, use hostler host create.",
		Example: "  hostler host enrol pve1.lab\n" +
			"  hostler host enrol pve1.lab:8006 --name lab --capabilities monitoring,backup --paste-file tokens.txt",
		RunE: func(cmd *cobra.Command, args []string) error {
			e.address = args[0]
			return s.enrol(cmd.Context(), e)
		},
	}
	flags := c.Flags()
	flags.StringVar(&e.driver, "driver", "", "hypervisor, such as pve; asked for if there are several")
	flags.StringVar(&e.name, "name", "", "name of the host in Hostler")
	flags.StringVar(&e.fingerprint, "tls-fingerprint", "", "SHA-256 of the certificate that the host must present")
	flags.StringSliceVar(&e.capabilities, "capabilities", nil, "capabilities, separated by commas; asked for if absent")
	flags.StringVar(&e.path, "path", "/", "path on which the permissions of the tokens apply")
	flags.StringVar(&e.pasteFile, "paste-file", "", "file with the output of the script, which is not shown then")
	return c
}

// probe is the part of the response to a probe that the steps need.
type probe struct {
	Fingerprint string `json:"fingerprint"`
	Certificate *struct {
		Names    []string `json:"names"`
		Issuer   *string  `json:"issuer"`
		NotAfter string   `json:"not_after"`
		Trusted  *bool    `json:"trusted"`
	} `json:"certificate"`
	Tokens []struct {
		Key     string   `json:"key"`
		TokenID *string  `json:"token_id"`
		Reason  *string  `json:"reason"`
		Error   *string  `json:"error"`
		Missing []string `json:"missing"`
		Remedy  *string  `json:"remedy"`
	} `json:"tokens"`
}

// enrol asks what the flags do not say. Nothing is stored before the last
// request, and no token is sent before the certificate was compared.
func (s *session) enrol(ctx context.Context, e enrolment) error {
	if !s.asks() && (e.pasteFile == "" || e.name == "" || len(e.capabilities) == 0) {
		return &failure{statusUsage, "this command asks questions on a terminal: give --name, --capabilities and --paste-file, " +
			"or use hostler host create"}
	}
	if err := s.chooseDriver(ctx, &e); err != nil {
		return err
	}
	if err := s.compare(ctx, &e); err != nil {
		return err
	}
	if err := s.chooseCapabilities(ctx, &e); err != nil {
		return err
	}
	paste, err := s.tokens(ctx, e)
	if err != nil {
		return err
	}
	access := e.access()
	access["paste"], access["capabilities"] = paste, e.capabilities
	var found probe
	if err := s.ofHosts(ctx, "probe", access, &found); err != nil {
		return err
	}
	if err := s.verified(ctx, found); err != nil {
		return err
	}
	if e.name == "" {
		if e.name, err = s.askOr(ctx, "Name of the host in Hostler", nameOfAddress(e.address)); err != nil {
			return err
		}
	}
	access["name"] = e.name
	var made struct {
		ID int64 `json:"id"`
	}
	if err := s.ofHosts(ctx, "", access, &made); err != nil {
		return err
	}
	s.say("Enrolled %s as host %d. Its guests appear after the first poll: hostler guest list --host %s", e.name, made.ID, e.name)
	return nil
}

// access returns the fields that every request about the host has.
func (e enrolment) access() map[string]any {
	access := map[string]any{"driver": e.driver, "address": e.address, "verify_tls": true}
	if e.fingerprint != "" {
		access["tls_fingerprint"] = e.fingerprint
	}
	return access
}

// ofHosts sends a POST below /hosts and decodes the response.
func (s *session) ofHosts(ctx context.Context, path string, body map[string]any, out any) error {
	client, err := s.connection()
	if err != nil {
		return err
	}
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	at := strings.TrimSuffix("/api/v1/hosts/"+path, "/")
	return read(ctx, client, transport.Request{Method: http.MethodPost, Path: at, Body: text}, out)
}

// askOr asks a question with a default, which an empty line accepts.
func (s *session) askOr(ctx context.Context, question, usual string) (string, error) {
	said, err := s.ask(ctx, fmt.Sprintf("%s [%s]: ", question, usual))
	if said = strings.TrimSpace(said); said == "" {
		said = usual
	}
	return said, err
}

// chooseDriver takes the only driver, or asks for one of several.
func (s *session) chooseDriver(ctx context.Context, e *enrolment) error {
	if e.driver != "" {
		return nil
	}
	client, err := s.connection()
	if err != nil {
		return err
	}
	var drivers []struct {
		Name    string `json:"name"`
		Product string `json:"product"`
	}
	request := transport.Request{Method: http.MethodGet, Path: "/api/v1/hosts/drivers", Repeatable: true}
	if err := read(ctx, client, request, &drivers); err != nil {
		return err
	}
	if len(drivers) == 0 {
		return &failure{statusServiceFailed, "no hypervisor plugin is running"}
	}
	if e.driver = drivers[0].Name; len(drivers) == 1 {
		return nil
	}
	names := make([]string, len(drivers))
	for i, driver := range drivers {
		names[i] = driver.Name
		s.screen.Say("  %s  %s", driver.Name, driver.Product)
	}
	usual := e.driver
	if slices.Contains(names, "pve") {
		usual = "pve"
	}
	e.driver, err = s.askOr(ctx, "Hypervisor", usual)
	return err
}

// compare reads the certificate of the host. It asks a person to compare the
// fingerprint if no authority that the service trusts has signed it.
func (s *session) compare(ctx context.Context, e *enrolment) error {
	if e.fingerprint != "" {
		return nil
	}
	access := e.access()
	access["tokens"] = []any{}
	var found probe
	if err := s.ofHosts(ctx, "probe", access, &found); err != nil {
		return err
	}
	if found.Fingerprint == "" || found.Certificate != nil && found.Certificate.Trusted != nil && *found.Certificate.Trusted {
		return nil
	}
	s.screen.Say("No authority that the service trusts has signed the certificate of %s.\n  SHA-256   %s", e.address, found.Fingerprint)
	if c := found.Certificate; c != nil {
		s.screen.Say("  names     %s\n  expires   %s", strings.Join(c.Names, ", "), c.NotAfter)
	}
	s.screen.Say("Log in to the host in another way, such as its own screen or SSH, and compare it with the output of\n" +
		"  openssl x509 -noout -fingerprint -sha256 -in /etc/pve/local/pve-ssl.pem    (Proxmox VE)")
	if !s.asks() {
		return &failure{statusUnreachable, "the certificate is not trusted: use --tls-fingerprint to pin it"}
	}
	said, err := s.ask(ctx, "Does it match? Type yes: ")
	if err != nil || said != "yes" {
		return &failure{statusUnreachable, "certificate rejected; nothing was sent"}
	}
	e.fingerprint = found.Fingerprint
	return nil
}

// chooseCapabilities shows what the hypervisor supports, with the reasons, and
// asks for a list.
func (s *session) chooseCapabilities(ctx context.Context, e *enrolment) error {
	if len(e.capabilities) > 0 {
		return nil
	}
	client, err := s.connection()
	if err != nil {
		return err
	}
	var known []struct {
		Key string `json:"key"`
		Why string `json:"why"`
	}
	request := transport.Request{Method: http.MethodGet, Path: "/api/v1/hosts/capabilities", Repeatable: true}
	request.Query = map[string][]string{"driver": {e.driver}}
	if err := read(ctx, client, request, &known); err != nil {
		return err
	}
	var usual []string
	for _, one := range known {
		s.screen.Say("  %-11s %s", one.Key, one.Why)
		if one.Key != "node_power" {
			usual = append(usual, one.Key)
		}
	}
	said, err := s.askOr(ctx, "Capabilities, each with its own token", strings.Join(usual, ","))
	e.capabilities = strings.FieldsFunc(said, func(r rune) bool { return r == ',' || r == ' ' })
	if !slices.Contains(e.capabilities, "monitoring") {
		e.capabilities = append([]string{"monitoring"}, e.capabilities...)
	}
	return err
}

// tokens shows the script and reads its output: from a file, or from the
// terminal up to Ctrl-D.
func (s *session) tokens(ctx context.Context, e enrolment) (string, error) {
	if e.pasteFile != "" {
		text, err := s.readInput(e.pasteFile)
		return string(text), err
	}
	var made struct {
		Script string `json:"script"`
	}
	body := map[string]any{"driver": e.driver, "capabilities": e.capabilities, "path": e.path, "recommended": true}
	if err := s.ofHosts(ctx, "token-script", body, &made); err != nil {
		return "", err
	}
	file, err := os.CreateTemp("", "hostler-tokens-*.sh")
	if err != nil {
		return "", err
	}
	_, err = file.WriteString(made.Script)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return "", err
	}
	s.screen.Say("The script that creates the tokens is in %s. Read it, copy it to the host, and run it there as root:\n"+
		"  scp %s root@HOST:/root/tokens.sh && ssh root@HOST sh /root/tokens.sh\n"+
		"Then paste its output here, and press Ctrl-D on an empty line:", file.Name(), file.Name())
	return typed(ctx, func() (string, error) {
		var text strings.Builder
		lines := bufio.NewScanner(s.in)
		lines.Buffer(nil, maxLine)
		for lines.Scan() && text.Len() < maxLine {
			text.WriteString(lines.Text() + "\n")
		}
		return text.String(), lines.Err()
	})
}

// verified shows the result for each token. A rejected token ends the
// enrolment; one that lacks privileges is a question.
func (s *session) verified(ctx context.Context, found probe) error {
	lacking, rejected := false, false
	for _, token := range found.Tokens {
		id, state := "-", "OK"
		if token.TokenID != nil {
			id = *token.TokenID
		}
		switch {
		case token.Reason != nil:
			state, rejected = "rejected", true
			if token.Error != nil {
				state += ": " + output.CleanLine(*token.Error)
			}
		case len(token.Missing) > 0:
			state, lacking = "lacks "+strings.Join(token.Missing, ", "), true
		}
		s.screen.Say("  %-11s %s  %s", output.CleanLine(token.Key), output.CleanLine(id), state)
		if token.Remedy != nil && len(token.Missing) > 0 {
			s.screen.Say("    fix on the host: %s", output.CleanLine(*token.Remedy))
		}
	}
	if rejected {
		return &failure{statusInvalid, "a token was rejected; run the script again with --renew, which creates new secrets"}
	}
	if !lacking || !s.asks() {
		return nil
	}
	said, err := s.ask(ctx, "Some tokens lack privileges, so some features will fail. Enrol the host now? Type yes: ")
	if err == nil && said != "yes" {
		return &failure{statusFailed, "nothing was stored"}
	}
	return err
}

// nameOfAddress returns the name that an address suggests.
func nameOfAddress(address string) string {
	name := strings.TrimSuffix(strings.TrimPrefix(address, "https://"), "/")
	if host, _, ok := strings.Cut(name, ":"); ok && !strings.Contains(name, "]") && strings.Count(name, ":") == 1 {
		name = host
	}
	return name
}
