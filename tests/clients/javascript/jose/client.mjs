import { createRemoteJWKSet, decodeProtectedHeader, errors, jwtVerify } from "jose";
import { ACCESS_TOKEN, API_URL, assert, prove } from "../prove.mjs";

const keys = createRemoteJWKSet(new URL("/.well-known/jwks.json", API_URL));
const { issuer } = await (await fetch(`${API_URL}/.well-known/oauth-authorization-server`)).json();
const { audience } = await (await fetch(`${API_URL}/.well-known/oauth-protected-resource`)).json();

await prove("verifies a bearer token with createRemoteJWKSet, and the issuer and audience of the metadata", async () => {
  const { payload, protectedHeader } = await jwtVerify(ACCESS_TOKEN, keys, { issuer, audience });
  assert.equal(protectedHeader.alg, "RS256");
  assert.equal(payload.role, "editor");
  assert.ok(payload.scope.split(" ").includes("posts:read"));
  assert.ok(payload.exp > Date.now() / 1000);
});

await prove("refuses a changed signature, another audience and another issuer", async () => {
  const [header, payload, signature] = ACCESS_TOKEN.split(".");
  const changed = `${header}.${payload}.${signature[0] === "A" ? "B" : "A"}${signature.slice(1)}`;
  assert.ok(decodeProtectedHeader(changed).kid);
  await assert.rejects(jwtVerify(changed, keys, { issuer, audience }), errors.JWSSignatureVerificationFailed);
  for (const options of [{ issuer, audience: "other" }, { issuer: "https://other.example", audience }]) {
    await assert.rejects(jwtVerify(ACCESS_TOKEN, keys, options), errors.JWTClaimValidationFailed);
  }
});
