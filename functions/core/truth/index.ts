/** Public exports of this folder; its README lists its promises. */
export {
  type ChargeBypass,
  type ConcludeDeps,
  type ConcludeTally,
  concludeAll,
  createVerdictWriter,
  type VerdictWriter,
} from './conclude.ts';
export {
  type ComparedJob,
  type EnforcementProof,
  enforcementProof,
  type FindingKind,
  type ProofFinding,
  unadmittedShare,
} from './enforcement-proof.ts';
export {
  type ChargeLine,
  chargeLines,
  isInNoGroup,
  pricedAs,
  recordedRoot,
  wasBelowPath,
  wasInGroup,
} from './job-charge.ts';
export {
  noteAdmittedYetFailed,
  type SettleDeps,
  settleTruths,
  type TruthOutcome,
  tellAdmittedYetFailed,
} from './settle-truths.ts';
export {
  endOfJob,
  errorMs,
  type JobVerdict,
  type LiveHold,
  liveHoldOf,
  verdictOf,
  verdictOn,
} from './verdict.ts';
export {
  applyHints,
  type HintDeps,
  type HintOutcome,
  hintText,
  parseHintText,
  rootOf,
  type WebhookHint,
} from './webhook-hints.ts';
