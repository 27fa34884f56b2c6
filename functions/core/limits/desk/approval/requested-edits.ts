/**
 * The edits of a request, stored separately: an import has megabytes, and a list of requests does not read
 * them.
 */
import { createHash } from 'node:crypto';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { isRecord } from '../../../../../policies/document/reading.ts';
import type { ChangeRow } from '../../changes/change-row.ts';
import type { LimitTable } from '../../limit-table.ts';
import { LimitsError } from '../../limits-error.ts';
import { TIMEOUT_MS } from '../desk-reads.ts';
import type { LimitEdit } from '../limit-edit.ts';

const NAME = 'edits';
const BROTLI_QUALITY = 5;
const CHARACTERS_MAX = 256 * 1024 * 1024;

const chunkSet = (request: string): string => `asked#${request}`;

/** @param expiresAtMs - Unix ms; they go some hours later. @throws {LimitsError} */
export async function writeEdits(
  request: string,
  edits: readonly LimitEdit[],
  expiresAtMs: number,
  table: LimitTable,
): Promise<void> {
  const bytes = brotliCompressSync(JSON.stringify(edits), {
    params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY },
  });
  await table.putChunk(chunkSet(request), { name: NAME, bytes }, { timeoutMs: TIMEOUT_MS });
  await table.retire(chunkSet(request), Math.ceil(expiresAtMs / 1000), { timeoutMs: TIMEOUT_MS });
}

/** Undefined: they are gone. @throws {LimitsError} */
export async function readEdits(
  request: string,
  table: LimitTable,
): Promise<readonly LimitEdit[] | undefined> {
  const [bytes] = await table.readChunks(chunkSet(request), [NAME], { timeoutMs: TIMEOUT_MS });
  if (bytes === undefined) return undefined;
  try {
    const text = brotliDecompressSync(bytes, { maxOutputLength: CHARACTERS_MAX }).toString('utf8');
    const edits: unknown = JSON.parse(text);
    // Written by `writeEdits` alone.
    if (Array.isArray(edits) && edits.every(isRecord)) return edits as unknown as readonly LimitEdit[];
  } catch {
    // Reported below without values.
  }
  throw new LimitsError('limits_unreadable', `the edits of request ${request}: are damaged`);
}

/** Ids and names that are new with every try: what was asked for does not depend on them. */
const BY_DESK = /^(?:by|requested_by|approved_by|reviewed)(?:_user)?$/;

/** Fingerprint of the result of edits, independent of author and time. */
export function fingerprintOf(rows: readonly ChangeRow[]): string {
  const lines = rows
    .filter(({ field }) => !BY_DESK.test(field))
    .map(({ about, subject, limit, id, field, from, to, whole }) => {
      const named = whole === 'added' ? about === 'limit' || about === 'grant' || about === 'rollout' : true;
      return JSON.stringify([
        about,
        subject,
        named ? limit : null,
        whole === 'added' ? null : (id ?? null),
        ...[field, from, to, whole ?? null],
      ]);
    });
  return createHash('sha256').update(lines.sort().join('\n')).digest('hex').slice(0, 32);
}
