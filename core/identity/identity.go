// Package identity knows who calls: users, their sessions, the teams they belong to and the role they have in each.
//
// A team owns hosts. The team "default" is the instance's: a role in it holds on every host and for operations of the
// whole instance; a role in another team holds on that team's hosts and their guests only. What a caller may see in a
// list is one value, Visible, that every query takes.
//
// The actors: Store keeps users and sessions and is the one door to them. LogIn proves a password and opens a session;
// Authenticate recognises the session's cookie on each request and yields the Caller with all roles. Setup makes the
// first owner. Nothing is kept in memory that another instance on the same database would need: sessions, failed tries
// and setup tokens are rows. Of a session only the SHA-256 of its cookie is kept, of a password only its Argon2id hash.
package identity
