"""The clients that this server supports, each used as its documentation says: `make clients`.

`catalogue.py` lists them. The folders of `javascript/` and `python/` have the name of a client: `npm run client` or
`client.py` there uses the client against a real server. Each run of a client is a process, with these variables:

* `API_URL`, `GRAPHQL_URL` and `STREAM_URL`: the server, without a slash at the end, its GraphQL endpoint, and that of
  subscriptions.
* `API_KEY` and `ACCESS_TOKEN`: an API key of an admin, and a bearer token of an editor.
* `OAUTH_CLIENT_ID`, `OAUTH_CLIENT_SECRET`, `OAUTH_PUBLIC_CLIENT_ID` and `OAUTH_REDIRECT_URI`: applications.
* `BROWSER`: a command (JSON) that opens an address as a user who logs in and consents, and prints where this leads.
* `TRUSTED_GRAPHQL_URL`: an endpoint with `CONTENTAPI_DOCUMENTS=trusted`, for a client that writes a manifest.

A process prints a line for each thing that it has proved, and ends with status 0.
"""
