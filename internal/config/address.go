package config

import (
	"errors"
	"net/url"
	"reflect"
	"slices"

	"github.com/cairn-bot/cairn/internal/llm"
)

// Address is where a server is, the zero Address none. It may hold a password, and is
// shown without it.
type Address struct {
	URL  llm.Secret
	File string // that the address was read from, absolute; "" where it stood elsewhere
}

// addressForm is the form of an Address, or of the file that holds one.
type addressForm struct {
	key, env string
	// check says why a well-formed address is none of such a server, or nil. What it
	// says never quotes the address, which may hold a password.
	check func(*url.URL) error
	// wanted is what to say of a text that is no address at all.
	wanted error
	inFile bool
}

var errPostgresAddress = errors.New("want an address such as postgres://user@host:5432/database")

// addressForms are the kinds of addresses, by the names that tags give them.
var addressForms = map[string]addressForm{
	"redis": {
		check:  func(*url.URL) error { return nil }, // the schemes are the client's to know
		wanted: errors.New("want an address such as redis://host:6379/0; redis+sentinel:// and redis+cluster:// are known too"),
	},
	"postgres": {check: checkPostgres, wanted: errPostgresAddress},
}

// checkPostgres wants the database named: the server's default would be that of the
// user's name, where nobody looks for it.
func checkPostgres(address *url.URL) error {
	if address.Scheme != "postgres" && address.Scheme != "postgresql" {
		return errPostgresAddress
	}
	if len(address.Path) < 2 && address.Query().Get("dbname") == "" {
		return errors.New("it names no database: want postgres://user@host:5432/database")
	}
	return nil
}

// addressSettings are those of an Address: KEY and KEY_file.
func addressSettings(at setting, kind string) []setting {
	made := addressForms[kind]
	made.key, made.env = at.key, at.env
	text, file := at, at
	text.form = made
	made.inFile = true
	file.key, file.env, file.form = at.key+"_file", at.env+"_FILE", made
	return []setting{text, file}
}

func (f addressForm) set(field reflect.Value, text string, from base) error {
	if text == "" && f.inFile {
		return nil
	}
	read := f.parse
	if f.inFile {
		read = f.read
	}
	address, err := read(text, from)
	field.Set(reflect.ValueOf(address))
	return err
}

func (f addressForm) get(field reflect.Value) []string {
	address := field.Interface().(Address)
	if f.inFile {
		return []string{address.File}
	}
	return []string{address.shown()}
}

// parse takes an address. One with a password is taken from the environment alone.
func (f addressForm) parse(text string, from base) (Address, error) {
	if text == "" {
		return Address{}, nil
	}
	parsed, err := url.Parse(text)
	if err != nil || parsed.Scheme == "" || parsed.Host == "" {
		return Address{}, f.wanted
	}
	if _, err := url.ParseQuery(parsed.RawQuery); err != nil { // it could hide a password
		return Address{}, f.wanted
	}
	if err := f.check(parsed); err != nil {
		return Address{}, err
	}
	if _, hidden := withoutPassword(parsed); hidden && !from.environment {
		return Address{}, errors.New("it holds a password: set " + f.env + ", or put the address into a file and name that with " + f.key + "_file")
	}
	return Address{URL: llm.NewSecret(text)}, nil
}

// read takes the address that a file holds.
func (f addressForm) read(path string, from base) (Address, error) {
	path, err := from.absolute(path)
	if err != nil {
		return Address{}, err
	}
	text, err := readKey(path)
	if err != nil {
		return Address{}, err
	}
	address, err := f.parse(text, base{environment: true})
	address.File = path
	return address, err
}

// shown is the address as it may be shown: with no password, and only where it does not
// stand in a file.
func (a Address) shown() string {
	if a.URL.IsZero() || a.File != "" {
		return ""
	}
	parsed, err := url.Parse(a.URL.Reveal())
	if err != nil {
		return ""
	}
	if safe, hidden := withoutPassword(parsed); hidden {
		return safe
	}
	return a.URL.Reveal()
}

// secretParameters are those of PostgreSQL's addresses that nobody is to see.
var secretParameters = []string{"password", "sslpassword"}

// withoutPassword gives an address as it may be shown, and whether it held a password.
func withoutPassword(parsed *url.URL) (safe string, hidden bool) {
	shown := *parsed
	if _, secret := parsed.User.Password(); secret {
		shown.User, hidden = url.User(parsed.User.Username()), true
	}
	parameters := parsed.Query()
	for name := range parameters {
		if slices.Contains(secretParameters, name) {
			parameters.Del(name)
			shown.RawQuery, hidden = parameters.Encode(), true
		}
	}
	return shown.String(), hidden
}
