// The documents of the manifest: generate-persisted-query-manifest finds them in this file.
import { gql } from "@apollo/client";

export const NEWEST = gql`
  query Newest {
    posts(limit: 2) {
      id
      title
    }
  }
`;
