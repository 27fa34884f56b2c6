/** As in package.json, which a bundle does not carry; a test compares them. */
export const VERSION = '0.1.0';
