// Bun.serve, Bun.sql with prepared statements, graphql-jit and hand-written look-ahead SQL.
import { SQL } from 'bun'
import { makeServer } from './lookahead.mjs'

// Bun.sql names a Unix socket by its file, where libpq names its folder in the parameter `host`.
const url = new URL(process.env.DATABASE_URL.replace('@/', '@localhost/'))
const folder = url.searchParams.get('host')
const server = folder
  ? { path: `${folder}/.s.PGSQL.${url.searchParams.get('port')}` }
  : { hostname: url.hostname, port: Number(url.port) }
const sql = new SQL({
  adapter: 'postgres',
  ...server,
  username: url.username,
  password: url.password,
  database: url.pathname.slice(1),
  max: Number(process.env.POOL ?? 10),
  idleTimeout: 0,
  prepare: true,
})
const respond = makeServer(
  (text, values) => sql.unsafe(text, values).values(),
  (ids) => sql.array(ids, 'bigint'),
)
const HEADERS = { 'content-type': 'application/json' }

Bun.serve({
  hostname: '127.0.0.1',
  port: Number(process.env.PORT),
  async fetch(request) {
    try {
      return new Response(await respond(await request.text()), { headers: HEADERS })
    } catch (error) {
      return new Response(JSON.stringify({ errors: [{ message: String(error) }] }), { status: 500, headers: HEADERS })
    }
  },
})
