import { closest } from '../../../policies/document/reading.ts';
import { UsageError } from '../../terminal/command.ts';

/** @param asked - as it was typed: `--group acme/paymets`. @param known - paths as the directory has them. */
export function notInDirectory(asked: string, text: string, known: Iterable<string>): UsageError {
  const like = closest(text, [...known]);
  const hint = like === undefined ? `expected an id or a path of it` : `did you mean ${like}?`;
  return new UsageError(`${asked}: is not in the directory; ${hint}`);
}

/** The flag's word for everything. */
export const ALL_GROUPS = 'instance';
