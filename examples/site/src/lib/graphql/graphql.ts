import { initGraphQLTada } from 'gql.tada';
import type { introspection } from './graphql-env';

/** Parses a document. TypeScript infers its result and its variables from the schema of the API. */
export const graphql = initGraphQLTada<{
  introspection: introspection;
  scalars: { DateTime: string; ID: string };
}>();

export type { ResultOf } from 'gql.tada';
