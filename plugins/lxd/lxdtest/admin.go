//go:build linux

package lxdtest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// Do asks over the local socket, where the caller is an administrator, waits for the end of an operation, and gives the metadata
// of the answer, or of the operation, in into. Both body and into may be nil; a body of bytes is sent as it is, any other as
// JSON.
func (s *Server) Do(ctx context.Context, method, path string, body, into any) error {
	var reader io.Reader
	kind := "application/json"
	switch b := body.(type) {
	case nil:
	case []byte:
		reader, kind = bytes.NewReader(b), "application/octet-stream"
	default:
		text, err := json.Marshal(b)
		if err != nil {
			return err
		}
		reader = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://lxd"+path, reader)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", kind)
	resp, err := s.admin.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	var answer struct {
		Type      string          `json:"type"`
		Error     string          `json:"error"`
		Operation string          `json:"operation"`
		Metadata  json.RawMessage `json:"metadata"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	switch answer.Type {
	case "error":
		return fmt.Errorf("%s %s: %d %s", method, path, resp.StatusCode, answer.Error)
	case "async":
		var op struct {
			Class    string          `json:"class"`
			Err      string          `json:"err"`
			Metadata json.RawMessage `json:"metadata"`
		}
		if err := json.Unmarshal(answer.Metadata, &op); err != nil {
			return fmt.Errorf("%s %s: %w", method, path, err)
		}
		if op.Class != "token" { // one of a token ends when it is used
			if err := s.Do(ctx, http.MethodGet, answer.Operation+"/wait", nil, &op); err != nil {
				return err
			}
		}
		if op.Err != "" {
			return fmt.Errorf("%s %s: %s", method, path, op.Err)
		}
		answer.Metadata = op.Metadata
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(answer.Metadata, into)
}

// addImage makes an image and gives it a name.
func (s *Server) addImage(ctx context.Context, alias, init string) error {
	content, err := image(init)
	if err != nil {
		return err
	}
	if err := s.Do(ctx, http.MethodPost, "/1.0/images", content, nil); err != nil {
		return err
	}
	sum := sha256.Sum256(content)
	return s.Do(ctx, http.MethodPost, "/1.0/images/aliases", map[string]string{"name": alias, "target": hex.EncodeToString(sum[:])}, nil)
}
