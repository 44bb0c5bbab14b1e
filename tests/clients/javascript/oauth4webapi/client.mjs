import * as oauth from "oauth4webapi";
import { API_URL, assert, browse, prove } from "../prove.mjs";

const { OAUTH_CLIENT_ID, OAUTH_CLIENT_SECRET, OAUTH_PUBLIC_CLIENT_ID, OAUTH_REDIRECT_URI } = process.env;
const insecure = { [oauth.allowInsecureRequests]: true }; // the server under test has no certificate
const issuer = new URL(API_URL);
let server;

/** The authorization code flow with PKCE, as the library's examples have it. */
async function authorize(client, authentication) {
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const address = new URL(server.authorization_endpoint);
  const parameters = {
    client_id: client.client_id,
    redirect_uri: OAUTH_REDIRECT_URI,
    response_type: "code",
    scope: "posts:read posts:write",
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    state,
  };
  for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
  const answer = oauth.validateAuthResponse(server, client, new URL(await browse(address)), state);
  const response = await oauth.authorizationCodeGrantRequest(
    server, client, authentication, answer, OAUTH_REDIRECT_URI, verifier, insecure,
  );
  return oauth.processAuthorizationCodeResponse(server, client, response);
}

await prove("discovers the server (RFC 8414) and the resource (RFC 9728)", async () => {
  const found = await oauth.discoveryRequest(issuer, { algorithm: "oauth2", ...insecure });
  server = await oauth.processDiscoveryResponse(issuer, found);
  const resource = await oauth.processResourceDiscoveryResponse(
    issuer,
    await oauth.resourceDiscoveryRequest(issuer, insecure),
  );
  assert.deepEqual(resource.authorization_servers, [server.issuer]);
});

await prove("confidential client: authorization code with PKCE, refresh, revocation, introspection", async () => {
  const client = { client_id: OAUTH_CLIENT_ID };
  const authentication = oauth.ClientSecretBasic(OAUTH_CLIENT_SECRET);
  const tokens = await authorize(client, authentication);
  const response = await oauth.protectedResourceRequest(
    tokens.access_token, "GET", new URL("/posts?limit=1", API_URL), undefined, undefined, insecure,
  );
  assert.equal(response.status, 200);
  const refreshed = await oauth.processRefreshTokenResponse(
    server,
    client,
    await oauth.refreshTokenGrantRequest(server, client, authentication, tokens.refresh_token, insecure),
  );
  const introspect = async () =>
    oauth.processIntrospectionResponse(
      server,
      client,
      await oauth.introspectionRequest(server, client, authentication, refreshed.access_token, insecure),
    );
  assert.equal((await introspect()).active, true);
  await oauth.processRevocationResponse(
    await oauth.revocationRequest(server, client, authentication, refreshed.refresh_token, insecure),
  );
  assert.equal((await introspect()).active, false);
});

await prove("public client: authorization code with PKCE and no secret", async () => {
  const tokens = await authorize({ client_id: OAUTH_PUBLIC_CLIENT_ID }, oauth.None());
  assert.equal(tokens.token_type, "bearer");
  assert.deepEqual(tokens.scope.split(" ").sort(), ["posts:read", "posts:write"]);
});

await prove("reads the challenge of a 401", async () => {
  const request = oauth.protectedResourceRequest(
    "not-a-token", "GET", new URL("/users", API_URL), undefined, undefined, insecure,
  );
  const error = await request.then(assert.fail, (reason) => reason);
  assert.ok(error instanceof oauth.WWWAuthenticateChallengeError, String(error));
  const { parameters } = error.cause.find(({ scheme }) => scheme === "bearer");
  assert.equal(parameters.error, "invalid_token");
  assert.equal(parameters.resource_metadata, `${API_URL}/.well-known/oauth-protected-resource`);
});
