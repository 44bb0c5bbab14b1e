// Runs every audit of graphql-http against a server, and prints what came of each: `node run.mjs URL`.
import { serverAudits } from 'graphql-http';

const results = [];
for (const audit of serverAudits({ url: process.argv[2] })) {
  const { id, name, status, reason } = await audit.fn();
  results.push({ id, name, status, reason });
}
console.log(JSON.stringify(results));
