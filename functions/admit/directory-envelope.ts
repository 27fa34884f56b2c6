import { isRecord } from '../../policies/document/reading.ts';
import { DIRECTORY_NAMES_MAX, type DirectoryRequest } from '../core/contract/admissions.ts';

export const HAVE_EXPECTED = `expected {"have": {"<part>": "<hash>"}} with at most ${DIRECTORY_NAMES_MAX} parts`;

/** Reads `{have: {name: hash}}`; undefined if it is not that. */
export function parseHave(body: unknown): DirectoryRequest['have'] | undefined {
  const have = isRecord(body) ? body.have : undefined;
  if (!isRecord(have)) return undefined;
  const entries = Object.entries(have);
  if (entries.length > DIRECTORY_NAMES_MAX) return undefined;
  const hashes = entries.flatMap(([name, hash]) => (typeof hash === 'string' ? [[name, hash] as const] : []));
  return hashes.length === entries.length ? Object.fromEntries(hashes) : undefined;
}
