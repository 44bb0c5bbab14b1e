import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { API_KEY, API_URL, assert, prove } from "../prove.mjs";

const findPort = () =>
  new Promise((done) => {
    const server = createServer().listen(0, () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });

/** Start Prism, and call `use` with its address. */
async function start(command, use) {
  const port = await findPort();
  const prism = spawn("prism", [...command, "--port", String(port)], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    await new Promise((done, failed) => {
      let printed = "";
      prism.stdout.on("data", (text) => (printed += text).includes("listening") && done());
      prism.on("exit", () => failed(new Error(printed)));
    });
    await use(`http://127.0.0.1:${port}`);
  } finally {
    prism.kill();
  }
}

const document = `${API_URL}/openapi.json`;
const headers = { "X-API-Key": API_KEY, "Content-Type": "application/json" };

await prove("mock: answers with the examples of /openapi.json, and refuses an invalid request", () =>
  start(["mock", document], async (mock) => {
    const { data } = await (await fetch(`${mock}/posts`)).json();
    assert.ok(data[0].title.length > 0);
    assert.equal((await fetch(`${mock}/orders`)).status, 401);
    const body = JSON.stringify({ title: 7 });
    assert.ok((await fetch(`${mock}/posts`, { method: "POST", headers, body })).status >= 400);
  }),
);

await prove("proxy: finds no difference between this server's responses and /openapi.json", () =>
  start(["proxy", document, API_URL, "--errors"], async (proxy) => {
    const send = async (path, status, options = {}) => {
      const response = await fetch(proxy + path, { headers, ...options });
      const text = await response.text();
      assert.equal(response.status, status, text);
      return text ? JSON.parse(text) : null;
    };
    const { data } = await send("/posts?limit=2", 200);
    await send(`/posts/${data[0].id}`, 200);
    await send(`/posts/${data[0].id}/comments`, 200);
    await send("/authors?offset=1&limit=1", 200);
    await send("/orders", 200);
    await send("/users", 200);
    await send("/posts/999999999", 404);
    await send("/users", 401, { headers: {} });
    const post = await send("/posts", 201, { method: "POST", body: JSON.stringify({ title: "By Prism", body: "Text" }) });
    await send(`/posts/${post.id}`, 204, { method: "DELETE" });
  }),
);
