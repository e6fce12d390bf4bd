// Package kinds holds tests alone: it runs the suites of what is kept in Redis on other
// servers than the plain one of the backends' own tests: behind Sentinels, on Valkey, and
// over TLS as a user with no more rights than docs/redis.md asks for.
package kinds
