package conn

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/redis/go-redis/v9"
)

// errorRemedies tell what to do about what Redis refuses, by the first word of its error.
var errorRemedies = []struct{ prefix, remedy string }{
	{"WRONGPASS", "the user or the password is wrong: correct the address"},
	{"NOAUTH", "it wants a password: write it into the address as redis://:password@host"},
	{"NOPERM", "this user may not do this: give it the rights that docs/redis.md lists"},
	{"ACL failure", "this user may not do this: give it the rights that docs/redis.md lists"},
	{"DENIED", "it takes connections from its own machine alone: give it a password, or a bind address and protected-mode no"},
	{"OOM", "its memory is full: raise maxmemory or make room; nothing was written"},
	{"READONLY", "it is a replica, which takes no writes: give the address of its master, or use redis+sentinel://"},
	{"MISCONF", "it can't write to its disk: make room there; nothing was written"},
	{"NOREPLICAS", "too few of its replicas are connected: bring them back, or lower min-replicas-to-write; nothing was written"},
	{"LOADING", "it is still reading its data: try again in a moment"},
	{"CLUSTERDOWN", "a part of the cluster is down: bring its nodes back"},
	{"MASTERDOWN", "its master is down: bring it back, or fail over"},
	{"max number of clients", "it has too many connections: raise maxclients, or have fewer processes"},
	{"This instance has cluster support disabled", "it is not in a cluster: write the address as redis://"},
	{"DB index", "it has no such database: correct the number at the end of the address"},
}

// Explain adds to an error of Redis what can be done about it. It is nil for nil.
func Explain(err error) error {
	if err == nil {
		return nil
	}
	if refusal, ok := errors.AsType[redis.Error](err); ok {
		if remedy := remedyOf(refusal.Error()); remedy != "" {
			return fmt.Errorf("%s (%w)", remedy, err)
		}
	}
	return err
}

// remedyOf returns the remedy of what Redis says, "" where there is none.
func remedyOf(refusal string) string {
	refusal = strings.TrimPrefix(refusal, "ERR ")
	for _, known := range errorRemedies {
		if strings.HasPrefix(refusal, known.prefix) {
			return known.remedy
		}
	}
	return ""
}

// explainDial is Explain for an error in setting up a connection.
func explainDial(err error) error {
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return fmt.Errorf("its host has no address: correct the host, or have its name resolve (%w)", err)
	}
	if isDial(err) {
		return fmt.Errorf("nothing answers there: start it, or correct the host and the port (%w)", err)
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return fmt.Errorf("its certificate is signed by nobody that this machine trusts: name the file of the authority's certificate at the end of the address, ?ca=FILE (%w)", err)
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return fmt.Errorf("its certificate is for another host: write the host as the certificate names it, or have one made for this (%w)", err)
	}
	return Explain(err)
}

func isDial(err error) bool {
	operation, ok := errors.AsType[*net.OpError](err)
	return ok && operation.Op == "dial"
}
