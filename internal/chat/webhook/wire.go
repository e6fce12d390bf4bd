package webhook

import (
	"encoding/json"
	"errors"
	"reflect"
)

// Decode reads JSON into what a pointer points to, as json.Unmarshal does, but for values
// that their fields or elements can't hold: those are left as they were. An error is for
// text that is no JSON, and for JSON that is another kind of thing as a whole.
func Decode(raw []byte, into any) error {
	err := json.Unmarshal(raw, into)
	var unexpected *json.UnmarshalTypeError
	if !errors.As(err, &unexpected) {
		return err
	}
	if whole := reflect.TypeOf(into).Elem(); unexpected.Field == "" && unexpected.Type == whole {
		return err
	}
	return nil // json.Unmarshal read all the rest
}
