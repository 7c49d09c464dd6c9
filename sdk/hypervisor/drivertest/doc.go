// Package drivertest is the conformance suite for hypervisor drivers. A driver that passes
// it works with Hostler; the suite checks the contract in the comments of package
// hypervisor, including which error kind a failure has.
//
// It is not a benchmark and does not check the quality of texts. It changes the hypervisor
// that it runs against: use a simulator, or a machine that may be changed.
//
// # Use
//
// A driver's test calls Run with a Config:
//
//	func TestConformance(t *testing.T) {
//		drivertest.Run(t, drivertest.Config{
//			Driver:   mydriver.New(),
//			HostType: (*mydriver.Host)(nil),
//			Target:   func(t testing.TB, c endpoint.Capability) endpoint.Target { … },
//			NewGuest: func(t testing.TB, kind hypervisor.GuestKind, status string) hypervisor.GuestRef { … },
//		})
//	}
//
// Every case runs twice: with the driver itself, and over real gRPC through the server that
// plugin.Serve uses. A difference between the two is a fault of the conversion.
//
// # Hooks
//
// The fields of Config stand for what the suite cannot do through the interface: provide a
// second token, create a guest, keep a task running. Each hook returns an object that no
// other case uses, because cases run in parallel. A hook that is nil, and an ability that
// the driver does not report, skip their cases with a message that says why.
//
// # Time
//
// The suite waits for conditions and never for a fixed time. Config.Patience bounds each
// wait, so a slow hypervisor needs a larger value and not other tests.
//
// Each file contains the cases of one optional interface. Remote returns a driver's client
// over gRPC, for tests of one's own.
package drivertest
