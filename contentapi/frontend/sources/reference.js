// The API reference: Scalar, on the document of this server with the samples that the page contains.
import "./strict_policy.js";
import { createApiReference } from "./scalar/standalone.esm.js";

const samples = JSON.parse(document.getElementById("samples").textContent);
const { origin } = document.getElementById("reference").dataset;

async function loadDocument() {
  const text = await (await fetch("/openapi.json")).text();
  const content = JSON.parse(text.replaceAll("http://localhost:8000", origin));
  for (const item of Object.values(content.paths)) {
    for (const operation of Object.values(item)) {
      if (samples[operation.operationId]) operation["x-codeSamples"] = samples[operation.operationId];
    }
  }
  return content;
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
  hiddenClients: true, // the samples of the page instead
  defaultOpenFirstTag: true,
  nonce: document.querySelector("meta[property=csp-nonce]").content,
});
