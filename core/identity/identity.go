// Package identity knows who calls: users, their sessions, the teams they belong to and the role they have in each.
//
// A team owns hosts. The team "default" is the instance's: a role in it holds on every host and for operations of the
// whole instance; a role in another team holds on that team's hosts and their guests only. What a caller may see in a
// list is one value, Visible, that every query takes.
//
// Every change of users, teams and members begins with govern: one lock for all of them, and the caller's right as it is
// at that moment. So two owners cannot take the role from each other at once, and a slug that was free is still free.
//
// The actors: Store keeps users, sessions and API keys and is the one door to them. LogIn proves a password and opens a
// session; for an account with a second factor (TOTP, RFC 6238) LogInTOTP does so in a second step. Authenticate recognises
// the session's cookie or the API key on each request and yields the Caller with all roles. Setup makes the first owner.
//
// Nothing is kept in memory that another instance on the same database would need: sessions, failed tries, log-ins that
// wait for their second factor and setup tokens are rows. Of a session, a key, a pending log-in and a recovery code only
// the SHA-256 is kept, of a password only its Argon2id hash; the secret of a second factor is sealed.
package identity
