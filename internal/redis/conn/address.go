package conn

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// kind is the kind of deployment behind an address.
type kind int

const (
	single kind = iota
	sentinel
	cluster
)

// target is a parsed address.
type target struct {
	kind      kind
	encrypted bool
	ca        string   // the file with the certificate that signs the servers'; "" for what the machine trusts
	addresses []string // host:port
	user      string
	password  string
	master    string // of Sentinel
	database  int
}

// maxAddress is the length limit of an address, in bytes.
const maxAddress = 4096

var addressForms = map[string]target{
	"redis": {kind: single}, "rediss": {kind: single, encrypted: true},
	"redis+sentinel": {kind: sentinel}, "rediss+sentinel": {kind: sentinel, encrypted: true},
	"redis+cluster": {kind: cluster}, "rediss+cluster": {kind: cluster, encrypted: true},
}

var defaultPorts = map[kind]string{single: "6379", cluster: "6379", sentinel: "26379"}

// parseAddress reads an address. Its errors quote nothing that may hold a password.
func parseAddress(address string) (target, error) {
	if len(address) > maxAddress {
		return target{}, fmt.Errorf("it has %d bytes, at most %d are read", len(address), maxAddress)
	}
	scheme, rest, found := strings.Cut(strings.TrimSpace(address), "://")
	t, ok := addressForms[scheme]
	if !found || !ok {
		return target{}, errors.New("it must begin with redis://, redis+sentinel:// or redis+cluster://, or the same with rediss")
	}
	authority, _, _ := strings.Cut(rest, "/")
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		if err := t.parseCredentials(authority[:at]); err != nil {
			return target{}, err
		}
		rest = rest[at+1:]
	}
	if strings.ContainsAny(rest, "#@") {
		return target{}, errors.New("there is a # or @ after the hosts: write those in a password as %23 and %40, and / and ? as %2F and %3F")
	}
	rest, options, _ := strings.Cut(rest, "?")
	if err := t.parseOptions(options); err != nil {
		return target{}, err
	}
	listed, path, _ := strings.Cut(rest, "/")
	hosts := strings.Split(listed, ",")
	if len(hosts) > 1 && t.kind == single {
		return target{}, errors.New("it has several hosts: write it as redis+cluster:// or redis+sentinel://")
	}
	for _, host := range hosts {
		full, err := withPort(host, defaultPorts[t.kind])
		if err != nil {
			return target{}, err
		}
		t.addresses = append(t.addresses, full)
	}
	return t, t.parseDatabase(strings.TrimSuffix(path, "/"))
}

func (t *target) parseCredentials(text string) error {
	user, password, _ := strings.Cut(text, ":")
	var errs [2]error
	t.user, errs[0] = url.PathUnescape(user)
	t.password, errs[1] = url.PathUnescape(password)
	if errs[0] != nil || errs[1] != nil {
		return errors.New("its user or password has a % that begins no escape: write it as %25")
	}
	return nil
}

// parseOptions reads what stands behind a question mark.
func (t *target) parseOptions(text string) error {
	options, err := url.ParseQuery(text)
	if err != nil || len(options) > 1 || len(options) == 1 && len(options["ca"]) != 1 {
		return errors.New("unknown option: the only one is ca, the file of a certificate; write a ? in a password as %3F")
	}
	t.ca = options.Get("ca")
	if options.Has("ca") && (t.ca == "" || !t.encrypted) {
		return errors.New("option ca needs the file of the certificate authority: rediss://host:6379?ca=/etc/redis/ca.pem")
	}
	return nil
}

// parseDatabase reads what stands behind the hosts: [master/][database].
func (t *target) parseDatabase(path string) error {
	if t.kind == sentinel {
		var err error
		master, database, _ := strings.Cut(path, "/")
		if t.master, err = url.PathUnescape(master); err != nil || t.master == "" {
			return errors.New("the name of the master is missing after the hosts: redis+sentinel://host:26379/mymaster")
		}
		path = database
	}
	if path == "" {
		return nil
	}
	if t.kind == cluster {
		return errors.New("a cluster has one database: end the address after the hosts")
	}
	number, err := strconv.Atoi(path)
	if err != nil || number < 0 {
		return errors.New("the part after the last / is not the number of a database")
	}
	t.database = number
	return nil
}

func withPort(host, standard string) (string, error) {
	if !strings.Contains(host, ":") || strings.HasSuffix(host, "]") {
		host = net.JoinHostPort(strings.Trim(host, "[]"), standard)
	}
	name, port, err := net.SplitHostPort(host)
	number, numberErr := strconv.Atoi(port)
	if err != nil || numberErr != nil || name == "" || number < 1 || number > 65535 {
		return "", errors.New("a host in it is not of the form host or host:port; an IPv6 address goes in [ ]")
	}
	return net.JoinHostPort(name, port), nil
}

// hostNames names the servers, for errors.
func (t target) hostNames() string { return strings.Join(t.addresses, ", ") }
