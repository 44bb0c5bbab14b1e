import Fastify from 'fastify'
import { ApolloServer } from '@apollo/server'
import fastifyApollo, { fastifyApolloDrainPlugin } from '@as-integrations/fastify'
import { typeDefs } from './db.mjs'
import { makeLoaders, resolvers } from './loaders.mjs'

const app = Fastify({ logger: false })
// Parsed and validated documents are cached by default (documentStore).
const apollo = new ApolloServer({
  typeDefs,
  resolvers,
  introspection: false,
  plugins: [fastifyApolloDrainPlugin(app)],
})
await apollo.start()
await app.register(fastifyApollo(apollo), { context: async () => ({ loaders: makeLoaders() }) })
await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT) })
