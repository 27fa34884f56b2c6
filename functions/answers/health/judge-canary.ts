/** Judges if the canary proved both decisions at the current GitLab. Pure. */
import { DAY_MS, HOUR_MS } from '../../../policies/limits/calendar.ts';
import type { Beat } from '../../core/contract/index.ts';
import type { CanaryOutcome, RouterPatience } from '../../core/ledger/index.ts';
import type { HealthFinding } from './model.ts';

interface CanaryCircumstances {
  /** Result of the last canary. Undefined: none yet. */
  readonly outcome: CanaryOutcome | undefined;
  /** Descriptor hashes of the running relays; empty: unknown. */
  readonly descriptors: readonly string[];
  /** The longest time a relay keeps a request open. Undefined: unknown. */
  readonly answerWithinMs: number | undefined;
  /** GitLab's current version. Undefined: unknown. */
  readonly gitlabVersion: string | undefined;
  readonly nowMs: number;
}

const REMEDY = 'tollgate gitlab canary proves both, on a runner of its own';
const warning = (text: string): CanaryFinding => ({ severity: 'warning', text, remedy: REMEDY });

export type CanaryFinding = Omit<HealthFinding, 'about'>;

/** A proof is one of a version and of descriptors; what was found under others says nothing of now. */
export function judgeCanary(now: CanaryCircumstances): CanaryFinding {
  const { outcome, descriptors, gitlabVersion } = now;
  if (outcome === undefined)
    return warning('never proven: whether GitLab takes "admitted" and "rejected" for what they are');
  const { admitted, rejected } = outcome;
  const ago = agoText(now.nowMs - outcome.checkedAtMs);
  if (gitlabVersion !== undefined && gitlabVersion !== outcome.gitlabVersion)
    return warning(
      `not proven since GitLab became ${gitlabVersion}: the last canary was on ${outcome.gitlabVersion}, ${ago}`,
    );
  // While relays differ, report that.
  if (descriptors.length > 0 && !descriptors.includes(outcome.descriptors))
    return warning(
      `not proven with the descriptors ${[...new Set(descriptors)].join(', ')}: the last canary had ${outcome.descriptors}, ${ago}`,
    );
  const on = `on GitLab ${outcome.gitlabVersion} with descriptors ${outcome.descriptors}, ${ago}`;
  const found = [admitted, rejected];
  if (found.includes('contrary'))
    return {
      severity: 'problem',
      text: `GitLab takes one of our answers for the other: found ${on}`,
      remedy: 'disarm; then npm run proto:sync -- --ref v<version of KAS>, deploy, and the canary again',
    };
  if (found.includes('bypassed'))
    return {
      severity: 'problem',
      text: `the canary's jobs ran and nobody was asked: found ${on}`,
      remedy: 'tollgate coverage lists the runners that pass by; then the canary again',
    };
  if (found.some((arm) => arm !== 'proven'))
    return warning(`only ${admitted === 'proven' ? '"admitted"' : '"rejected"'} is proven ${on}`);
  return judgePatience(`both answers proven ${on}`, outcome.patience, now.answerWithinMs);
}

/** The deadline of all questions that wait for nothing: GitLab is known to wait that long. */
const PATIENT_FOR_SURE_MS = 5_000;

/** If the router gives up a waiting request, the job fails, whatever the later response. */
function judgePatience(
  proven: string,
  patience: RouterPatience | undefined,
  answerWithinMs = 0,
): CanaryFinding {
  const seconds = (ms: number): string => `${ms / 1_000} s`;
  const seen =
    patience &&
    (patience.gaveUp
      ? `the router gives up after ${seconds(patience.waitedMs)}`
      : `the router was seen to wait ${seconds(patience.waitedMs)}`);
  const kept = `relays keep questions open for up to ${seconds(answerWithinMs)}`;
  if (patience?.gaveUp && patience.waitedMs <= answerWithinMs)
    return {
      severity: 'problem',
      text: `${kept}, and ${seen}: jobs that wait for a slot fail`,
      remedy: `set relay.answerWithinMs below ${Math.floor(patience.waitedMs / 1_000) * 1_000}, and deploy`,
    };
  if (answerWithinMs > PATIENT_FOR_SURE_MS && (patience?.waitedMs ?? 0) < answerWithinMs)
    return {
      severity: 'warning',
      text: `${proven}; ${kept}, and ${seen ?? 'nobody has seen how long the router waits'}`,
      remedy: `tollgate gitlab canary --patience ${Math.ceil(answerWithinMs / 1_000)} shows whether it does`,
    };
  return { severity: 'ok', text: seen === undefined ? proven : `${proven}; ${seen}` };
}

/** Undefined if no relay reports it. */
export const longestAnswerMs = (beats: readonly Pick<Beat, 'answerWithinMs'>[]): number | undefined => {
  const told = beats.flatMap(({ answerWithinMs }) => answerWithinMs ?? []);
  return told.length === 0 ? undefined : Math.max(...told);
};

function agoText(ms: number): string {
  if (ms < 2 * HOUR_MS) return 'lately';
  return ms < 2 * DAY_MS ? `${Math.round(ms / HOUR_MS)} hours ago` : `${Math.round(ms / DAY_MS)} days ago`;
}
