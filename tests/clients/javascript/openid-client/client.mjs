import * as client from "openid-client";
import { API_URL, assert, browse, prove } from "../prove.mjs";

const { OAUTH_CLIENT_ID, OAUTH_CLIENT_SECRET, OAUTH_PUBLIC_CLIENT_ID, OAUTH_REDIRECT_URI } = process.env;
// `oauth2`: the server issues no id tokens. It has no certificate here.
const options = { algorithm: "oauth2", execute: [client.allowInsecureRequests] };

async function authorize(config) {
  const verifier = client.randomPKCECodeVerifier();
  const state = client.randomState();
  const address = client.buildAuthorizationUrl(config, {
    redirect_uri: OAUTH_REDIRECT_URI,
    scope: "posts:read",
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    state,
  });
  const checks = { pkceCodeVerifier: verifier, expectedState: state };
  return client.authorizationCodeGrant(config, new URL(await browse(address)), checks);
}

await prove("discovery; a confidential client gets tokens by code with PKCE, refreshes and revokes them", async () => {
  const config = await client.discovery(new URL(API_URL), OAUTH_CLIENT_ID, OAUTH_CLIENT_SECRET, undefined, options);
  assert.ok(config.serverMetadata().supportsPKCE());
  const tokens = await authorize(config);
  assert.ok(tokens.expiresIn() > 0);
  const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token);
  const address = new URL("/posts?limit=1", API_URL);
  assert.equal((await client.fetchProtectedResource(config, refreshed.access_token, address, "GET")).status, 200);
  assert.equal((await client.tokenIntrospection(config, refreshed.access_token)).active, true);
  await client.tokenRevocation(config, refreshed.refresh_token);
  const error = await client.refreshTokenGrant(config, refreshed.refresh_token).then(assert.fail, (reason) => reason);
  assert.equal(error.error, "invalid_grant");
});

await prove("a public client gets tokens without a secret", async () => {
  const config = await client.discovery(new URL(API_URL), OAUTH_PUBLIC_CLIENT_ID, undefined, client.None(), options);
  assert.equal((await authorize(config)).scope, "posts:read");
});
