/** Public exports of this folder; its README lists its promises. */
export {
  type ChargeBypass,
  type ConcludeDeps,
  type ConcludeTally,
  concludeAll,
  createVerdictWriter,
  type VerdictWriter,
} from './conclude.ts';

export { endOfJob } from './end-of-job.ts';
export {
  type ComparedJob,
  type EnforcementProof,
  enforcementProof,
  type FindingKind,
  type ProofFinding,
  unadmittedShare,
} from './enforcement-proof.ts';
export { type ChargeLine, chargeLines, pricedAs } from './job-charge.ts';
export { isInNoGroup, recordedRoot, wasBelowPath, wasInGroup } from './recorded-groups.ts';
export {
  noteAdmittedYetFailed,
  type SettleDeps,
  settleTruths,
  type TruthOutcome,
  tellAdmittedYetFailed,
} from './settle-truths.ts';
export { hintText, parseHintText } from './truth-text.ts';
export { errorMs, type JobVerdict, type LiveHold, liveHoldOf, verdictOf, verdictOn } from './verdict.ts';
export {
  applyHints,
  type HintDeps,
  type HintOutcome,
  rootOf,
  type WebhookHint,
} from './webhook-hints.ts';
