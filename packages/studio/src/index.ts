/** @file Where the built studio lies, for those who serve it. The studio itself is a web page: `index.html`. */

/** The folder of the static build; it is there after `npm run build`. */
export const siteFolder: URL = new URL('../dist/site/', import.meta.url);
