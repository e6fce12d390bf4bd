package access

import (
	"encoding/json"
	"fmt"
)

// tableVersion is raised when the meaning of storedTable changes.
const tableVersion = 1

// storedTable is a table as backends keep it.
type storedTable struct {
	Version int   `json:"version"`
	Groups  Table `json:"groups"`
}

// EncodeTable gives a table as backends store it, or says why it is not valid.
func EncodeTable(table Table) ([]byte, error) {
	if err := table.Validate(); err != nil {
		return nil, err
	}
	return json.Marshal(storedTable{Version: tableVersion, Groups: table})
}

// DecodeTable reads what EncodeTable gave.
func DecodeTable(body []byte) (Table, error) {
	var stored storedTable
	if err := json.Unmarshal(body, &stored); err != nil {
		return nil, fmt.Errorf("read a table of groups: %w", err)
	}
	if stored.Version != tableVersion {
		return nil, fmt.Errorf("read a table of groups: it has version %d, this program knows %d: upgrade cairn", stored.Version, tableVersion)
	}
	return stored.Groups, stored.Groups.Validate()
}
