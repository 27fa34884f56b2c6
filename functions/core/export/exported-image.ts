/**
 * What of the table is kept outside of it: what nobody else could give back. GitLab knows which jobs ran; only the books know
 * what was decided about a job and why, and the limits with their log, grants and requests.
 */
import { isRecord } from '../../../policies/document/reading.ts';
import { LIMITS_PK_SUFFIX, PK, SK } from '../../names.ts';
import { type AttributeValue, CLOSING_SK, ENTRY_SK_PREFIX, type Item, RECORD_SK } from '../store/index.ts';

export type ExportedKind = 'record' | 'entry' | 'closing' | 'limits';

export interface ExportedImage {
  readonly sequence: string;
  /** Unix ms, to the second; 0: the stream did not say. */
  readonly writtenAtMs: number;
  /** One line of JSON: `{"at": 1795262400000, "item": {…}}`, the item as DynamoDB writes it. */
  readonly line: string;
}

/** What rules looked at in a question: the texts of images and services may have values of variables in them. */
const ASKED = 'rq';

/** @param instance - begins every key, e.g. `gitlab.example.com`. Undefined: not among what is exported. */
export function exportedKind(item: Item, instance: string): ExportedKind | undefined {
  const pk = item[PK]?.S ?? '';
  const sk = item[SK]?.S ?? '';
  const limits = `${instance}${LIMITS_PK_SUFFIX}`;
  if (pk === limits || pk.startsWith(`${limits}#`)) return 'limits';
  if (pk.startsWith(`${instance}#job#`)) {
    if (sk === RECORD_SK) return 'record';
    if (sk.startsWith(ENTRY_SK_PREFIX)) return 'entry';
  }
  if (pk.startsWith(`${instance}#counter#`) && sk === CLOSING_SK) return 'closing';
  return undefined;
}

/**
 * The new images of a batch that are exported, in order.
 *
 * @param event - as Lambda passes a stream's batch on.
 */
export function exportedImages(event: unknown, instance: string): readonly ExportedImage[] {
  const records = isRecord(event) && Array.isArray(event.Records) ? event.Records : [];
  return records.flatMap((entry: unknown): readonly ExportedImage[] => {
    const change = isRecord(entry) ? entry.dynamodb : undefined;
    if (!isRecord(change) || !isRecord(change.NewImage)) return [];
    const { [ASKED]: _asked, ...item } = change.NewImage as Record<string, AttributeValue>;
    if (exportedKind(item, instance) === undefined) return [];
    const { ApproximateCreationDateTime: seconds, SequenceNumber: sequence } = change;
    const writtenAtMs = typeof seconds === 'number' ? seconds * 1000 : 0;
    const line = JSON.stringify({ at: writtenAtMs, item: withTextBytes(item) });
    return [{ sequence: typeof sequence === 'string' ? sequence : '', writtenAtMs, line }];
  });
}

/** Lambda hands bytes over as base64; whoever reads the stream by himself has them as they are. */
const withTextBytes = (item: Item): object =>
  Object.fromEntries(
    Object.entries(item).map(([name, value]) => [
      name,
      value.B instanceof Uint8Array ? { B: Buffer.from(value.B).toString('base64') } : value,
    ]),
  );

/** A line's item; undefined: it is none. */
export function itemOfLine(line: string): { readonly atMs: number; readonly item: Item } | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isRecord(parsed) || !isRecord(parsed.item)) return undefined;
  const entries = Object.entries(parsed.item).map(([name, value]) => [
    name,
    isRecord(value) && typeof value.B === 'string' ? { B: Buffer.from(value.B, 'base64') } : value,
  ]);
  return {
    atMs: typeof parsed.at === 'number' ? parsed.at : 0,
    item: Object.fromEntries(entries) as Record<string, AttributeValue>,
  };
}
