/**
 * Selects the items of the table that are archived outside of it. GitLab knows which jobs ran; only the table knows what was
 * decided about a job and why, and the limits with their log, grants and requests.
 */
import { isRecord } from '../../../policies/document/reading.ts';
import { LIMITS_PK_SUFFIX, PK, SK } from '../../names.ts';
import { type AttributeValue, CLOSING_SK, ENTRY_SK_PREFIX, type Item, RECORD_SK } from '../store/index.ts';

export interface ExportedImage {
  readonly sequence: string;
  /** Unix ms, to the second; 0: the stream did not say. */
  readonly writtenAtMs: number;
  /** One line of JSON: `{"at": 1795262400000, "item": {…}}`, the item as DynamoDB writes it. */
  readonly line: string;
}

/** Recorded request fields: texts of images and services may contain values of variables. */
const ASKED = 'rq';

/** @param instance - begins every key, e.g. `gitlab.example.com`. */
function isExported(item: Item, instance: string): boolean {
  const pk = item[PK]?.S ?? '';
  const sk = item[SK]?.S ?? '';
  const limits = `${instance}${LIMITS_PK_SUFFIX}`;
  if (pk === limits || pk.startsWith(`${limits}#`)) return true;
  if (pk.startsWith(`${instance}#job#`)) return sk === RECORD_SK || sk.startsWith(ENTRY_SK_PREFIX);
  if (pk.startsWith(`${instance}#counter#`)) return sk === CLOSING_SK;
  return false;
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
    if (!isExported(item, instance)) return [];
    const { ApproximateCreationDateTime: seconds, SequenceNumber: sequence } = change;
    const writtenAtMs = typeof seconds === 'number' ? seconds * 1000 : 0;
    const line = JSON.stringify({ at: writtenAtMs, item: withTextBytes(item) });
    return [{ sequence: typeof sequence === 'string' ? sequence : '', writtenAtMs, line }];
  });
}

/** Lambda encodes bytes as base64; direct readers of the stream get bytes. */
const withTextBytes = (item: Item): object =>
  Object.fromEntries(
    Object.entries(item).map(([name, value]) => [
      name,
      value.B instanceof Uint8Array ? { B: Buffer.from(value.B).toString('base64') } : value,
    ]),
  );
