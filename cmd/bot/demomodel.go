package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/config"
)

// demoModels are the models with which the demo answers: the one that is named in all roles
// of conversation, and what makes vectors.
func demoModels(ctx context.Context, named string, configured []config.Model) ([]config.Model, error) {
	models := slices.DeleteFunc(slices.Clone(configured), func(m config.Model) bool { return !m.Has(config.RoleEmbed) })
	host, err := config.ThisHost()
	if err != nil {
		return nil, err
	}
	address, name, isAddress := "", named, strings.Contains(named, "://")
	if isAddress {
		address, name, _ = strings.Cut(named, "#")
	}
	for _, m := range configured {
		if !isAddress && m.Name == name && !m.Has(config.RoleEmbed) {
			m.Roles = []config.Role{config.RoleUnderstand, config.RoleAnswer, config.RoleVerify}
			return append(models, m), nil
		}
	}
	made, err := config.ChatModel(host, address, name)
	if err != nil {
		return nil, err
	}
	if made.Name == "" {
		if made.Name, err = firstModel(ctx, made); err != nil {
			return nil, err
		}
	}
	return append(models, made), nil
}

// What is read of a server's list of models, and how long is waited for it.
const (
	maxModelList  = 1 << 20 // bytes
	modelListTime = 10 * time.Second
)

// firstModel asks a server which models it has, and gives the first one's name.
func firstModel(ctx context.Context, at config.Model) (name string, err error) {
	ctx, cancel := context.WithTimeout(ctx, modelListTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.BaseURL+"/models", http.NoBody)
	if err != nil {
		return "", err
	}
	if !at.Key.Secret.IsZero() {
		request.Header.Set("Authorization", "Bearer "+at.Key.Secret.Reveal())
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		return "", errors.New("the server can't be reached: look whether it runs at that address")
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("the server's list of models: status %d; name a model behind the address: URL#NAME", response.StatusCode)
	}
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxModelList)).Decode(&list); err != nil {
		return "", errors.New("the server's list of models can't be read; name a model behind the address: URL#NAME")
	}
	if len(list.Data) == 0 || list.Data[0].ID == "" {
		return "", errors.New("the server has no model: load one, or name it behind the address: URL#NAME")
	}
	return list.Data[0].ID, nil
}
