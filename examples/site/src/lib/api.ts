import { print } from '@0no-co/graphql.web';
import type { TadaDocumentNode } from 'gql.tada';
import { PUBLIC_API_URL } from '$env/static/public';

const TIMEOUT = 20_000; // milliseconds
const ENDPOINT = `${PUBLIC_API_URL}/graphql`;

/** A request that has no complete result. The message is written for people. */
export class ApiError extends Error {
  constructor(
    message: string,
    /** The code of the first error; `UNREACHABLE` without a response; undefined if another server responded. */
    readonly code?: string,
    /** The seconds after which the same request may succeed. */
    readonly retryAfter?: number
  ) {
    super(message);
    this.name = 'ApiError';
  }
}

interface Body<Data> {
  data?: Data | null;
  errors?: { message: string; extensions?: { code?: string } }[];
}

/**
 * Executes a query and returns its data. Throws `ApiError` for every error, also with partial data.
 *
 * An anonymous query is sent by GET, so that browsers and CDNs can store the response with its ETag. A query with a
 * token is sent by POST.
 */
export async function query<Data, Variables>(
  document: TadaDocumentNode<Data, Variables>,
  variables: Variables,
  token?: string
): Promise<Data> {
  const members = { query: print(document), variables };
  const response = await send(token === undefined ? getRequest(members) : postRequest(members, token));
  const body = await readBody<Data>(response);
  const error = body?.errors?.[0];
  if (!response.ok || error || !body?.data) {
    const message = error?.message ?? `The API returned the status ${response.status}.`;
    throw new ApiError(message, error?.extensions?.code, Number(response.headers.get('Retry-After')) || undefined);
  }
  return body.data;
}

interface Members {
  query: string;
  variables: unknown;
}

function getRequest(members: Members): Request {
  const parameters = new URLSearchParams({ query: members.query, variables: JSON.stringify(members.variables) });
  return new Request(`${ENDPOINT}?${parameters}`, { headers: { Accept: 'application/graphql-response+json' } });
}

function postRequest(members: Members, token: string): Request {
  return new Request(ENDPOINT, {
    method: 'POST',
    headers: {
      Accept: 'application/graphql-response+json',
      'Content-Type': 'application/json',
      ...(isApiKey(token) ? { 'X-API-Key': token } : { Authorization: `Bearer ${token}` })
    },
    body: JSON.stringify(members)
  });
}

function isApiKey(token: string): boolean {
  return token.startsWith('capi_');
}

async function send(request: Request): Promise<Response> {
  try {
    return await fetch(request, { signal: AbortSignal.timeout(TIMEOUT) });
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    throw new ApiError(`The API at ${PUBLIC_API_URL} cannot be reached: ${String(cause)}.`, 'UNREACHABLE');
  }
}

async function readBody<Data>(response: Response): Promise<Body<Data> | undefined> {
  try {
    return (await response.json()) as Body<Data>;
  } catch {
    return undefined; // a proxy's page, for example
  }
}
