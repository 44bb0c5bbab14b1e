import Fastify from 'fastify'
import mercurius from 'mercurius'
import { authorsByIds, commentsByPostIds, countsByPostIds, createPost, postById, posts, typeDefs } from './db.mjs'

// authorsByIds answers in the order of its argument, repeats included.
const unique = (ids) => [...new Set(ids)]
const authors = async (ids) => {
  const u = unique(ids)
  const rows = await authorsByIds(u)
  const by = new Map(u.map((id, i) => [id, rows[i]]))
  return ids.map((id) => by.get(id))
}

const app = Fastify({ logger: false })
app.register(mercurius, {
  schema: typeDefs,
  resolvers: {
    Query: {
      post: (_, { id }) => postById(id),
      posts: (_, { limit, status }) => posts(limit, status),
    },
    Mutation: { createPost: (_, { input }) => createPost(input) },
  },
  // opts.cache false: nothing kept for the request; every batch is still one SQL.
  loaders: {
    Post: {
      author: { loader: (qs) => authors(qs.map((q) => q.obj.authorId)), opts: { cache: false } },
      comments: { loader: (qs) => commentsByPostIds(qs.map((q) => q.obj.id)), opts: { cache: false } },
      commentCount: { loader: (qs) => countsByPostIds(qs.map((q) => q.obj.id)), opts: { cache: false } },
    },
    Comment: {
      author: { loader: (qs) => authors(qs.map((q) => q.obj.authorId)), opts: { cache: false } },
    },
  },
  jit: 1,
  graphiql: false,
})
await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT) })
