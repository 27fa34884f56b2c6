/** As in package.json, which is not beside the bundled program; a test keeps them equal. */
export const VERSION = '0.1.0';
