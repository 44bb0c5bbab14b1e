import { createHash } from "node:crypto";
import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { API_KEY, GRAPHQL_URL, assert, prove } from "../prove.mjs";

const DOT = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");

async function mutate(name, selection, input) {
  const type = name[0].toUpperCase() + name.slice(1);
  const query = `mutation ($input: ${type}Input!) { ${name}(input: $input) { ${selection} } }`;
  const headers = { "Content-Type": "application/json", "X-API-Key": API_KEY };
  const response = await fetch(GRAPHQL_URL, { method: "POST", headers, body: JSON.stringify({ query, variables: { input } }) });
  assert.equal(response.status, 200, await response.clone().text());
  return (await response.json()).data[name];
}

async function announce() {
  const sha256 = createHash("sha256").update(DOT).digest("hex");
  const input = { name: "dot.gif", contentType: "image/gif", size: DOT.length, sha256 };
  const { id, url, headers } = await mutate("createUpload", "id url headers { name value }", input);
  return { id, url, headers: Object.fromEntries(headers.map(({ name, value }) => [name.toLowerCase(), value])) };
}

/** Put bytes to the address of an upload. The server has signed the request, so the SDK needs no credential of the bucket. */
async function put({ url, headers }, Body = DOT) {
  const address = new URL(url);
  const sign = async (request) => {
    request.query = Object.fromEntries(address.searchParams);
    request.headers = { host: address.host, ...headers, "content-length": String(Body.length) };
    return request;
  };
  const client = new S3Client({
    endpoint: address.origin,
    forcePathStyle: true,
    region: "any",
    credentials: { accessKeyId: "none", secretAccessKey: "none" },
    requestChecksumCalculation: "WHEN_REQUIRED",
    signer: { sign },
  });
  const [, Bucket, ...key] = address.pathname.split("/");
  await client.send(new PutObjectCommand({ Bucket, Key: key.join("/"), Body }));
}

await prove("uploads an image to a bucket: puts the bytes with PutObject to the address of createUpload", async () => {
  const upload = await announce();
  await put(upload);
  const { image } = await mutate("completeUpload", "image { id name contentType }", { id: upload.id });
  assert.deepEqual([image.name, image.contentType], ["dot.gif", "image/gif"]);
  await mutate("deleteImage", "deletedImageId", { id: image.id });
});

await prove("is refused with another key, another expiry, another type and more bytes", async () => {
  const upload = await announce();
  const change = (...change) => ({ ...upload, url: upload.url.replace(...change) });
  const png = { ...upload.headers, "content-type": "image/png" };
  const wrong = [
    [change(`uploads/${upload.id}`, "uploads/1")],
    [change(/X-Amz-Expires=\d+/, "X-Amz-Expires=9999")],
    [{ ...upload, headers: png }],
    [upload, Buffer.concat([DOT, DOT])],
  ];
  for (const each of wrong) await assert.rejects(put(...each), ({ $metadata }) => $metadata.httpStatusCode === 403);
});
