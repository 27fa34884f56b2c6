/**
 * Snapshots of headroom in the table, for the relay that replaces this one.
 *
 * Each relay has one item and overwrites it: within a second while it decides alone, and once when it stops. While the function
 * answers nothing is written. A relay that starts reads the items of the relays started last and goes on from there. A relay that
 * is killed loses what it gave in its last second, so its replacement may give that much again.
 */
import { promisify } from 'node:util';
import { gunzip as gunzipInto, gzip as gzipInto } from 'node:zlib';
import * as names from '../../functions/names.ts';
import { isRecord } from '../../policies/document/reading.ts';
import { awsJson, putItem, type RelayTable } from '../aws/aws-json.ts';
import type { RelayClock } from '../exchange.ts';
import { type Headroom, type HeadroomSnapshot, type LimitHeadroom, reasonOf } from './headroom.ts';

const gzip = promisify(gzipInto);
const gunzip = promisify(gunzipInto);

const TEXT_VERSION = 1;
const AGE_MS_MAX = 24 * 3_600_000;
/** A relay that starts waits for the read. A relay that stops has two seconds for a write on its way and its last one. */
const TIMEOUT_MS = { read: 3_000, write: 1_000 } as const;
/** An item of DynamoDB has at most 400 KB. */
const ITEM_BYTES_MAX = 380_000;
const TEXT_BYTES_MAX = 8 * 1024 * 1024;
/** The relays that were started last: their items include what they took over from earlier ones. */
const RELAYS_READ_MAX = 16;
const SKEW_MS_MAX = 60_000;
const WRITE_AFTER_MS = 1_000;
const RETRY_AFTER_MS = 10_000;

export function headroomTable(
  options: RelayTable & { readonly relayId: string; readonly nowMs: () => number },
) {
  const { table, instance, relayId, nowMs } = options;
  const pk = `${instance}${names.ROOMS_PK_SUFFIX}`;
  const sk = `${new Date(nowMs()).toISOString()}#${relayId}`;

  async function read(): Promise<readonly HeadroomSnapshot[]> {
    const response = await awsJson(options, {
      target: 'DynamoDB_20120810.Query',
      input: {
        ...{ TableName: table, ConsistentRead: true, ScanIndexForward: false, Limit: RELAYS_READ_MAX },
        KeyConditionExpression: '#pk = :pk',
        ExpressionAttributeNames: { '#pk': names.PK },
        ExpressionAttributeValues: { ':pk': { S: pk } },
      },
      timeoutMs: TIMEOUT_MS.read,
    });
    const items = isRecord(response) && Array.isArray(response.Items) ? response.Items : [];
    return Promise.all(items.map((item) => unpacked(item, nowMs() + SKEW_MS_MAX)));
  }

  async function write(kept: HeadroomSnapshot): Promise<void> {
    const item = {
      [names.PK]: { S: pk },
      [names.SK]: { S: sk },
      [names.ROOMS_KEPT]: { B: (await packed(kept)).toString('base64') },
      [names.TTL_ATTRIBUTE]: { N: String(Math.ceil((nowMs() + AGE_MS_MAX) / 1_000)) },
    };
    await putItem(options, item, TIMEOUT_MS.write);
  }

  return { read, write };
}

async function packed(kept: HeadroomSnapshot): Promise<Buffer> {
  for (let { rooms, given } = kept; ; ) {
    const bytes = await gzip(JSON.stringify({ version: TEXT_VERSION, rooms, given }));
    if (bytes.length <= ITEM_BYTES_MAX) return bytes;
    rooms = rooms.slice(Math.ceil(rooms.length / 2));
    given = given.slice(Math.ceil(given.length / 2));
  }
}

const NONE: HeadroomSnapshot = { rooms: [], given: [] };

/** Only relays write these items. Returns nothing for one of another form: the others still count. */
async function unpacked(item: unknown, nowMs: number): Promise<HeadroomSnapshot> {
  const kept = isRecord(item) && isOurs(item) ? item[names.ROOMS_KEPT] : undefined;
  if (!isRecord(kept) || typeof kept.B !== 'string') return NONE;
  try {
    const text = await gunzip(Buffer.from(kept.B, 'base64'), { maxOutputLength: TEXT_BYTES_MAX });
    const { version, rooms, given } = JSON.parse(text.toString('utf8'));
    if (version !== TEXT_VERSION) return NONE;
    const isFresh = ({ toldAtMs }: LimitHeadroom) => toldAtMs <= nowMs && nowMs - toldAtMs <= AGE_MS_MAX;
    return { rooms: rooms.filter(isFresh), given };
  } catch {
    return NONE;
  }
}

/** Items without a version are older than versions. */
const isOurs = ({ [names.VERSION_ATTRIBUTE]: version }: Readonly<Record<string, unknown>>): boolean =>
  version === undefined || (isRecord(version) && version.N === names.ITEM_VERSION);

export function createHeadroomSnapshots(options: {
  readonly left: readonly HeadroomSnapshot[];
  readonly write: (kept: HeadroomSnapshot) => Promise<void>;
  readonly clock: Pick<RelayClock, 'after'>;
  readonly headroom: Pick<Headroom, 'snapshot' | 'restore'>;
  readonly failed: (error: unknown) => void;
}) {
  const { headroom } = options;
  let cancel: (() => void) | undefined;
  let writing: Promise<void> | undefined;
  let isBehind = false;
  let hasLeft = false;

  function plan(afterMs: number): void {
    if (hasLeft || cancel !== undefined || writing !== undefined) return;
    cancel = options.clock.after(afterMs, () => {
      cancel = undefined;
      writing = write();
    });
  }

  async function write(): Promise<void> {
    isBehind = false;
    let nextMs = WRITE_AFTER_MS;
    try {
      await options.write(headroom.snapshot());
    } catch (error) {
      isBehind = true;
      nextMs = RETRY_AFTER_MS;
      options.failed(error);
    }
    writing = undefined;
    if (isBehind) plan(nextMs);
  }

  return {
    restore: () => headroom.restore(mergeSnapshots(options.left)),
    taken(): void {
      isBehind = true;
      plan(WRITE_AFTER_MS);
    },
    /** Writes a last time: the relay that follows may start in an outage. */
    async leave(): Promise<void> {
      hasLeft = true;
      cancel?.();
      await writing;
      await write();
    },
  };
}

/**
 * A relay cannot know which one it replaces. So each limit is as the newest snapshot has it, less the most that any relay gave in
 * that period: all relays together then give at most what those snapshots left.
 */
function mergeSnapshots(left: readonly HeadroomSnapshot[]): HeadroomSnapshot {
  const rooms = left.flatMap((kept) => kept.rooms).sort((a, b) => b.toldAtMs - a.toldAtMs);
  const newest = new Map<string, LimitHeadroom>();
  for (const room of rooms) {
    const { subject, limit } = reasonOf(room);
    const name = `${subject}\n${limit}`;
    const known = newest.get(name);
    if (known === undefined) newest.set(name, { ...room });
    else if (known.resetsAtMs === room.resetsAtMs) known.spent = Math.max(known.spent, room.spent);
  }
  return { rooms: [...newest.values()], given: left.flatMap(({ given }) => given) };
}
