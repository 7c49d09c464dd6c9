// Package identity knows who calls: users, their sessions and API keys, the teams that they
// belong to, and the role that they have in each.
//
// The package does not know what a role permits; the declarations of the operations in
// core/api do. It does not send e-mail, and it does not talk to identity providers: core/sso
// does that and passes the result in.
//
// # Main types
//
//   - Store keeps users, sessions, keys, teams and members. Everything goes through it.
//   - Caller is the authenticated user of a request with all roles. Visible is the part of
//     it that every list query takes.
//   - Role is a level from NoRole to Owner. A higher role includes the lower ones.
//   - Login, Session and Key are the ways to prove who calls. Passkey and Enrolment concern
//     second factors.
//   - Setup creates the first owner.
//
// # Teams
//
// A team owns hosts. The team "default" is that of the instance: a role in it applies to
// every host and to operations on the whole instance. A role in another team applies to that
// team's hosts and their guests only.
//
// # Logging in
//
// LogIn verifies a password and opens a session. For an account with a second factor (TOTP,
// RFC 6238) LogInTOTP does so in a second step. Authenticate recognises the session cookie or
// the API key of each request and returns the Caller.
//
// # Invariants
//
//   - Every change of users, teams and members begins with govern: one lock for all of them,
//     and the caller's rights at that moment. Two owners therefore cannot remove each other
//     at the same time, and a slug that was free stays free until it is stored.
//   - Nothing is kept in memory that another instance on the same database would need:
//     sessions, failed attempts, pending log-ins and setup tokens are rows.
//   - Only the SHA-256 of sessions, keys, pending log-ins and recovery codes is stored, and
//     only the Argon2id hash of passwords. The secret of a second factor is encrypted.
//   - A failed log-in takes as long for an unknown user as for a wrong password.
//
// # Errors
//
// Errors for users are problems of package core/problem. Whether a user exists is never part
// of one before the log-in.
package identity
