package main

import (
	"syscall"
	"testing"
)

// TestLimitsHoldOverProcesses has Ann ask one process, and then another: what she asked the
// first counts for the second. Ben has asked nothing, and is answered.
func TestLimitsHoldOverProcesses(t *testing.T) {
	o := newOffice(t, "http")
	o.env = append(o.env, "CAIRN_LIMITS_USER_QUESTIONS_PER_HOUR=1")
	first := o.serve()
	root := o.ann.Says(o.general, "", mention+"where do I get a laptop?")
	o.shows(root, room12)
	first.end(syscall.SIGTERM)
	second := o.serve()
	again := o.ann.Says(o.general, "", mention+"how many days of leave do I have?")
	o.shows(again, "You have asked 1 question within an hour")
	asked := o.ben.Says(o.general, "", mention+"how many days of leave do I have?")
	o.shows(asked, "28 days of leave")
	second.end(syscall.SIGTERM)
	o.isUnsaid([]*process{first, second})
}
