// Requests to the API. They are sent by the server only: no browser gets the key or a token.

const TIMEOUT = 10_000; // milliseconds

export interface Author {
  name: string;
}

/** The cover of a post. The addresses are of files in several widths, which the API has made. */
export interface Cover {
  alt: string;
  image: {
    /** The original; null while the API processes the image. */
    url: string | null;
    srcset: string;
    width: number;
    height: number;
    /** What must stay visible when the image is cropped: fractions of width and height. */
    focalPoint: { x: number; y: number };
    thumbhash: string;
  };
}

export interface Post {
  title: string;
  slug: string;
  status: 'draft' | 'scheduled' | 'published' | 'archived';
  author: Author;
  coauthors: Author[];
  publishedAt: string | null;
  excerpt: string;
  description: string;
  /** Sanitised HTML; null for some seconds after a change of a draft, which no page without a preview shows. */
  bodyHtml: string | null;
  cover: Cover | null;
  url: string | null;
  canonicalUrl: string | null;
}

/** What a preview token shows. */
export interface Preview {
  post: Post | null;
  expiresAt: string;
}

/** A request without a useful response. The code is that of the API; `UNREACHABLE` without a response. */
export class ApiError extends Error {
  constructor(
    message: string,
    readonly code: string
  ) {
    super(message);
    this.name = 'ApiError';
  }

  /** Whether the preview token of the request is unknown, revoked or expired. */
  get endsPreview(): boolean {
    return this.code === 'PREVIEW_EXPIRED' || this.code === 'UNAUTHENTICATED';
  }
}

/**
 * Returns a resource; null if it does not exist or is hidden. Throws `ApiError`.
 *
 * A preview token is sent alone: it has rights and a rate limit of its own, and a 401 is then about the token and never
 * about the key of the site. Its responses are not cached.
 */
export async function readResource<Resource>(path: string, token?: string): Promise<Resource | null> {
  const response = await send(path, token);
  if (response.status === 404) return null;
  if (!response.ok) {
    const code = response.headers.get('X-Error-Code') ?? '';
    throw new ApiError(`The API returned the status ${response.status} ${code} for ${path}.`, code);
  }
  return (await response.json()) as Resource;
}

async function send(path: string, token?: string): Promise<Response> {
  const { API_URL, API_KEY, REVALIDATE } = process.env;
  const credential: Record<string, string> = token ? { 'Preview-Token': token } : API_KEY ? { 'X-API-Key': API_KEY } : {};
  try {
    return await fetch(`${API_URL}${path}`, {
      headers: { Accept: 'application/json', ...credential },
      signal: AbortSignal.timeout(TIMEOUT),
      ...(token ? { cache: 'no-store' } : { next: { revalidate: Number(REVALIDATE) } })
    });
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    throw new ApiError(`The API at ${API_URL} cannot be reached: ${String(cause)}.`, 'UNREACHABLE');
  }
}
