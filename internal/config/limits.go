package config

import "errors"

// Limits are what one person, and one channel, may ask in an hour and cost in a day (UTC);
// 0 is without limit. Costs are in the currency of the models' prices.
type Limits struct {
	UserQuestions, ChannelQuestions int
	UserCost, ChannelCost           float64
}

// Audit is where actions on Cairn itself are written down beside the log.
type Audit struct {
	File string // absolute; "": nowhere else
}

const maxQuestions = 1_000_000

var limitSettings = []setting[Config]{
	wholeFrom0("limits.user_questions_per_hour", "CAIRN_LIMITS_USER_QUESTIONS_PER_HOUR", maxQuestions, func(c *Config) *int { return &c.Limits.UserQuestions }),
	wholeFrom0("limits.channel_questions_per_hour", "CAIRN_LIMITS_CHANNEL_QUESTIONS_PER_HOUR", maxQuestions, func(c *Config) *int { return &c.Limits.ChannelQuestions }),
	budgetCost("limits.user_cost_per_day", "CAIRN_LIMITS_USER_COST_PER_DAY", func(c *Config) *float64 { return &c.Limits.UserCost }),
	budgetCost("limits.channel_cost_per_day", "CAIRN_LIMITS_CHANNEL_COST_PER_DAY", func(c *Config) *float64 { return &c.Limits.ChannelCost }),
	{
		key: "audit.file", env: "CAIRN_AUDIT_FILE",
		set: func(c *Config, text string, from base) (err error) {
			if c.Audit.File = ""; text != "" {
				c.Audit.File, err = from.absolute(text)
			}
			return err
		},
		get: func(c Config) []string { return []string{c.Audit.File} },
	},
}

// unpricedLimits says what is missing to count the costs that limits are of; nil if nothing is.
func (c Config) unpricedLimits() error {
	if c.Limits.UserCost == 0 && c.Limits.ChannelCost == 0 || len(c.Models) == 0 || c.priced() {
		return nil
	}
	return errors.New("limits: user_cost_per_day and channel_cost_per_day count nothing without prices: set price_prompt and price_completion of a model, or limit questions")
}

// priced tells whether any model has a price.
func (c Config) priced() bool {
	for _, m := range c.Models {
		if m.PricePrompt > 0 || m.PriceCompletion > 0 {
			return true
		}
	}
	return false
}
