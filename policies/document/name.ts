/** Names that become part of counter keys, metrics and file names: no `|`, no `/`, no blanks. */
export const isName = (text: string): boolean => /^[a-z0-9][a-z0-9._-]{0,63}$/.test(text);

export const NAME_EXPECTED = 'a name of small letters, digits, dots, dashes and underscores, at most 64';
