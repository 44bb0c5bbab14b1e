// The API reference: Scalar, on the document of this server.
import "./strict_policy.js";
import { createApiReference } from "./scalar/standalone.esm.js";

const { origin } = document.getElementById("reference").dataset;

async function loadDocument() {
  const text = await (await fetch("/openapi.json")).text();
  return JSON.parse(text.replaceAll("http://localhost:8000", origin));
}

// The buttons that copy code have an icon only.
function nameCopyButtons() {
  for (const button of document.querySelectorAll('button[class*="copy-button"]:not([aria-label])')) {
    button.ariaLabel = "Copy";
  }
}

new MutationObserver(nameCopyButtons).observe(document.body, { subtree: true, childList: true });

createApiReference("#reference", {
  content: await loadDocument(),
  baseServerURL: origin,
  // Nothing of other hosts.
  agent: { disabled: true },
  hideClientButton: true,
  mcp: { disabled: true },
  proxyUrl: "",
  showDeveloperTools: "never",
  telemetry: false,
  withDefaultFonts: false,
  defaultOpenFirstTag: true,
  nonce: document.querySelector("meta[property=csp-nonce]").content,
});
