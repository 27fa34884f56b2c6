/**
 * Judges GitLab's side of the set-up. Pure: parts hidden by one cause are unknown, and the cause is reported
 * once.
 */
import { DAY_MS, HOUR_MS } from '../../../policies/limits/calendar.ts';
import type { Beat } from '../../core/contract/admissions.ts';
import type { CanaryOutcome, RouterPatience } from '../../core/ledger/controller.ts';
import type { BrokenWebhookEvidence, HealthEvidence, HealthFinding, ReadResult } from './evidence.ts';
import {
  CLOCK_OFF_MS_MAX,
  counted,
  HEALTH_ALARM,
  type HealthChecks,
  heardAmong,
  judged,
  known,
  span,
} from './judged.ts';

const { ok, unknown, warning, problem } = judged;

/** GitLab writes to the token's user 60, 30 and 7 days before. */
const EXPIRES_SOON_MS = 30 * DAY_MS;
const EXPIRES_AT_ONCE_MS = 7 * DAY_MS;
/** Controllers' tokens do not expire; those of people do after this at the latest. */
const TOKEN_OLD_MS = 365 * DAY_MS;
/** Runner controllers came with it. */
const FIRST_VERSION = '18.9';
const GROUPS_NAMED = 5;
/** Runner controllers need Ultimate; `gold` is its older name. */
const ENOUGH = /ultimate|gold/i;

export const GITLAB_CHECKS: HealthChecks = {
  'access token': (evidence) => {
    const refused = readsOf(evidence).flatMap((read) => (read.known ? [] : [read]));
    const withCause = (cause: string) => refused.find((each) => each.cause === cause);
    const untold = withCause('no_token');
    if (untold !== undefined)
      return problem(untold.why, 'put it there: runbook: First set-up', 'SweepFailing');
    const untaken = withCause('unauthorised');
    if (untaken !== undefined)
      return problem(untaken.why, 'make another one and store it: runbook: Rotate tokens', 'SweepFailing');
    const forbidden = withCause('forbidden');
    if (forbidden !== undefined)
      return problem(
        forbidden.why,
        "it needs an administrator's token of scope read_api, with admin_mode where Admin Mode is on",
        'SweepFailing',
      );
    return known(evidence.accessToken, ({ active, expiresAtMs }) => {
      if (!active) return problem('GitLab says that it is not active', 'runbook: Rotate tokens');
      if (expiresAtMs === undefined) return ok('does not expire');
      const leftMs = expiresAtMs - evidence.nowMs;
      const text = `expires in ${span(leftMs)}`;
      if (leftMs <= EXPIRES_AT_ONCE_MS) return problem(text, 'runbook: Rotate tokens');
      return leftMs <= EXPIRES_SOON_MS ? warning(text, 'runbook: Rotate tokens') : ok(text);
    });
  },

  licence: ({ licence, controller, nowMs }) =>
    known(licence, (found) => {
      const remedy = "runner controllers need an Ultimate licence: add one in GitLab's Admin area";
      const missing = !controller.known && controller.cause === 'absent';
      if (missing && found === undefined) return problem('GitLab has none', remedy);
      if (missing && found?.expired === true) return problem(`${found.plan}, and it has expired`, remedy);
      if (missing && found !== undefined && !ENOUGH.test(found.plan)) return problem(found.plan, remedy);
      if (found === undefined) return unknown('GitLab tells none');
      const leftMs = (found.expiresAtMs ?? Number.POSITIVE_INFINITY) - nowMs;
      return leftMs <= EXPIRES_SOON_MS
        ? warning(`${found.plan}, ${leftMs <= 0 ? 'expired' : `expires in ${span(leftMs)}`}`, remedy)
        : ok(found.plan);
    }),

  'version of GitLab': ({ gitlabVersion, deployed }) =>
    known(gitlabVersion, (version) => {
      if (isOlder(version, FIRST_VERSION))
        return problem(`${version} has no runner controllers`, `upgrade GitLab to ${FIRST_VERSION} or newer`);
      const descriptors = deployed.known ? deployed.value.descriptorsVersion : undefined;
      if (descriptors === undefined)
        return unknown(`${version}; nobody notes which version the descriptors are of`);
      return isOlder(descriptors, version)
        ? warning(
            `${version}, and the descriptors are of ${descriptors}: fields that are new are not read`,
            `npm run proto:sync -- --ref v${numbersOf(version).join('.')}.0, then deploy; runbook: Upgrading GitLab`,
            HEALTH_ALARM,
          )
        : ok(`${version}, and the descriptors are of ${descriptors}`);
    }),

  controller: (evidence) => {
    const { controller } = evidence;
    if (!controller.known && controller.cause === 'absent' && !isExplained(evidence))
      return problem(controller.why, 'gitlab.controllerId in cdk/tollgate.config.ts; tollgate gitlab status');
    return known(controller, ({ state, hasScope }) => {
      if (!hasScope)
        return problem(
          'the controller has no scope: GitLab asks about no job',
          'tollgate gitlab setup, or glab runner-controller scope create <id> --instance',
        );
      if (state === 'enabled') return ok('enabled: GitLab asks and obeys');
      return warning(
        state === 'dry_run' ? 'in dry run: GitLab asks and runs every job' : 'disabled: GitLab does not ask',
        'tollgate controller enable, once tollgate controller status shows what it would do',
      );
    });
  },

  'controller token': ({ controllerTokens, controller, beats, nowMs }) =>
    known(controllerTokens, (tokens) => {
      const rotate = 'tollgate gitlab rotate-token';
      if (tokens.length === 0)
        return problem(
          'the controller has none: no relay can open a stream',
          `${rotate}, then deploy the relays`,
          'RelayDisconnected',
        );
      const heard = beats.known && heardAmong(beats.value, nowMs).length > 0;
      if (heard && controller.known && controller.value.connected === false)
        return warning(
          `relays have streams, and no token of controller ${controller.value.id} was used within the last hour: theirs is another's`,
          'gitlab.controllerId in cdk/tollgate.config.ts, or the token in SSM: tollgate gitlab status',
        );
      const oldestMs = nowMs - Math.min(...tokens.map(({ createdAtMs }) => createdAtMs));
      return oldestMs > TOKEN_OLD_MS
        ? warning(`the oldest of ${tokens.length} is ${span(oldestMs)} old`, rotate)
        : ok(`${counted(tokens.length, 'token')}, ${span(oldestMs)} old at most`);
    }),

  webhooks: ({ webhooks }) =>
    known(webhooks, ({ groups, unread, broken }) => {
      const left = unread === 0 ? '' : `; ${counted(unread, 'group')} could not be looked at`;
      if (groups === 0) return unknown(`no top-level group was looked at${left}`);
      if (broken.length === 0)
        return ok(`each of ${counted(groups, 'top-level group')} sends its job events${left}`);
      return problem(
        `${broken.length} of ${counted(groups, 'top-level group')} ${brokenText(broken)}${left}`,
        'tollgate gitlab setup makes and repairs them; until then the sweep finds the ends of their jobs',
      );
    }),

  canary: ({ canary, beats, gitlabVersion, nowMs }) =>
    known(canary, (outcome) =>
      judgeCanary({
        ...{ outcome, nowMs },
        descriptors: beats.known
          ? heardAmong(beats.value, nowMs).flatMap(({ schema }) => schema?.hash ?? [])
          : [],
        answerWithinMs: beats.known ? longestAnswerMs(heardAmong(beats.value, nowMs)) : undefined,
        gitlabVersion: gitlabVersion.known ? gitlabVersion.value : undefined,
      }),
    ),

  'clock of GitLab': ({ gitlabAheadMs }) =>
    known(gitlabAheadMs, (aheadMs) => {
      const off = Math.abs(aheadMs);
      return off <= CLOCK_OFF_MS_MAX
        ? ok('agrees with this machine')
        : problem(
            `${span(off)} ${aheadMs > 0 ? 'ahead of' : 'behind'} this machine: from five minutes on webhooks are refused`,
            'set the clock of the one that is wrong',
          );
    }),
};

const readsOf = (evidence: HealthEvidence): readonly ReadResult<unknown>[] => [
  evidence.accessToken,
  evidence.gitlabVersion,
  evidence.licence,
  evidence.controller,
  evidence.controllerTokens,
  evidence.webhooks,
];

/**
 * GitLab's response is the same for an unknown controller and a missing feature; version and licence decide.
 */
const isExplained = (evidence: HealthEvidence): boolean =>
  (['version of GitLab', 'licence'] as const).some(
    (about) => GITLAB_CHECKS[about]?.(evidence).severity === 'problem',
  );

const WORDS: Readonly<Record<BrokenWebhookEvidence['standing'], string>> = {
  missing: 'have no webhook',
  off: 'have one that sends no job events',
  disabled: 'have one that GitLab disabled because it failed',
  failing: 'have one whose last deliveries failed',
  rewritten: 'have one with a template, which changes what it sends',
};

function brokenText(broken: readonly BrokenWebhookEvidence[]): string {
  const standings = [...new Set(broken.map(({ standing }) => standing))];
  return standings
    .map((standing) => {
      const groups = broken.filter((each) => each.standing === standing).map(({ group }) => group);
      const more = groups.length > GROUPS_NAMED ? ' …' : '';
      return `${WORDS[standing]}: ${groups.slice(0, GROUPS_NAMED).join(', ')}${more}`;
    })
    .join('; ');
}

const numbersOf = (version: string): readonly number[] =>
  version
    .split('.')
    .slice(0, 2)
    .map((part) => Number.parseInt(part, 10));

/** By the first two numbers: what comes after is repaired, not changed. */
function isOlder(version: string, than: string): boolean {
  const [[major = 0, minor = 0], [thanMajor = 0, thanMinor = 0]] = [numbersOf(version), numbersOf(than)];
  return major < thanMajor || (major === thanMajor && minor < thanMinor);
}

// Judges if the canary proved both decisions at the current GitLab. Pure.

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
const unproven = (text: string): CanaryFinding => ({ severity: 'warning', text, remedy: REMEDY });

export type CanaryFinding = Omit<HealthFinding, 'about'>;

/** A proof is one of a version and of descriptors; what was found under others says nothing of now. */
export function judgeCanary(now: CanaryCircumstances): CanaryFinding {
  const { outcome, descriptors, gitlabVersion } = now;
  if (outcome === undefined)
    return unproven('never proven: whether GitLab takes "admitted" and "rejected" for what they are');
  const { admitted, rejected } = outcome;
  const ago = agoText(now.nowMs - outcome.checkedAtMs);
  if (gitlabVersion !== undefined && gitlabVersion !== outcome.gitlabVersion)
    return unproven(
      `not proven since GitLab became ${gitlabVersion}: the last canary was on ${outcome.gitlabVersion}, ${ago}`,
    );
  // While relays differ, report that.
  if (descriptors.length > 0 && !descriptors.includes(outcome.descriptors))
    return unproven(
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
    return unproven(`only ${admitted === 'proven' ? '"admitted"' : '"rejected"'} is proven ${on}`);
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
