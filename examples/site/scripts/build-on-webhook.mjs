// Builds the site when a webhook of the API says that posts have changed, and once at its start. Run it behind a proxy with
// HTTPS. WEBHOOK_SECRET is the secret of the webhook, PORT the port on this host.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

const LONGEST_BODY = 1_000_000; // characters
const { WEBHOOK_SECRET = '', PORT = '4174', BUILD = 'npm run build' } = process.env;
const webhook = new Webhook(WEBHOOK_SECRET);

/** The build that runs, and whether something has changed since it began. */
let running = false;
let outdated = false;

const server = createServer(async (request, response) => {
  response.statusCode = request.method === 'POST' ? await receive(request) : 405;
  response.end();
});

/** Returns the status of the response. The build comes after it: the API waits for a response for some seconds only. */
async function receive(request) {
  if (Number(request.headers['content-length'] ?? Infinity) > LONGEST_BODY) return 413;
  try {
    webhook.verify(await text(request), request.headers);
  } catch {
    return 401;
  }
  build();
  return 202;
}

/** Builds once at a time. Events during a build lead to one more, because the build may have read the posts before them. */
async function build() {
  outdated = true;
  if (running) return;
  running = true;
  while (outdated) {
    outdated = false;
    const [status] = await once(spawn(BUILD, { shell: true, stdio: 'inherit' }), 'exit');
    console.log(status === 0 ? 'The site is built.' : `The build failed with the status ${status}. The last one stays.`);
  }
  running = false;
}

build(); // what has happened while this did not run
server.listen(PORT, () => console.log(`Listening at port ${PORT}.`));
