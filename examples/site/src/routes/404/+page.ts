// build/404.html, which static hosts send for every address that does not exist
export const trailingSlash = 'never';
