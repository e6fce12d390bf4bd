export function send(path, body) {
  return fetch(path, { method: 'POST', body: JSON.stringify(body) });
}
