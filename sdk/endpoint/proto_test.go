package endpoint_test

import (
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin/plugintest"
)

func TestTargetRoundTrip(t *testing.T) {
	t.Parallel()
	plugintest.RoundTrip(t, endpoint.TargetToProto, endpoint.TargetFromProto)
	plugintest.RoundTrip(t, endpoint.CredentialToProto, endpoint.CredentialFromProto)
}
