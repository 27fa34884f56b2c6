/**
 * A text in a cell that spreadsheets leave alone: they run formulas, and read `0042`, `2026-11-01` and `3-4` as numbers
 * and dates, which they save in another form. An apostrophe before such a text makes it a text, and goes on the way back.
 *
 * @see https://owasp.org/www-community/attacks/CSV_Injection
 */
const APOSTROPHE = "'";
const FORMULA = /^\s*['=+\-@\uff1d\uff0b\uff0d\uff20|]|^[\t\r\n\0]/;
const NUMBER_OR_DATE =
  /^\s*[-.,:/%\s\d]*\d[-.,:/%\s\d]*(?:e[+-]?\d+)?\s*(?:[ap]m)?\s*$|^\s*(?:true|false)\s*$/i;
/** Spreadsheets keep the first fifteen digits of a longer number. */
const PLAIN_NUMBER = /^(?:0|[1-9]\d*)(?:\.\d+)?$/;
const DIGITS_MAX = 15;

export const cellOfText = (text: string): string => (isTaken(text) ? `${APOSTROPHE}${text}` : text);

/** The other way. An apostrophe that nobody put there, as in `'tis`, stays. */
export const textOfCell = (cell: string): string =>
  cell.startsWith(APOSTROPHE) && isTaken(cell.slice(1)) ? cell.slice(1) : cell;

/** A number that a spreadsheet reads, sums and saves as it is. */
export const isPlainNumber = (text: string): boolean =>
  PLAIN_NUMBER.test(text) && text.replace('.', '').length <= DIGITS_MAX;

const isTaken = (text: string): boolean => FORMULA.test(text) || NUMBER_OR_DATE.test(text);
