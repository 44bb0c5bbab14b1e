// Every page is made by the build, as a folder with an index.html, and has no script. The page of drafts has one.
export const prerender = true;
export const csr = false;
export const trailingSlash = 'always';
