import { gunzipSync, gzipSync } from 'node:zlib';
import { atOnce } from '../environment/index.ts';
import {
  type AttributeValue,
  answered,
  atRev,
  getItem,
  type InstanceTable,
  itemAt,
  type Key,
  LedgerError,
  ledgerKeys,
  putItem,
  TimeLimit,
  TTL_ATTRIBUTE,
  unavailable,
} from '../store/index.ts';
import type { RecountRound, RecountRounds } from './recount-round.ts';

const TIMEOUT_MS = 10_000;
/** Below the 400 KB of an item. */
const PART_BYTES_MAX = 300_000;
const AT_ONCE = 8;
/** A round that no run went on with for so long begins again. */
const KEPT_SECONDS = 3 * 86_400;

const REV = 'rv';
const PARTS = 'pa';
const BYTES = 'by';
/** The form of the text, so that another release begins again instead of misreading it. */
const FORM = 'fo';
const FORM_NOW = 1;

interface RoundOptions extends InstanceTable {
  readonly nowMs: () => number;
  /** @default {@link PART_BYTES_MAX} */
  readonly partBytes?: number;
}

/**
 * A round in the table: a head, which has all of a small one, and parts of a large one. Parts are written under a number of their
 * own before the head names them, so a reader finds a whole round at any time. Older parts expire.
 */
export function dynamoRecountRounds({
  table,
  instance,
  nowMs,
  partBytes = PART_BYTES_MAX,
}: RoundOptions): RecountRounds {
  const keys = ledgerKeys(instance);
  const failure = unavailable(table);
  let rev = 0;

  const put = (key: Key, attributes: Record<string, AttributeValue>, replacesRev?: number) =>
    answered('write where the recount stands', failure, () =>
      putItem(
        table,
        itemAt(key, attributes),
        new TimeLimit(TIMEOUT_MS),
        replacesRev === undefined ? undefined : atRev(REV, replacesRev),
      ),
    );
  const get = (key: Key) =>
    answered('read where the recount stands', failure, () => getItem(table, key, new TimeLimit(TIMEOUT_MS)));

  return {
    async read() {
      const head = await get(keys.recountRound);
      rev = Number(head?.[REV]?.N ?? 0);
      if (head === undefined || Number(head[FORM]?.N) !== FORM_NOW) return undefined;
      const parts: Uint8Array[] = [];
      const own = head[BYTES]?.B;
      if (own !== undefined) parts.push(own);
      await atOnce([...Array(Number(head[PARTS]?.N)).keys()], AT_ONCE, async (part) => {
        parts[part] = (await get(keys.recountPart(rev, part)))?.[BYTES]?.B ?? new Uint8Array();
      });
      // Parts of a round that no run went on with are gone.
      if (parts.some(({ length }) => length === 0)) return undefined;
      return JSON.parse(gunzipSync(Buffer.concat(parts)).toString()) as RecountRound;
    },
    async write(round) {
      const bytes = gzipSync(JSON.stringify(round));
      const parts = bytes.length <= partBytes ? 0 : Math.ceil(bytes.length / partBytes);
      const next = rev + 1;
      await atOnce([...Array(parts).keys()], AT_ONCE, async (part) => {
        await put(keys.recountPart(next, part), {
          [BYTES]: { B: bytes.subarray(part * partBytes, (part + 1) * partBytes) },
          [TTL_ATTRIBUTE]: { N: String(Math.ceil(nowMs() / 1000) + KEPT_SECONDS) },
        });
      });
      const head = {
        [REV]: { N: String(next) },
        [FORM]: { N: String(FORM_NOW) },
        [PARTS]: { N: String(parts) },
        ...(parts === 0 && { [BYTES]: { B: bytes } }),
      };
      const { outcome } = await put(keys.recountRound, head, rev);
      if (outcome === 'refused')
        throw new LedgerError('ledger_unavailable', 'another run goes on with the recount');
      rev = next;
    },
  };
}
