// Package chaos holds no program, only the proof that one survives: its test starts
// intakes and workers as processes of their own, talks to them from a platform outside,
// kills, stops and cuts them off, and checks from what was posted that every message was
// answered once, in the order of its thread. `make chaos` runs it for longer.
package chaos
