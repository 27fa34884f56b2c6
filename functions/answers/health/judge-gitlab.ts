/** Judges GitLab's side of the set-up. Pure: parts hidden by one cause are unknown, and the cause is reported once. */
import { DAY_MS, MINUTE_MS } from '../../../policies/limits/calendar.ts';
import { counted } from '../../../policies/unit-texts.ts';
import type { Beat } from '../../core/contract/admissions.ts';
import type { CanaryOutcome } from '../../core/ledger/controller.ts';
import type { Unread } from './evidence.ts';
import {
  CLOCK_OFF_MS_MAX,
  checked,
  HEALTH_ALARM,
  type HealthChecks,
  type HealthJudgement,
  ok,
  problem,
  relaysHeard,
  span,
  unknown,
  warning,
} from './judged.ts';
import type { BrokenWebhook } from './read-gitlab.ts';

/** GitLab writes to the token's user 60, 30 and 7 days before. */
const EXPIRES_SOON_MS = 30 * DAY_MS;
const EXPIRES_AT_ONCE_MS = 7 * DAY_MS;
/** Controllers' tokens do not expire; those of people do after this at the latest. */
const TOKEN_OLD_MS = 365 * DAY_MS;
const FIRST_VERSION = '18.9';
const GROUPS_NAMED = 5;
/** Runner controllers need Ultimate; `gold` is its older name. */
const ENOUGH = /ultimate|gold/i;
const ROTATE = 'see Rotate tokens in cdk/RUNBOOK.md';

const TOKEN_REMEDIES: { readonly [Cause in NonNullable<Unread['cause']>]?: string } = {
  no_token: 'put it there: see First set-up in cdk/RUNBOOK.md',
  unauthorised: `make another one and store it: ${ROTATE}`,
  forbidden: "it needs an administrator's token of scope read_api, with admin_mode where Admin Mode is on",
};

const judgeToken = checked('accessToken', ({ active, expiresAtMs }, { nowMs }) => {
  if (!active) return problem('GitLab says that it is not active', ROTATE);
  if (expiresAtMs === undefined) return ok('does not expire');
  const leftMs = expiresAtMs - nowMs;
  const text = `expires in ${span(leftMs)}`;
  if (leftMs <= EXPIRES_AT_ONCE_MS) return problem(text, ROTATE);
  return leftMs <= EXPIRES_SOON_MS ? warning(text, ROTATE) : ok(text);
});

export const GITLAB_CHECKS: HealthChecks = {
  'access token': (evidence) => {
    const { accessToken, gitlabVersion, licence, controller, controllerTokens, webhooks } = evidence;
    const reads = [accessToken, gitlabVersion, licence, controller, controllerTokens, webhooks];
    for (const [cause, remedy] of Object.entries(TOKEN_REMEDIES))
      for (const read of reads)
        if (!read.known && read.cause === cause) return problem(read.why, remedy, 'SweepFailing');
    return judgeToken(evidence);
  },

  licence: checked('licence', (found, { controller, nowMs }) => {
    const remedy = "runner controllers need an Ultimate licence: add one in GitLab's Admin area";
    const isEnough = found !== undefined && !found.expired && ENOUGH.test(found.plan);
    const text = found === undefined ? 'GitLab has none' : `${found.plan}${found.expired ? ', expired' : ''}`;
    if (!isEnough && !controller.known && controller.cause === 'absent') return problem(text, remedy);
    if (found === undefined) return unknown('GitLab sends none');
    const leftMs = (found.expiresAtMs ?? Number.POSITIVE_INFINITY) - nowMs;
    return leftMs <= EXPIRES_SOON_MS ? warning(`${text}, ends in ${span(leftMs)}`, remedy) : ok(text);
  }),

  'version of GitLab': checked('gitlabVersion', (version, { deployed }) => {
    if (isOlder(version, FIRST_VERSION))
      return problem(`${version} has no runner controllers`, `upgrade GitLab to ${FIRST_VERSION} or newer`);
    const descriptors = deployed.known ? deployed.value.descriptorsVersion : undefined;
    if (descriptors === undefined)
      return unknown(`${version}; the version of the descriptors is not recorded`);
    const both = `${version}, and the descriptors are of ${descriptors}`;
    if (!isOlder(descriptors, version)) return ok(both);
    const sync = `tollgate gitlab descriptors --ref v${numbersOf(version).join('.')}.0, then deploy`;
    return warning(
      `${both}: fields that are new are not read`,
      `${sync}; see Upgrading GitLab in cdk/RUNBOOK.md`,
      HEALTH_ALARM,
    );
  }),

  controller: (evidence) => {
    const { controller } = evidence;
    // GitLab's response is the same for an unknown controller and a missing feature; version and licence decide.
    const isExplained = ['version of GitLab', 'licence'].some(
      (about) => GITLAB_CHECKS[about]?.(evidence).severity === 'problem',
    );
    if (!controller.known && controller.cause === 'absent' && !isExplained)
      return problem(controller.why, 'gitlab.controllerId in cdk/tollgate.config.ts; tollgate gitlab status');
    return judgeController(evidence);
  },

  'controller token': checked('controllerTokens', (tokens, evidence) => {
    const { controller, nowMs } = evidence;
    const rotate = 'tollgate gitlab rotate-token';
    if (tokens.length === 0)
      return problem(
        'the controller has none: no relay can open a stream',
        `${rotate}, then deploy the relays`,
        'RelayDisconnected',
      );
    const isHeard = relaysHeard(evidence).length > 0;
    if (isHeard && controller.known && controller.value.connected === false)
      return warning(
        `relays have streams, and no token of controller ${controller.value.id} was used within the last hour: the relays use another controller's token`,
        'run tollgate gitlab status; then correct gitlab.controllerId in cdk/tollgate.config.ts, or the token in SSM',
      );
    const oldestMs = nowMs - Math.min(...tokens.map(({ createdAtMs }) => createdAtMs));
    const text = `${counted(tokens.length, 'token')}, ${span(oldestMs)} old at most`;
    return oldestMs > TOKEN_OLD_MS ? warning(text, rotate) : ok(text);
  }),

  webhooks: checked('webhooks', ({ groups, unread, broken }) => {
    const left = unread === 0 ? '' : `; ${counted(unread, 'group')} could not be looked at`;
    if (groups === 0) return unknown(`no top-level group was looked at${left}`);
    if (broken.length === 0)
      return ok(`each of ${counted(groups, 'top-level group')} sends its job events${left}`);
    const named = broken.slice(0, GROUPS_NAMED).map(({ group, state }) => `${group} ${WORDS[state]}`);
    const more = broken.length > GROUPS_NAMED ? ' …' : '';
    return problem(
      `${broken.length} of ${counted(groups, 'top-level group')}: ${named.join('; ')}${more}${left}`,
      'tollgate gitlab setup makes and repairs them; until then the sweep finds the ends of their jobs',
    );
  }),

  canary: checked('canary', (outcome, evidence) => {
    const { gitlabVersion, nowMs } = evidence;
    const version = gitlabVersion.known ? gitlabVersion.value : undefined;
    return judgeCanary(outcome, relaysHeard(evidence), version, nowMs);
  }),

  'clock of GitLab': checked('gitlabAheadMs', (aheadMs) => {
    const off = Math.abs(aheadMs);
    const side = aheadMs > 0 ? 'ahead of' : 'behind';
    const text = `${span(off)} ${side} this machine: from five minutes on webhooks are refused`;
    return off <= CLOCK_OFF_MS_MAX
      ? ok('agrees with this machine')
      : problem(text, 'set the clock of the one that is wrong');
  }),
};

const judgeController = checked('controller', ({ state, hasScope, others }) => {
  if (!hasScope)
    return problem(
      'the controller has no scope: GitLab asks about no job',
      'tollgate gitlab setup, or glab runner-controller scope create <id> --instance',
    );
  const more = others.length === 0 ? '' : `; it obeys ${others.join(', ')} too`;
  if (state === 'enabled') return ok(`enabled: GitLab asks and obeys${more}`);
  return warning(
    `${state === 'dry_run' ? 'in dry run: GitLab asks and runs every job' : 'disabled: GitLab does not ask'}${more}`,
    'tollgate controller enable, once tollgate controller status shows what it would do',
  );
});

const WORDS: Readonly<Record<BrokenWebhook['state'], string>> = {
  missing: 'has no webhook',
  off: 'has one that sends no job events',
  disabled: 'has one that GitLab disabled because it failed',
  failing: 'has one whose last deliveries failed',
  rewritten: 'has one with a template, which changes what it sends',
};

/** The first two numbers: later ones stand for repairs, not for changes. */
const numbersOf = (version: string): readonly number[] =>
  version
    .split('.')
    .slice(0, 2)
    .map((part) => Number.parseInt(part, 10));

function isOlder(version: string, than: string): boolean {
  const [[major = 0, minor = 0], [thanMajor = 0, thanMinor = 0]] = [numbersOf(version), numbersOf(than)];
  return major < thanMajor || (major === thanMajor && minor < thanMinor);
}

const unproven = (text: string) =>
  warning(text, 'tollgate gitlab canary proves both, on a runner of its own');

/**
 * Judges if the canary proved both decisions, for this version of GitLab and these descriptors.
 *
 * @param heard - relays that run; empty: unknown
 */
export function judgeCanary(
  outcome: CanaryOutcome | undefined,
  heard: readonly Pick<Beat, 'schema'>[],
  gitlabVersion: string | undefined,
  nowMs: number,
): HealthJudgement {
  if (outcome === undefined)
    return unproven('never proven that GitLab reads "admitted" and "rejected" correctly');
  const { admitted, rejected, checkedAtMs, descriptors, gitlabVersion: was } = outcome;
  const ago = nowMs - checkedAtMs < MINUTE_MS ? 'just now' : `${span(nowMs - checkedAtMs)} ago`;
  if (gitlabVersion !== undefined && gitlabVersion !== was)
    return unproven(`not proven since GitLab became ${gitlabVersion}: the last canary was on ${was}, ${ago}`);
  const hashes = [...new Set(heard.flatMap(({ schema }) => schema?.hash ?? []))];
  if (hashes.length > 0 && !hashes.includes(descriptors))
    return unproven(
      `not proven with the descriptors ${hashes.join(', ')}: the last canary had ${descriptors}, ${ago}`,
    );
  const on = `on GitLab ${was} with descriptors ${descriptors}, ${ago}`;
  const found = [admitted, rejected];
  if (found.includes('contrary'))
    return problem(
      `GitLab ran a rejected job or failed an admitted one: found ${on}`,
      'run tollgate controller dry-run; then tollgate gitlab descriptors --ref v<version of KAS>, deploy, and tollgate gitlab canary',
    );
  if (found.includes('bypassed'))
    return problem(
      `the canary's jobs ran without an admission request: found ${on}`,
      'tollgate coverage lists the runners that pass by; then the canary again',
    );
  return found.every((variant) => variant === 'proven')
    ? ok(`both answers proven ${on}`)
    : unproven(`only ${admitted === 'proven' ? '"admitted"' : '"rejected"'} is proven ${on}`);
}
