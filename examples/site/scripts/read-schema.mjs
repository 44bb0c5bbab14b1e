// Reads the SDL from the API into schema.graphql, from which gql.tada makes the types of all queries.
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';

const FILE = 'schema.graphql';
const address = `${process.env.PUBLIC_API_URL}/schema.graphql`;

try {
  const response = await fetch(address, { signal: AbortSignal.timeout(20_000) });
  if (response.ok) {
    await writeFile(FILE, await response.text());
  } else if (response.status === 404 && existsSync(FILE)) {
    console.warn(`${address} is 404, because introspection is off. The types are those of the existing ${FILE}.`);
  } else {
    fail(`${address} returned ${response.status}. If introspection is off, put the SDL of the API into ${FILE}.`);
  }
} catch (error) {
  fail(`The API at ${address} cannot be reached: ${String(error instanceof Error ? (error.cause ?? error) : error)}`);
}

/** @param {string} message */
function fail(message) {
  console.error(message);
  process.exit(1);
}
