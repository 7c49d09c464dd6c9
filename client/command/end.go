package command

import (
	"context"
	"net/netip"
	"strings"
)

// end converts a word to the end of a packet, as the firewall's tests take it:
// an IP address, "outside" for an address that belongs to no node and no guest,
// node:NAME or node:HOST/NAME for a node, and otherwise the name or ID of a
// guest. An address of a guest or node is found by the service.
func (s *session) end(ctx context.Context, word string) (map[string]any, error) {
	if word == "outside" {
		return map[string]any{"outside": true}, nil
	}
	if _, err := netip.ParseAddr(word); err == nil {
		return map[string]any{"address": word}, nil
	}
	if name, ok := strings.CutPrefix(word, "node:"); ok {
		found, err := s.resolve(ctx, "node", name)
		return map[string]any{"host_id": found.host, "node": found.name}, err
	}
	found, err := s.resolve(ctx, "guest", word)
	if found.app {
		return map[string]any{"app_id": found.id}, err
	}
	return map[string]any{"vm_id": found.id}, err
}
