import { createServer } from 'node:http'
import { createSchema, createYoga } from 'graphql-yoga'
import { useGraphQlJit } from '@envelop/graphql-jit'
import { typeDefs } from './db.mjs'
import { makeLoaders, resolvers } from './loaders.mjs'

// Yoga's parser and validation cache is on by default.
const yoga = createYoga({
  schema: createSchema({ typeDefs, resolvers }),
  context: () => ({ loaders: makeLoaders() }),
  plugins: process.env.YOGA_JIT === '0' ? [] : [useGraphQlJit()],
  graphiql: false,
  landingPage: false,
  logging: false,
  multipart: false,
})
createServer(yoga).listen(Number(process.env.PORT), '127.0.0.1')
