/**
 * What relays know to be left of limits, in the table: one item for each of them, which it writes over and over. The relay does
 * it by itself, because the admit function is not there when it matters.
 */
import { promisify } from 'node:util';
import { gunzip as gunzipInto, gzip as gzipInto } from 'node:zlib';
import {
  ITEM_VERSION,
  PK,
  ROOMS_KEPT,
  ROOMS_PK_SUFFIX,
  SK,
  TTL_ATTRIBUTE,
  VERSION_ATTRIBUTE,
} from '../functions/names.ts';
import { isRecord } from '../policies/document/reading.ts';
import { awsJson } from './aws/aws-json.ts';
import { putByHand, type RelayTable } from './aws/put-by-hand.ts';
import { KEPT_ROOMS_AGE_MS_MAX, KEPT_ROOMS_BYTES_MAX, keptRoomsIn, keptRoomsText } from './kept-rooms.ts';
import type { KeptRooms } from './room.ts';

const gzip = promisify(gzipInto);
const gunzip = promisify(gunzipInto);

/** A relay that starts waits for it, and one that stops has two seconds for one write on its way and its last. */
const TIMEOUT_MS = { read: 3_000, write: 1_000 } as const;
/** An item of DynamoDB has at most 400 KB. */
const ITEM_BYTES_MAX = 380_000;
/** The relays that were started last: their items include what they took over from earlier ones. */
const RELAYS_READ_MAX = 16;
/** A page of DynamoDB has 1 MB, a third more in base64. */
const ANSWER_BYTES_MAX = 2 * 1024 * 1024;
/** So far ahead another machine's clock may be. */
const SKEW_MS_MAX = 60_000;

interface RoomTableOptions extends RelayTable {
  /** Tells this process from the other relays, and from itself before a restart. */
  readonly relayId: string;
  readonly nowMs: () => number;
}

export interface RoomTable {
  /** What the relays that were started last wrote within a day. Rejects when the table did not answer. */
  read(): Promise<readonly KeptRooms[]>;
  /** Replaces what this relay wrote. Rejects when the table did not take it. */
  write(kept: KeptRooms): Promise<void>;
}

export function roomTable(options: RoomTableOptions): RoomTable {
  const { table, instance, relayId, nowMs } = options;
  const pk = `${instance}${ROOMS_PK_SUFFIX}`;
  // Sorted by when they were started.
  const sk = `${new Date(nowMs()).toISOString()}#${relayId}`;

  async function read(): Promise<readonly KeptRooms[]> {
    const answer = await awsJson(options, {
      target: 'DynamoDB_20120810.Query',
      version: '1.0',
      input: {
        ...{ TableName: table, ConsistentRead: true, ScanIndexForward: false, Limit: RELAYS_READ_MAX },
        KeyConditionExpression: '#pk = :pk',
        ExpressionAttributeNames: { '#pk': PK },
        ExpressionAttributeValues: { ':pk': { S: pk } },
      },
      timeoutMs: TIMEOUT_MS.read,
      answerBytesMax: ANSWER_BYTES_MAX,
    });
    const items = isRecord(answer) && Array.isArray(answer.Items) ? answer.Items : [];
    return Promise.all(items.map((item) => unpacked(item, nowMs() + SKEW_MS_MAX)));
  }

  async function write(kept: KeptRooms): Promise<void> {
    const item = {
      [PK]: { S: pk },
      [SK]: { S: sk },
      [ROOMS_KEPT]: { B: (await packed(kept)).toString('base64') },
      [TTL_ATTRIBUTE]: { N: String(Math.ceil((nowMs() + KEPT_ROOMS_AGE_MS_MAX) / 1_000)) },
    };
    await putByHand(options, item, TIMEOUT_MS.write);
  }

  return { read, write };
}

/** Those told last, as many as an item has room for: there is always some for none. */
async function packed(kept: KeptRooms): Promise<Buffer> {
  for (let { rooms, given } = kept; ; ) {
    const bytes = await gzip(keptRoomsText({ rooms, given }));
    if (bytes.length <= ITEM_BYTES_MAX) return bytes;
    rooms = rooms.slice(Math.ceil(rooms.length / 2));
    given = given.slice(Math.ceil(given.length / 2));
  }
}

const NONE: KeptRooms = { rooms: [], given: [] };

/** What is of another form, or of nobody's, is nothing: the others still count. */
async function unpacked(item: unknown, nowMs: number): Promise<KeptRooms> {
  const kept = isRecord(item) && isOurs(item) ? item[ROOMS_KEPT] : undefined;
  if (!isRecord(kept) || typeof kept.B !== 'string') return NONE;
  try {
    const text = await gunzip(Buffer.from(kept.B, 'base64'), { maxOutputLength: KEPT_ROOMS_BYTES_MAX });
    return keptRoomsIn(JSON.parse(text.toString('utf8')), nowMs);
  } catch {
    return NONE;
  }
}

/** Every reader takes what was written before there were versions. */
const isOurs = ({ [VERSION_ATTRIBUTE]: version }: Readonly<Record<string, unknown>>): boolean =>
  version === undefined || (isRecord(version) && version.N === ITEM_VERSION);
