/** The order of texts by their UTF-16 units, the same on every machine; what is not there is empty. */
export const compareTexts = (a = '', b = ''): number => (a < b ? -1 : a > b ? 1 : 0);
