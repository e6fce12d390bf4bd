package config

import "errors"

// Limits are what one person, and one channel, may ask in an hour and cost in a day (UTC);
// 0 is without limit. Costs are in the currency of the models' prices.
type Limits struct {
	UserQuestions    int     `key:"user_questions_per_hour" max:"1000000"`
	ChannelQuestions int     `key:"channel_questions_per_hour" max:"1000000"`
	UserCost         float64 `key:"user_cost_per_day" max:"1e9"`
	ChannelCost      float64 `key:"channel_cost_per_day" max:"1e9"`
	// TeamTokens and TeamCost are what language models may use for one Slack workspace or Discord
	// server; its questions are answered without them then.
	TeamTokens int     `key:"team_tokens_per_day" max:"1000000000000"`
	TeamCost   float64 `key:"team_cost_per_day" max:"1e9"`
}

// Audit is where actions on Cairn itself are written down beside the log.
type Audit struct {
	File string `key:"file" form:"path" optional:"true"` // absolute; "": nowhere else
}

// validateCosts says what is missing to count the costs that budget and limits are of.
func (c Config) validateCosts() error {
	if len(c.Models) == 0 || c.hasPrices() {
		return nil
	}
	var faults []error
	if c.Budget.RunCost > 0 || c.Budget.DayCost > 0 {
		faults = append(faults, errors.New("budget: run_cost and day_cost count nothing without prices: set price_prompt and price_completion of a model, or limit tokens"))
	}
	if c.Limits.UserCost > 0 || c.Limits.ChannelCost > 0 || c.Limits.TeamCost > 0 {
		faults = append(faults, errors.New("limits: user_cost_per_day, channel_cost_per_day and team_cost_per_day count nothing without prices: set price_prompt and price_completion of a model, or limit questions"))
	}
	return errors.Join(faults...)
}

// hasPrices tells whether any model has a price.
func (c Config) hasPrices() bool {
	for _, m := range c.Models {
		if m.PricePrompt > 0 || m.PriceCompletion > 0 {
			return true
		}
	}
	return false
}
