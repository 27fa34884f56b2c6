import type { LedgerStore } from '../../core/ledger/index.ts';
import type { PriceEditionStore, StatementChain } from '../../core/statements/index.ts';
import type { RollupStore } from '../../core/usage/index.ts';

export interface StatementBooks {
  /** The GitLab it is about, a host. */
  readonly instance: string;
  /** For people: `table tollgate-ledger`. */
  readonly description: string;
  /** All records, for callers that may read the whole table. Absent: statements use days only. */
  readonly jobs?: Pick<LedgerStore, 'scan' | 'readEntries'>;
  readonly usage?: Pick<RollupStore, 'readUsage'>;
  /** Closed months. @default none */
  readonly chain?: Pick<StatementChain, 'of' | 'numbers' | 'register'>;
  /** Deployed prices. @default none */
  readonly prices?: Pick<PriceEditionStore, 'changes' | 'text'>;
}
