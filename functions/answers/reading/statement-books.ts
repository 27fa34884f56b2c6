import type { LedgerStore } from '../../core/ledger/index.ts';
import type { PriceEditionStore, StatementChain } from '../../core/statements/index.ts';
import type { RollupStore } from '../../core/usage/index.ts';

export interface StatementBooks {
  /** The GitLab it is about, a host. */
  readonly instance: string;
  /** For people: `table tollgate-ledger`. */
  readonly description: string;
  /** Every record: only for whoever may read the whole table. Absent: statements are made of days alone. */
  readonly jobs?: Pick<LedgerStore, 'scan' | 'readEntries'>;
  readonly usage?: Pick<RollupStore, 'readUsage'>;
  /** Months that were closed. @default nobody closes any */
  readonly chain?: Pick<StatementChain, 'of' | 'numbers' | 'register'>;
  /** Prices that were deployed. @default nobody keeps them */
  readonly prices?: Pick<PriceEditionStore, 'changes' | 'text'>;
}
