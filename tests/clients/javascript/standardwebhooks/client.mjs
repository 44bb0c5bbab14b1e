import { once } from "node:events";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { Webhook, WebhookVerificationError } from "standardwebhooks";
import { API_KEY, API_URL, assert, prove } from "../prove.mjs";

const received = [];
const receiver = createServer(async (request, response) => {
  received.push({ headers: request.headers, body: await text(request) });
  response.writeHead(204).end();
  receiver.emit("received");
});
receiver.listen(0, "127.0.0.1");
await once(receiver, "listening");

async function send(method, path, body) {
  const headers = { "Content-Type": "application/json", "X-API-Key": API_KEY };
  const response = await fetch(API_URL + path, { method, headers, body: body && JSON.stringify(body) });
  assert.ok(response.ok, `${method} ${path}: ${response.status} ${await response.clone().text()}`);
  return response.status === 204 ? null : await response.json();
}

async function receive(condition) {
  for (;;) {
    const found = received.find(condition);
    if (found) return found;
    await once(receiver, "received");
  }
}

const url = `http://127.0.0.1:${receiver.address().port}/`;
const { id, secret } = await send("POST", "/webhooks", { url, types: ["post.*"], name: "Standard Webhooks" });
const webhook = new Webhook(secret);

await prove("verifies a ping with the library of Standard Webhooks", async () => {
  await send("POST", `/webhooks/${id}/ping`);
  const { headers, body } = await receive(() => true);
  assert.equal(webhook.verify(body, headers).type, JSON.parse(body).type);
});

await prove("verifies the event of a new post, and reads the post from it", async () => {
  const post = await send("POST", "/posts", { title: "Signed", body: "Text with “quotes” and 👩🏽‍🚀." });
  const { headers, body } = await receive(({ body }) => {
    const { type, subject } = JSON.parse(body);
    return type === "post.created" && subject === post.id; // other clients create posts too
  });
  const event = webhook.verify(body, headers);
  assert.equal(event.data.body, post.body);
});

await prove("refuses a changed body, another id, an old timestamp and another secret", () => {
  const { headers, body } = received[0];
  const old = String(Number(headers["webhook-timestamp"]) - 600);
  const wrong = [
    [webhook, body + " ", headers],
    [webhook, body, { ...headers, "webhook-id": "msg_other" }],
    [webhook, body, { ...headers, "webhook-timestamp": old }],
    [new Webhook("whsec_" + Buffer.alloc(32).toString("base64")), body, headers],
  ];
  for (const [verifier, text, given] of wrong) {
    assert.throws(() => verifier.verify(text, given), WebhookVerificationError);
  }
});

await prove("verifies with the old and with the new secret after a rotation", async () => {
  const { secret: next } = await send("POST", `/webhooks/${id}/secrets`);
  assert.notEqual(next, secret);
  await send("POST", `/webhooks/${id}/ping`);
  const { headers, body } = await receive(({ headers }) => headers["webhook-signature"].includes(" "));
  for (const each of [secret, next]) new Webhook(each).verify(body, headers);
});

await send("DELETE", `/webhooks/${id}`);
receiver.close();
receiver.closeAllConnections();
