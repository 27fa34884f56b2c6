/** What others may use of this folder; its README says what it promises. */
export {
  type AgreementCause,
  agreementDays,
  type BudgetAgreement,
  budgetAgreement,
} from './budget-agreement.ts';
export { contributionOf, placeAskOf, placeBy } from './contribution.ts';
export type { CountRecordsDeps } from './count-records.ts';
export {
  type CounterSnapshot,
  type CounterSnapshots,
  dynamoCounterSnapshots,
  isInSnapshot,
} from './counter-snapshot.ts';
export { type CoverageCounts, type CoveredRunner, coverageOfDays } from './coverage.ts';
export { DynamoRollupStore } from './dynamo-rollup-store.ts';
export { firstOfMonth, type GroupSum, groupSum, type UsedInMonth, usedTogether } from './group-sum.ts';
export { isOverEstimate } from './hold-ratio.ts';
export { REJECTIONS_MAX } from './latest-rejections.ts';
export { MemoryRollupStore, type RollupFault } from './memory-rollup-store.ts';
export { QUEUE_BOUNDS_SECONDS, QUEUE_BUCKETS } from './queue-time.ts';
export { rebuildUsage, type UsageRebuild } from './rebuild-usage.ts';
export { type RollUpDeps, rollUp, type StreamAnswer } from './roll-up.ts';
export {
  encodeContribution,
  encodeRejections,
  encodeTop,
  type RollupKeys,
  rollupKeys,
  usageExpiresAtSeconds,
} from './rollup-item.ts';
export type { LatestRejections, RollupStore } from './rollup-store.ts';
export { runnerNames } from './runner-names.ts';
export type { UsageTally } from './tally.ts';
export { type OnTransitions, TellTransitions } from './tell-transitions.ts';
export { BELOW_COUNTS, formerRootsIn, ROOT_JOBS, type Usage, type UsageKey, usageOf } from './usage.ts';
export { usageZone } from './usage-zone.ts';
