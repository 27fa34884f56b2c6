/** The rollup's table in memory, with the faults a real one has. It keeps encoded items, as the ledger's does. */
import { decodeEstimates, encodeEstimates } from '../estimates/estimates-item.ts';
import { LedgerError } from '../ledger/ledger-error.ts';
import { TRANSACTION_ITEMS_MAX } from '../ledger/store.ts';
import type { Item } from '../store/item-bytes.ts';
import type { Key } from '../store/keys.ts';
import {
  decodeContribution,
  decodeRejections,
  decodeTop,
  encodeContribution,
  encodeRejections,
  encodeTop,
  type RollupKeys,
  rollupKeys,
} from './rollup-item.ts';
import type { LatestRejections, RollupStore, RollupWrites, TopProjects } from './rollup-store.ts';
import { addTo, type Tally } from './tally.ts';
import { type UsageKey, usageName } from './usage.ts';

/** `lost-before`: never applied; `lost-after`: applied, and the answer is lost. */
export type RollupFault = 'contended' | 'lost-before' | 'lost-after';

export class MemoryRollupStore implements RollupStore {
  readonly #keys: RollupKeys;
  readonly #fault: () => RollupFault | undefined;
  readonly #items = new Map<string, Item>();
  readonly #usage = new Map<string, { readonly key: UsageKey; readonly tally: Map<string, number> }>();

  /** @param options.fault - asked once per commit. */
  constructor(options: { readonly instance: string; readonly fault?: () => RollupFault | undefined }) {
    this.#keys = rollupKeys(options.instance);
    this.#fault = options.fault ?? (() => undefined);
  }

  async readContributions(jobIds: readonly number[]) {
    return jobIds.map((jobId) => {
      const item = this.#get(this.#keys.contribution(jobId));
      return item && decodeContribution(jobId, item);
    });
  }

  async commit({ contributions, usage }: RollupWrites): Promise<'committed' | 'contended'> {
    const fault = this.#fault();
    if (fault === 'contended') return 'contended';
    if (fault === 'lost-before') throw lost();
    if (contributions.length + usage.length > TRANSACTION_ITEMS_MAX)
      throw new LedgerError('ledger_misuse', 'a commit of the rollup has more items than a transaction');
    const same = contributions.every(({ after, replacesRev }) => {
      const item = this.#get(this.#keys.contribution(after.jobId));
      return (item && decodeContribution(after.jobId, item).rev) === replacesRev;
    });
    if (!same) return 'contended';
    for (const { after, expiresAtSeconds } of contributions) {
      const key = this.#keys.contribution(after.jobId);
      this.#items.set(nameOf(key), encodeContribution(key, after, expiresAtSeconds));
    }
    for (const { key, delta } of usage) {
      const name = usageName(key);
      const stored = this.#usage.get(name) ?? { key, tally: new Map() };
      this.#usage.set(name, stored);
      addTo(stored.tally, delta);
    }
    if (fault === 'lost-after') throw lost();
    return 'committed';
  }

  async readUsage(keys: readonly UsageKey[]): Promise<readonly Tally[]> {
    return keys.map((key) => new Map(this.#usage.get(usageName(key))?.tally));
  }

  async readEstimates(projectIds: readonly number[]) {
    return projectIds.map((projectId) => decodeEstimates(this.#get(this.#keys.estimates(projectId)) ?? {}));
  }

  async writeEstimates(
    projectId: number,
    estimates: Parameters<RollupStore['writeEstimates']>[1],
    nowMs: number,
  ): Promise<boolean> {
    const key = this.#keys.estimates(projectId);
    if (decodeEstimates(this.#get(key) ?? {}).rev !== estimates.rev) return false;
    this.#items.set(nameOf(key), encodeEstimates(key, { ...estimates, rev: estimates.rev + 1 }, nowMs));
    return true;
  }

  async readTop(keys: readonly UsageKey[]): Promise<readonly TopProjects[]> {
    return keys.map((key) => decodeTop(key, this.#get(this.#keys.top(key))));
  }

  async writeTop(top: TopProjects): Promise<boolean> {
    const key = this.#keys.top(top.key);
    if (decodeTop(top.key, this.#get(key)).rev !== top.rev) return false;
    this.#items.set(nameOf(key), encodeTop(key, { ...top, rev: top.rev + 1 }));
    return true;
  }

  async readRejections(subjects: readonly string[]): Promise<readonly LatestRejections[]> {
    return subjects.map((subject) => decodeRejections(subject, this.#get(this.#keys.rejections(subject))));
  }

  async writeRejections(latest: LatestRejections): Promise<boolean> {
    const key = this.#keys.rejections(latest.subject);
    if (decodeRejections(latest.subject, this.#get(key)).rev !== latest.rev) return false;
    this.#items.set(nameOf(key), encodeRejections(key, { ...latest, rev: latest.rev + 1 }));
    return true;
  }

  /** Everything counted, by `usageName`; what came to nothing is left out. */
  usage(): ReadonlyMap<string, Tally> {
    return new Map(
      [...this.#usage].flatMap(([name, { tally }]) => (tally.size === 0 ? [] : [[name, new Map(tally)]])),
    );
  }

  #get(key: Key): Item | undefined {
    return this.#items.get(nameOf(key));
  }
}

const nameOf = ({ pk, sk }: Key): string => `${pk}\n${sk}`;
const lost = (): LedgerError =>
  new LedgerError('ledger_unavailable', 'commit: no answer from the in-memory rollup (injected fault)');
