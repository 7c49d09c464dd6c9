package memdriver

import "github.com/hostler/hostler/sdk/hypervisor"

// Shape is a kind of hypervisor in memory, with the differences that a service
// notices. Tests of the service run for each shape.
type Shape struct {
	Name string
	// New makes a driver without clusters, and gives the part of it that holds them.
	New func() (hypervisor.Driver, *Driver)
	// Forgets says that tasks are not listed after their end: what was
	// requested and is not listed may have been carried out.
	Forgets bool
	// UIDs says that guests are known by lasting identities, their names being their ids.
	UIDs bool
}

// The shapes.
var (
	Tokens = Shape{Name: "tokens", New: func() (hypervisor.Driver, *Driver) {
		d := New()
		return d, d
	}}
	Certificates = Shape{Name: "certificates", Forgets: true, UIDs: true, New: func() (hypervisor.Driver, *Driver) {
		d := NewCertificateDriver()
		return d, d.Driver
	}}
)

// Shapes returns all shapes.
func Shapes() []Shape { return []Shape{Tokens, Certificates} }

// Shape returns the shape of the cluster's driver.
func (c *Cluster) Shape() Shape {
	if c.certified {
		return Certificates
	}
	return Tokens
}
