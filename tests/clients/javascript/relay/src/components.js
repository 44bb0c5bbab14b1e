// A page of posts, as Relay's documentation writes one: fragments, a connection that grows, and a post that refetches.
import { graphql, useFragment, useLazyLoadQuery, usePaginationFragment, useRefetchableFragment } from "react-relay";

export const controls = {};

export function Page() {
  const query = useLazyLoadQuery(graphql`query componentsPageQuery { ...components_posts }`, {});
  const { data, hasNext, isLoadingNext, loadNext } = usePaginationFragment(
    graphql`
      fragment components_posts on Query
      @refetchable(queryName: "componentsPostsQuery")
      @argumentDefinitions(count: { type: "Int", defaultValue: 3 }, cursor: { type: "String" }) {
        postsConnection(first: $count, after: $cursor, filter: { status: published })
          @connection(key: "components_postsConnection") {
          edges {
            node {
              id
              ...components_post
            }
          }
        }
      }
    `,
    query,
  );
  Object.assign(controls, { hasNext, isLoadingNext, loadNext });
  return data.postsConnection.edges.map(({ node }) => <Post key={node.id} post={node} />);
}

function Post({ post }) {
  const [data, refetch] = useRefetchableFragment(
    graphql`
      fragment components_post on Post @refetchable(queryName: "componentsPostQuery") {
        id
        title
        author { ...components_author }
        comments { id body author { ...components_author } }
      }
    `,
    post,
  );
  controls[`refetch ${data.id}`] = () => refetch({}, { fetchPolicy: "network-only" });
  return (
    <article data-id={data.id} data-title={data.title}>
      <Author author={data.author} />
      {data.comments.map((comment) => (
        <p key={comment.id} data-comment={comment.body}>
          <Author author={comment.author} />
        </p>
      ))}
    </article>
  );
}

function Author({ author }) {
  const { name } = useFragment(graphql`fragment components_author on Author { id name }`, author);
  return <b>{name}</b>;
}
