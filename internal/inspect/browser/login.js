// Fills in the form that has a field for a password, and sends it. Returns whether there is one.
function (user, password, send) {
  const isShown = (field) => !field.disabled && field.getClientRects().length > 0;
  const secret = [...document.querySelectorAll('input[type=password]')].find(isShown);
  if (!secret || !send) return !!secret;
  const fields = [...(secret.form ?? document).querySelectorAll('input')].filter((field) => isShown(field) && /^(text|email|tel|)$/.test(field.getAttribute('type') ?? ''));
  const before = fields.filter((field) => field.compareDocumentPosition(secret) & Node.DOCUMENT_POSITION_FOLLOWING);
  const fill = (field, text) => {
    if (!field) return;
    field.focus();
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(field, text);
    field.dispatchEvent(new InputEvent('input', { bubbles: true, data: text }));
    field.dispatchEvent(new Event('change', { bubbles: true }));
  };
  fill(before.at(-1) ?? fields[0], user);
  fill(secret, password);
  const scope = secret.form ?? document;
  const button = scope.querySelector('button[type=submit], input[type=submit]') ?? (secret.form && scope.querySelector('button:not([type=button])'));
  setTimeout(() => (button ? button.click() : secret.form?.requestSubmit()), 0);
  return true;
}
