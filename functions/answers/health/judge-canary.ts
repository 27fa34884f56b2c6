/** Whether both of our answers are proven at this GitLab as it is now. Pure. */
import { DAY_MS, HOUR_MS } from '../../../policies/limits/calendar.ts';
import type { CanaryOutcome } from '../../core/ledger/index.ts';
import type { HealthFinding } from './model.ts';

interface CanaryCircumstances {
  /** What the last canary found; undefined: there was none yet. */
  readonly outcome: CanaryOutcome | undefined;
  /** Hashes of the descriptors that relays use now; none: no relay tells. */
  readonly descriptors: readonly string[];
  /** GitLab's version now; undefined: nobody asked it. */
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
  // While relays differ, that is what is told of them.
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
  return { severity: 'ok', text: `both answers proven ${on}${patienceText(outcome)}` };
}

function patienceText({ patience }: CanaryOutcome): string {
  if (patience === undefined) return '';
  const waited = `${patience.waitedMs / 1_000} s`;
  return patience.gaveUp ? `; the router gives up after ${waited}` : `; the router waits ${waited} or longer`;
}

function agoText(ms: number): string {
  if (ms < 2 * HOUR_MS) return 'lately';
  return ms < 2 * DAY_MS ? `${Math.round(ms / HOUR_MS)} hours ago` : `${Math.round(ms / DAY_MS)} days ago`;
}
