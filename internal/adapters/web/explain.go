package web

import (
	"fmt"
	"strings"

	"github.com/cairn-bot/cairn/internal/chat"
)

// Explanation is what the template "why" shows: how a run came about.
type Explanation struct{ whyView }

// Explain makes a run's trace ready to be shown beside the picture of its flow, an SVG
// element as chat.Graphs gives it, or "". over tells that the run has ended.
func Explain(trace chat.Trace, svg string, over bool) (Explanation, error) {
	v := newWhyView(trace)
	v.Live = !over
	err := v.addPicture(trace, svg)
	return Explanation{v}, err
}

// addPicture adds the picture of the flow with the way that the run took.
func (v *whyView) addPicture(trace chat.Trace, svg string) error {
	if svg == "" {
		return nil
	}
	way := newWay(trace.Steps, !v.Live)
	var err error
	if v.Picture, err = renderPicture(svg, way); err != nil {
		return fmt.Errorf("draw flow %s: %w", trace.Flow, err)
	}
	v.Path = strings.Join(way.passed, " → ")
	return nil
}
