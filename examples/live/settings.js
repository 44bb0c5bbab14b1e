// The addresses of the API and of its streams, without a slash at the end. Behind a proxy that routes streams, both are the same.
export const API = "http://localhost:8000";
export const STREAMS = "http://localhost:8100";
