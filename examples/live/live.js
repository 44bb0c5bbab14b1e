// Shows the comments on the newest post, or on that of `?post=ID`, and each new one as soon as it is written.
import { API, STREAMS } from "./settings.js";

const [list, template, state, heading] = ["comments", "comment", "state", "title"].map((id) => document.getElementById(id));
const times = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const PAUSE = 5000; // milliseconds before another attempt to read everything
let post;

const COMMENTS = "commentsConnection(last: 50) { edges { node { id body createdAt author { name } } } }";
const QUERY = `
  query Comments($id: ID!, $isNewest: Boolean!) {
    posts(limit: 1, status: published) @include(if: $isNewest) { id title ${COMMENTS} }
    post(id: $id) @skip(if: $isNewest) { id title ${COMMENTS} }
  }
`;

async function read(path, body) {
  const init = body && { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const response = await fetch(API + path, init);
  if (!response.ok) throw new Error(`${path}: status ${response.status}`);
  return response.json();
}

/** Read everything, then follow the events. The cursor comes first, so that nothing is lost between both. */
async function start() {
  try {
    const { next_cursor: cursor } = await read("/events?after=now");
    const id = new URLSearchParams(location.search).get("post") ?? "";
    const { data } = await read("/graphql", { query: QUERY, variables: { id, isNewest: !id } });
    post = data.post ?? data.posts[0];
    heading.textContent = post.title;
    list.replaceChildren();
    for (const { node } of post.commentsConnection.edges) show(node);
    follow(cursor);
  } catch {
    setTimeout(start, PAUSE);
  }
}

/** The browser connects again by itself after an interruption, and sends the cursor of the last event that it got. */
function follow(cursor) {
  const stream = new EventSource(`${STREAMS}/events/stream?type=comment.*&after=${cursor}`);
  stream.onopen = () => (state.textContent = "New comments appear by themselves.");
  stream.onmessage = ({ data }) => change(JSON.parse(data));
  stream.onerror = () => {
    state.textContent = "Connecting …";
    if (stream.readyState === EventSource.CLOSED) setTimeout(start, PAUSE); // refused, as a cursor that has expired is
  };
}

/** An event may come twice, and `data` is as new as its delivery: a comment that is hidden by now has none. */
function change({ parent, subject, data }) {
  if (parent !== post.id) return;
  document.getElementById(`comment-${subject}`)?.remove();
  if (data) show(data);
}

/** Texts of readers are set as texts, never as HTML. */
function show(comment) {
  const item = template.content.cloneNode(true).firstElementChild;
  item.id = `comment-${comment.id}`;
  item.querySelector("blockquote").textContent = comment.body;
  item.querySelector("cite").textContent = comment.author.name;
  const time = item.querySelector("time");
  time.dateTime = comment.createdAt;
  time.textContent = times.format(new Date(comment.createdAt));
  const isOlder = (other) => other.querySelector("time").dateTime < comment.createdAt;
  list.insertBefore(item, [...list.children].find(isOlder) ?? null);
}

start();
