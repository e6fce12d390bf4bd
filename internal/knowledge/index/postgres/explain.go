package postgres

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/cairn-bot/cairn/internal/knowledge/index"
)

// Codes of PostgreSQL's errors that a person can do something about.
const (
	invalidAuthorization = "28000"
	invalidPassword      = "28P01"
	noDatabase           = "3D000"
	noPrivilege          = "42501"
	noTable              = "42P01"
	noColumn             = "42703"
	noSchema             = "3F000"
	diskFull             = "53100"
	tooManyConnections   = "53300"
	queryCancelled       = "57014"
	readOnlyTransaction  = "25006"
	notAccepting         = "55000"
)

// explainedError is an error that names its remedy already.
type explainedError struct{ error }

func (e explainedError) Unwrap() error { return e.error }

// explainError adds the remedy to an error of PostgreSQL, where one is known.
func explainError(err error) error {
	var already explainedError
	if err == nil || errors.As(err, &already) {
		return err
	}
	if remedy := remedyFor(err); remedy != nil {
		return explainedError{remedy}
	}
	return err
}

// remedyFor returns the error with what can be done about it, nil where that is not known.
func remedyFor(err error) error {
	var failure *pgconn.PgError
	if !errors.As(err, &failure) {
		return explainConnection(err)
	}
	switch failure.Code {
	case invalidAuthorization, invalidPassword:
		return fmt.Errorf("the server refuses the user or the password of the URL: correct them (%w)", err)
	case noDatabase:
		return fmt.Errorf("the server has no database of the URL's name: create it, or correct the URL (%w)", err)
	case noPrivilege:
		return fmt.Errorf("the user of the URL lacks a right: grant it, or use the owner of the database (%w)", err)
	case noTable:
		return fmt.Errorf("%w: a table that this process uses was dropped: start it anew (%w)", index.ErrEmbedder, err)
	case noColumn:
		return fmt.Errorf("%w: the tables are older than this program; a replica that has not got the last migration yet needs some time (%w)", index.ErrSchema, err)
	case diskFull:
		return fmt.Errorf("%w: free space on the disk of the PostgreSQL server and start again; nothing is lost (%w)", index.ErrFull, err)
	case tooManyConnections:
		return fmt.Errorf("the server has no connection left: raise max_connections there, or lower Cairn's limit of connections (%w)", err)
	case queryCancelled:
		return fmt.Errorf("a statement took too long or was cancelled: raise the limit of a statement if the server is well (%w)", err)
	case notAccepting:
		return fmt.Errorf("the database takes no connections now: have an administrator allow them (%w)", err)
	case readOnlyTransaction:
		return fmt.Errorf("the server only lets itself be read: the URL for writing must name the primary, not a replica (%w)", err)
	}
	return nil
}

func explainConnection(err error) error {
	var parsing *pgconn.ParseConfigError
	if errors.As(err, &parsing) {
		return explainURL(parsing)
	}
	var connecting *pgconn.ConnectError
	if errors.As(err, &connecting) {
		return fmt.Errorf("PostgreSQL can't be reached: check that it runs, and that the URL names its host, port and sslmode (%w)", err)
	}
	return nil
}

// explainURL does without the error itself, which quotes the URL with the passwords that
// stand among its parameters, and where the URL can't be read without its cause, which may
// quote a part of one.
func explainURL(parsing *pgconn.ParseConfigError) error {
	if _, err := url.Parse(parsing.ConnString); err != nil || errors.Unwrap(parsing) == nil {
		return errors.New("the URL is no address of a database: write postgres://user@host:5432/database")
	}
	return fmt.Errorf("the URL has a parameter that can't be: correct it (%w)", errors.Unwrap(parsing))
}

// isLost reports whether an error came of the connection, so that a new one may do better.
func isLost(err error) bool {
	var failure *pgconn.PgError
	if errors.As(err, &failure) {
		switch failure.Code {
		case "57P01", "57P02", "57P03": // shutdown, crash of another session, starting up
			return true
		}
		return len(failure.Code) > 1 && failure.Code[:2] == "08"
	}
	var network *net.OpError
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
}

func isCode(err error, codes ...string) bool {
	var failure *pgconn.PgError
	if !errors.As(err, &failure) {
		return false
	}
	for _, code := range codes {
		if failure.Code == code {
			return true
		}
	}
	return false
}
