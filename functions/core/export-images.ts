import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { defaultProvider } from '@aws-sdk/credential-provider-node';
import { LIMITS_PK_SUFFIX, PK, SK } from '../names.ts';
import { callSigner } from './contract/signature.ts';
import type { LedgerClock, Log } from './environment/environment.ts';
import { CLOSING_SK, ENTRY_SK_PREFIX, RECORD_SK } from './store/keys.ts';
import type { Item, TableStreamEvent } from './store/operation.ts';

export interface ExportDeps {
  readonly instance: string;
  readonly objects: ObjectStore;
  readonly clock: Pick<LedgerClock, 'nowMs'>;
  readonly log: Log;
}

export interface ObjectStore {
  put(name: string, bytes: Uint8Array): Promise<void>;
}

export interface ExportResult {
  readonly again: readonly string[];
  readonly lost: number;
}

/** A bucket that does not answer holds usage up no longer than this; after that what is missing is counted. */
const RETRY_FOR_MS = 10 * 60_000;
const NOTHING: ExportResult = { again: [], lost: 0 };
const compressed = promisify(gzip);

/** A repeated batch writes the same object. Other cuts repeat lines, which the version in each item identifies. */
export async function exportImages(event: TableStreamEvent, deps: ExportDeps): Promise<ExportResult> {
  const images = exportedImages(event, deps.instance);
  const [first] = images;
  if (first === undefined) return NOTHING;
  try {
    const bytes = await compressed(images.map(({ line }) => `${line}\n`).join(''));
    await deps.objects.put(objectName(images, first), bytes);
    return NOTHING;
  } catch (error) {
    const why = error instanceof Error ? error.message : 'unknown failure';
    const young = deps.clock.nowMs() - RETRY_FOR_MS;
    const again = images.filter(({ writtenAtMs }) => writtenAtMs > young).map(({ sequence }) => sequence);
    const lost = images.length - again.length;
    deps.log.error('images not exported', { images: images.length, givenUp: lost, why });
    return { again, lost };
  }
}

/** `v1/2026/11/21/12/<first>-<last>.jsonl.gz`, by the hour of the first: names sort by time. */
function objectName(images: readonly ExportedImage[], first: ExportedImage): string {
  const [day = '', time = ''] = new Date(first.writtenAtMs).toISOString().split('T');
  const last = images.at(-1) ?? first;
  return `v1/${day.replaceAll('-', '/')}/${time.slice(0, 2)}/${first.sequence}-${last.sequence}.jsonl.gz`;
}

// Selects the items of the table that are archived outside of it. GitLab knows which jobs ran; only the table knows what was
// decided about a job and why, and the limits with their log, grants and requests.

interface ExportedImage {
  readonly sequence: string;
  /** Unix ms, to the second; 0: the stream did not say. */
  readonly writtenAtMs: number;
  /** One line of JSON: `{"at": 1795262400000, "item": {…}}`, the item as DynamoDB writes it. */
  readonly line: string;
}

/** Recorded request fields: texts of images and services may contain values of variables. */
const REQUEST_FIELDS = 'rq';

function isExported(item: Item, instance: string): boolean {
  const pk = item[PK]?.S ?? '';
  const sk = item[SK]?.S ?? '';
  const limits = `${instance}${LIMITS_PK_SUFFIX}`;
  if (pk === limits || pk.startsWith(`${limits}#`)) return true;
  if (pk.startsWith(`${instance}#job#`)) return sk === RECORD_SK || sk.startsWith(ENTRY_SK_PREFIX);
  if (pk.startsWith(`${instance}#counter#`)) return sk === CLOSING_SK;
  return false;
}

function exportedImages({ Records }: TableStreamEvent, instance: string): readonly ExportedImage[] {
  return Records.flatMap(({ dynamodb }) => {
    if (dynamodb?.NewImage === undefined) return [];
    const { [REQUEST_FIELDS]: _fields, ...item } = dynamodb.NewImage;
    if (!isExported(item, instance)) return [];
    const { ApproximateCreationDateTime: at, SequenceNumber: sequence = '' } = dynamodb;
    const writtenAtMs = typeof at === 'number' ? at * 1000 : 0;
    const line = JSON.stringify({ at: writtenAtMs, item: withTextBytes(item) });
    return [{ sequence, writtenAtMs, line }];
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

// Objects in one S3 bucket: a signed PUT each. The SDK's client for S3 would double the bundle for this one call.

interface S3ObjectsOptions {
  readonly bucket: string;
  readonly region: string;
  readonly endpoint?: string | undefined;
  readonly credentials?: ReturnType<typeof defaultProvider>;
}

const TIMEOUT_MS = 5_000;

export function s3Objects({
  bucket,
  region,
  endpoint,
  credentials = defaultProvider(),
}: S3ObjectsOptions): ObjectStore {
  const base = new URL(endpoint ?? `https://${bucket}.s3.${region}.amazonaws.com`);
  const path = endpoint === undefined ? '' : `/${bucket}`;
  const sign = callSigner(region, 's3');
  const put = async (name: string, bytes: Uint8Array): Promise<void> => {
    const call = { method: 'PUT', host: base.host, path: `${path}/${name}`, body: bytes };
    const headers = { 'content-type': 'application/gzip' };
    const { host: _host, ...sent } = sign({ ...call, headers }, await credentials(), Date.now());
    const url = new URL(`${path}/${name}`, base);
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(url, { method: 'PUT', headers: sent, body: Buffer.from(bytes), signal });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`bucket ${bucket} answered ${response.status}`);
  };
  // A closed connection or a short failure: retry immediately.
  return { put: (name, bytes) => put(name, bytes).catch(() => put(name, bytes)) };
}
