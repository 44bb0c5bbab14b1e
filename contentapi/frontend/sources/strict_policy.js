// Makes libraries work with the page's policy. Import it before them.

// Editors and the API reference create style elements. The policy allows those with its nonce.
const nonce = document.querySelector("meta[property=csp-nonce]").content;
const createElement = Document.prototype.createElement;

Document.prototype.createElement = function (...parameters) {
  const element = createElement.apply(this, parameters);
  if (element instanceof HTMLStyleElement) element.nonce = nonce;
  return element;
};

// zod, a part of the API reference, compiles functions if it may. Without this it tries, which the policy reports.
globalThis.__zod_globalConfig = { jitless: true };
