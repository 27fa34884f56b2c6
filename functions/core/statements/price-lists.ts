/**
 * Every price list that was ever deployed, and since when it counted: what charges of a month are recomputed from. A price list is
 * kept under the hash of its text, once, however often it is deployed; the changes from one to another are a chain like statements.
 */
import { gunzipSync, gzipSync } from 'node:zlib';
import { itemAt, readAll, readNewest, timedTable, writeItem } from '../store/calls.ts';
import { ledgerKeys } from '../store/keys.ts';
import { absent, type InstanceTable } from '../store/operation.ts';
import { sealedText, textSha256 } from './closed-statement.ts';
import type { PriceChange } from './statement-model.ts';

/** `text` is JSON without spaces, names in alphabetical order: what is hashed. */
export interface SealedPriceChange {
  readonly change: PriceChange;
  readonly text: string;
  readonly sha256: string;
}

export type PriceListStore = ReturnType<typeof dynamoPriceLists>;

const TIMEOUT_MS = 10_000;
const TEXT = 'tx';
const SHA256 = 'sh';
const PART = 'by';
const PARTS = 'n';
const PART_BYTES = 300_000;
/** Ten years of monthly prices of 500 classes are two parts. */
const PARTS_MAX = 20;
const TEXT_BYTES_MAX = 64 * 1024 * 1024;

/** Every method throws `ledger_unavailable` where the table gives no answer. */
export function dynamoPriceLists({ table, instance }: InstanceTable, partBytes: number = PART_BYTES) {
  const keys = ledgerKeys(instance);
  const timed = timedTable(table, TIMEOUT_MS);
  const changesPk = keys.priceChange(0).pk;
  const last = async (): Promise<SealedPriceChange | undefined> => {
    const item = await readNewest(timed, 'the last change of prices', changesPk);
    return item && decodeChange(item);
  };

  async function keep(editionSha256: string, text: string): Promise<void> {
    const bytes = gzipSync(text);
    const parts = Math.ceil(bytes.length / partBytes);
    if (parts > PARTS_MAX)
      throw new Error(`prices of ${bytes.length} packed bytes: expected at most ${PARTS_MAX * partBytes}`);
    for (let part = 0; part < parts; part += 1) {
      const item = itemAt(keys.priceEdition(editionSha256, part), {
        [PART]: { B: bytes.subarray(part * partBytes, (part + 1) * partBytes) },
        [PARTS]: { N: String(parts) },
      });
      await writeItem(timed, 'prices', item, absent());
    }
  }

  return {
    /** Writes nothing if these prices are already in force. @throws {Error} for more than {@link PARTS_MAX} parts. */
    async noteInForce(
      priceList: { readonly policyVersion: string; readonly text: string },
      nowMs: number,
    ): Promise<'known' | 'noted'> {
      const { policyVersion, text } = priceList;
      const editionSha256 = textSha256(text);
      const before = await last();
      if (before?.change.editionSha256 === editionSha256) return 'known';
      // The price list first: a change never names what is not there.
      await keep(editionSha256, text);
      const number = (before?.change.number ?? 0) + 1;
      const change = { number, seenAtMs: nowMs, policyVersion, editionSha256 };
      const sealed = sealedText({ ...change, previousSha256: before?.sha256 ?? '' });
      const item = itemAt(keys.priceChange(number), {
        [TEXT]: { S: sealed.text },
        [SHA256]: { S: sealed.sha256 },
      });
      // Another run noted something meanwhile: the next one looks again.
      return (await writeItem(timed, 'a change of prices', item, absent())) ? 'noted' : 'known';
    },
    async changes(): Promise<readonly SealedPriceChange[]> {
      const ask = { pk: changesPk, consistent: true };
      return (await readAll(timed, 'changes of prices', ask)).map(decodeChange);
    },
    async text(editionSha256: string): Promise<string | undefined> {
      const ask = { pk: keys.priceEdition(editionSha256, 0).pk, consistent: true };
      const items = await readAll(timed, 'prices', ask);
      const parts = items.flatMap((item) => item[PART]?.B ?? []);
      if (parts.length === 0 || parts.length !== Number(items[0]?.[PARTS]?.N)) return undefined;
      return gunzipSync(Buffer.concat(parts), { maxOutputLength: TEXT_BYTES_MAX }).toString('utf8');
    },
  };
}

// Written by `noteInForce` alone.
const decodeChange = (item: Readonly<Record<string, { readonly S?: string }>>): SealedPriceChange => {
  const text = item[TEXT]?.S ?? '{}';
  return { text, sha256: item[SHA256]?.S ?? '', change: JSON.parse(text) as PriceChange };
};
