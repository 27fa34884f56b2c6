/** Public exports of this folder; its README lists its promises. */
export {
  type AgreementCause,
  agreementDays,
  type BudgetAgreement,
  budgetAgreement,
} from './budget-agreement.ts';
export { contributionOf, placeAskOf, placeBy } from './contribution.ts';
export type { CountRecordsDeps } from './count-records.ts';
export { rebuildUsage, type UsageRebuild } from './count-records.ts';
export {
  type CounterSnapshot,
  type CounterSnapshots,
  dynamoCounterSnapshots,
  isInSnapshot,
} from './counter-snapshot.ts';
export { REJECTIONS_MAX } from './lists.ts';
export {
  type OnTransitions,
  type RollUpDeps,
  rollUp,
  type StreamAnswer,
  TellTransitions,
} from './roll-up.ts';
export type { LatestRejections, RollupStore } from './rollup-store.ts';
export {
  DynamoRollupStore,
  encodeContribution,
  encodeRejections,
  encodeTop,
  MemoryRollupStore,
  type RollupFault,
  type RollupKeys,
  rollupKeys,
  usageExpiresAtSeconds,
} from './rollup-store.ts';
export {
  type CoverageCounts,
  type CoveredRunner,
  coverageOfDays,
  firstOfMonth,
  type GroupSum,
  groupSum,
  type UsedInMonth,
  usedTogether,
} from './sums.ts';
export type { UsageTally } from './usage.ts';
export {
  BELOW_COUNTS,
  formerRootsIn,
  isOverEstimate,
  QUEUE_BOUNDS_SECONDS,
  QUEUE_BUCKETS,
  ROOT_JOBS,
  runnerNames,
  type Usage,
  type UsageKey,
  usageOf,
} from './usage.ts';
