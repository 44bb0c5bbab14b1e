// Mercurius with DataLoader in place of its own loaders, which turn every
// parent object (post bodies included) into a JSON string to make a key.
import Fastify from 'fastify'
import mercurius from 'mercurius'
import { typeDefs } from './db.mjs'
import { makeLoaders, resolvers } from './loaders.mjs'

const app = Fastify({ logger: false })
app.register(mercurius, {
  schema: typeDefs,
  resolvers,
  context: () => ({ loaders: makeLoaders() }),
  jit: 1,
  graphiql: false,
})
await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT) })
