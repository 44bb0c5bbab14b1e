// graphql-jit with hand-written look-ahead, for node-jit and bun-jit. A root resolver reads only the columns and
// relations that the query selects, in at most two prepared statements; every other field is a property access.
import { buildSchema, parse, validate } from 'graphql'
import { compileQuery, isCompiledQuery } from 'graphql-jit'
import { typeDefs } from './typedefs.mjs'

const POST_COLUMNS = {
  title: 'title', body: 'body', status: 'status', createdAt: 'created_at', updatedAt: 'updated_at', tags: 'tags',
}
const AUTHOR_COLUMNS = { id: 'id', name: 'name', bio: 'bio', avatarUrl: 'avatar_url', email: 'email' }
const FROM_POST = 'FROM blog_post p'
const JOIN_AUTHOR = 'JOIN blog_author a ON a.id ='
const NEWEST_FIRST = 'ORDER BY p.created_at DESC, p.id DESC LIMIT $1'
const CACHED_DOCUMENTS = 1000

// Return the fields that a node selects, with fragments expanded.
function selectedFields(node, fragments, found = []) {
  for (const selection of node.selectionSet?.selections ?? []) {
    if (selection.kind === 'Field') found.push(selection)
    else selectedFields(selection.kind === 'FragmentSpread' ? fragments[selection.name.value] : selection, fragments, found)
  }
  return found
}

// Return what a query selects: column names for a post, its author and its comments' authors, and the relations.
function readSelection(info) {
  const selection = { post: new Set(), author: new Set(), commentAuthor: new Set(), commentBody: false, comments: false, count: false }
  const addAuthor = (names, node) => {
    names.add('id')
    for (const field of selectedFields(node, info.fragments)) if (AUTHOR_COLUMNS[field.name.value]) names.add(field.name.value)
  }
  for (const root of info.fieldNodes) {
    for (const field of selectedFields(root, info.fragments)) {
      const name = field.name.value
      if (POST_COLUMNS[name]) selection.post.add(name)
      else if (name === 'author') addAuthor(selection.author, field)
      else if (name === 'commentCount') selection.count = true
      else if (name === 'comments') {
        selection.comments = true
        for (const part of selectedFields(field, info.fragments)) {
          if (part.name.value === 'body') selection.commentBody = true
          if (part.name.value === 'author') addAuthor(selection.commentAuthor, part)
        }
      }
    }
  }
  return selection
}

// Collects the columns of a statement and the source of a function that makes an object from a row (an array).
// Example: `SELECT p.id, p.title …` with `r => ({id: r[0], title: r[1]})`. Generated code reads rows fastest.
class RowReader {
  columns = []
  members = []
  column(sql) { return `r[${this.columns.push(sql) - 1}]` }
  add(name, sql) { this.members.push(`${name}: ${this.column(sql)}`) }
  addAuthor(names) {
    if (!names.size) return
    const members = [...names].map((name) => `${name}: ${this.column(`a.${AUTHOR_COLUMNS[name]}`)}`)
    this.members.push(`author: {${members.join(', ')}}`)
  }
  compile() { return new Function('r', `return {${this.members.join(', ')}}`) }
}

function makePlan(info) {
  const selection = readSelection(info)
  const post = new RowReader()
  post.add('id', 'p.id')
  for (const name of selection.post) post.add(name, `p.${POST_COLUMNS[name]}`)
  post.addAuthor(selection.author)
  if (selection.comments) post.members.push('comments: [], commentCount: 0') // counted while the comments are added
  else if (selection.count) post.add('commentCount', '(SELECT count(*)::int FROM blog_comment c WHERE c.post_id = p.id)')
  const join = selection.author.size ? ` ${JOIN_AUTHOR} p.author_id` : ''
  return {
    sql: `SELECT ${post.columns.join(', ')} ${FROM_POST}${join}`,
    readPost: post.compile(),
    hasRelations: selection.comments || selection.count || selection.author.size > 0,
    ...(selection.comments && planComments(selection)),
  }
}

function planComments({ commentBody, commentAuthor }) {
  const comment = new RowReader()
  comment.column('c.post_id')
  comment.add('id', 'c.id')
  if (commentBody) comment.add('body', 'c.body')
  comment.addAuthor(commentAuthor)
  const join = commentAuthor.size ? ` ${JOIN_AUTHOR} c.author_id` : ''
  return {
    commentSql: `SELECT ${comment.columns.join(', ')} FROM blog_comment c${join}
      WHERE c.post_id = ANY($1::bigint[]) ORDER BY c.post_id, c.id`,
    readComment: comment.compile(),
  }
}

// `query(text, values)` returns rows as arrays; `toArray(ids)` returns ids in the form that its driver binds as bigint[].
function addResolvers(schema, query, toArray) {
  const plans = new WeakMap()
  const planFor = (info) => {
    const key = info.fieldNodes[0]
    if (!plans.has(key)) plans.set(key, makePlan(info))
    return plans.get(key)
  }
  const fetchPosts = async (plan, tail, values) => {
    const posts = (await query(`${plan.sql} ${tail}`, values)).map(plan.readPost)
    if (plan.commentSql && posts.length) {
      const byId = new Map(posts.map((post) => [post.id, post]))
      for (const row of await query(plan.commentSql, [toArray([...byId.keys()])])) {
        const post = byId.get(row[0])
        post.comments.push(plan.readComment(row))
        post.commentCount++
      }
    }
    return posts
  }
  const queries = schema.getQueryType().getFields()
  const mutations = schema.getMutationType().getFields()
  queries.post.resolve = async (_, { id }, __, info) =>
    /^\d+$/.test(id) ? (await fetchPosts(planFor(info), 'WHERE p.id = $1', [id]))[0] ?? null : null
  queries.posts.resolve = (_, { limit, status }, __, info) =>
    status
      ? fetchPosts(planFor(info), `WHERE p.status = $2 ${NEWEST_FIRST}`, [limit, status])
      : fetchPosts(planFor(info), NEWEST_FIRST, [limit])
  mutations.createPost.resolve = async (_, { input }, __, info) => {
    const plan = planFor(info)
    const [row] = await query(
      `INSERT INTO blog_post (title, body, author_id) VALUES ($1, $2, $3)
       RETURNING id, status, created_at, updated_at, tags`,
      [input.title, input.body, input.authorId],
    )
    if (plan.hasRelations) return (await fetchPosts(plan, 'WHERE p.id = $1', [row[0]]))[0]
    const [id, status, createdAt, updatedAt, tags] = row
    return { id, title: input.title, body: input.body, status, createdAt, updatedAt, tags }
  }
}

// Return a function from the text of a request body to the text of the response.
export function makeServer(query, toArray = (ids) => ids) {
  const schema = buildSchema(typeDefs)
  addResolvers(schema, query, toArray)
  const documents = new Map() // operation name and query text -> compiled query, or its errors
  const compile = (text, operationName) => {
    try {
      const document = parse(text)
      const errors = validate(schema, document)
      if (errors.length) return { errors }
      const compiled = compileQuery(schema, document, operationName)
      return isCompiledQuery(compiled) ? compiled : { errors: compiled.errors }
    } catch (error) {
      return { errors: [error] }
    }
  }
  const findDocument = (text, operationName) => {
    const key = `${operationName ?? ''}\n${text}`
    let document = documents.get(key)
    if (!document) {
      document = compile(text, operationName)
      if (documents.size >= CACHED_DOCUMENTS) documents.delete(documents.keys().next().value)
      documents.set(key, document)
    }
    return document
  }
  return async (requestBody) => {
    const { query: text, operationName, variables } = JSON.parse(requestBody)
    const document = findDocument(text, operationName)
    if (document.errors) return JSON.stringify({ errors: document.errors })
    return document.stringify(await document.query(undefined, {}, variables ?? {}))
  }
}
