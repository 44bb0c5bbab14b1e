// The browser reads the drafts, with the token of the editor. The build never has a token.
export const csr = true;
