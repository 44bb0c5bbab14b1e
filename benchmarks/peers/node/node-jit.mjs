// node:http, graphql-jit and hand-written look-ahead SQL over pg; no framework.
import { createServer } from 'node:http'
import { pool } from './db.mjs'
import { makeServer } from './lookahead.mjs'

const names = new Map() // statement -> its name: named statements are prepared once per connection
const nameOf = (text) => {
  if (!names.has(text)) names.set(text, `s${names.size}`)
  return names.get(text)
}
const respond = makeServer(
  async (text, values) => (await pool.query({ name: nameOf(text), text, values, rowMode: 'array' })).rows,
)

createServer((request, response) => {
  const chunks = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', async () => {
    try {
      const text = await respond(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
      response.end(text)
    } catch (error) {
      response.writeHead(500).end(JSON.stringify({ errors: [{ message: String(error) }] }))
    }
  })
}).listen(Number(process.env.PORT), '127.0.0.1')
