import { systemClock } from '../../../functions/core/environment/environment.ts';
import {
  DynamoLimitTable,
  LimitsError,
  type LimitTable,
} from '../../../functions/core/limits/limit-table.ts';
import { MemoryTable } from '../../../functions/core/store/memory-table.ts';
import { keyOf, TTL_ATTRIBUTE } from '../../../functions/core/store/operation.ts';
import { type LostAnswer, withLostAnswers } from './lost-answers.ts';

export type LimitOperation = keyof LimitTable;

const SETS = 'gitlab.example.com@limits#';

class RetiredSets extends DynamoLimitTable {
  readonly #items: MemoryTable;

  constructor(items: MemoryTable) {
    super({ table: items, instance: 'gitlab.example.com', clock: systemClock, random: () => 0 });
    this.#items = items;
  }

  /** Expiry per set, Unix seconds. Nothing is taken away here: the service does that some time later, too. */
  get retired(): ReadonlyMap<string, number> {
    return new Map(
      this.#items.items().flatMap((item) => {
        const expiry = item[TTL_ATTRIBUTE]?.N;
        const { pk } = keyOf(item);
        const isOfSet = expiry !== undefined && pk.startsWith(SETS) && pk !== `${SETS}requests`;
        return isOfSet ? [[pk.slice(SETS.length), Number(expiry)] as const] : [];
      }),
    );
  }
}

export type MemoryLimitTable = RetiredSets;

export const memoryLimitTable = (
  fault: (operation: LimitOperation) => LostAnswer = () => undefined,
): MemoryLimitTable =>
  withLostAnswers(
    new RetiredSets(new MemoryTable()),
    (operation) => (operation === 'retired' ? undefined : fault(operation)),
    (why) => new LimitsError('limits_unavailable', why),
  );
