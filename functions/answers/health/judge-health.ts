/** What is wrong with a deployment, from what its parts left behind. Pure; one cause is told once. */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../policies/limits/calendar.ts';
import { type RelayBeat, SILENT_MS } from '../../core/store/index.ts';
import type { HealthEvidence, ReadResult } from './evidence.ts';
import { judgeCanary } from './judge-canary.ts';
import type { HealthFinding } from './model.ts';

/** GitLab's webhooks are signed with their time and believed for five minutes. */
const CLOCK_OFF_MS_MAX = MINUTE_MS;
/** As old as relays take a directory for true. */
const DIRECTORY_OLD_MS = HOUR_MS;
/** The sweep reads the scope every minute, where it knows the controller. */
const SCOPE_OLD_MS = 10 * MINUTE_MS;
/** It recounts every night. */
const RECOUNT_OLD_MS = DAY_MS + 2 * HOUR_MS;

type Judged = Omit<HealthFinding, 'about'>;
type Check = (evidence: HealthEvidence) => Judged;

const CHECKS: Readonly<Record<string, Check>> = {
  relays: ({ beats, nowMs }) =>
    known(beats, (all) => {
      const heard = heardAmong(all, nowMs);
      const [last] = all;
      if (last === undefined)
        return problem(
          'no relay wrote a sign of life beside these books within the last hour',
          'start the relays; runbook: RelayMissing',
        );
      if (heard.length === 0)
        return problem(
          `no relay was heard for ${span(nowMs - last.atMs)}: an enabled controller fails every job it asks about`,
          'runbook: RelayMissing; disarm with tollgate controller disable',
        );
      const streams = heard.reduce((sum, { openStreams }) => sum + openStreams, 0);
      const stopped = heard.filter(({ breaker }) => breaker !== undefined && breaker !== 'closed');
      if (stopped.length > 0)
        return problem(
          `${count(stopped.length, 'relay')} answers without the admit function, which fails: ${namesOf(stopped)}`,
          'runbook: FallbackShare',
        );
      return heard.length === 1
        ? warning(
            `one relay only, with ${count(streams, 'stream')}: its next deployment has nobody to take over`,
            'run two: relay.count in cdk/tollgate.config.ts',
          )
        : ok(`${heard.length} relays, ${count(streams, 'stream')}`);
    }),

  descriptors: ({ beats, nowMs }) =>
    known(beats, (all) => {
      const heard = heardAmong(all, nowMs).flatMap(({ relayId, schema }) =>
        schema === undefined ? [] : [{ relayId, ...schema }],
      );
      if (heard.length === 0) return unknown('no relay that is heard tells its descriptors');
      const guessed = heard.filter(({ placeholder }) => placeholder === true);
      if (guessed.length > 0)
        return problem(
          `${namesOf(guessed)}: the descriptors are the placeholder of this repository, so every job is admitted`,
          "npm run proto:sync -- --ref v<version of GitLab's agent server>, then deploy",
        );
      const suspect = heard.filter(({ standing }) => standing === 'suspect');
      if (suspect.length > 0)
        return problem(
          `${namesOf(suspect)}: recent questions contradict the descriptors, so nothing is rejected`,
          'runbook: Upgrading GitLab',
        );
      const hashes = new Set(heard.map(({ hash }) => hash));
      if (hashes.size > 1)
        return warning(
          'the relays read questions with different descriptors',
          'wait for the deployment that is under way to end, or deploy again',
        );
      return heard.every(({ standing }) => standing === 'proven')
        ? ok('proven by real questions')
        : warning(
            'not proven yet: nothing is rejected until six jobs of three projects, or twenty of fewer, were read',
            'wait for jobs, or run some; npm run doctor shows what arrives',
          );
    }),

  'clock of the relays': ({ beats, nowMs }) =>
    known(beats, (all) => {
      const ahead = all.filter(({ atMs }) => atMs - nowMs > CLOCK_OFF_MS_MAX);
      return ahead.length === 0
        ? ok('no relay is ahead of this machine')
        : problem(
            `${namesOf(ahead)} is ${span(Math.max(...ahead.map(({ atMs }) => atMs - nowMs)))} ahead of this machine`,
            'set the clock of the one that is wrong: periods of limits begin and end by it',
          );
    }),

  'directory of the relays': ({ beats, nowMs }) =>
    known(beats, (all) => {
      const told = heardAmong(all, nowMs).filter(({ directoryAgeMs }) => directoryAgeMs !== undefined);
      if (told.length === 0) return unknown('no relay that is heard tells how old its directory is');
      const old = told.filter(({ directoryAgeMs = 0 }) => directoryAgeMs > DIRECTORY_OLD_MS);
      const oldest = Math.max(...told.map(({ directoryAgeMs = 0 }) => directoryAgeMs));
      return old.length === 0
        ? ok(`at most ${span(oldest)} old`)
        : problem(
            `${namesOf(old)}: ${span(oldest)} old; in an outage rules for groups cannot be told`,
            'runbook: RelayDirectoryStale',
          );
    }),

  directory: ({ directoryListedAtMs, nowMs }) =>
    known(directoryListedAtMs, (listedAtMs) => {
      if (listedAtMs === undefined)
        return warning(
          "GitLab's groups were never listed to their end: jobs go by policies/directory.yaml",
          'look at the log of directory-sync: it names what GitLab refuses',
        );
      const ageMs = nowMs - listedAtMs;
      return ageMs > DIRECTORY_OLD_MS
        ? problem(`GitLab's groups were last listed ${span(ageMs)} ago`, 'runbook: DirectoryStale')
        : ok(`all groups listed ${span(ageMs)} ago`);
    }),

  limits: ({ limitsLiveAtMs, nowMs }) =>
    known(limitsLiveAtMs, (atMs) =>
      atMs === undefined
        ? warning(
            'no set of limits was ever published: those packed with the functions hold',
            'tollgate limits publish',
          )
        : ok(`live since ${span(nowMs - atMs)} ago`),
    ),

  counters: ({ recount, nowMs }) =>
    known(recount, (outcome) => {
      if (outcome === undefined) return unknown('nobody has recounted yet: the first night does');
      const { drifting, unlisted, recountedAtMs } = outcome;
      const many = drifting.length + unlisted;
      if (many > 0)
        return problem(
          `${count(many, 'counter')} showed something else than the records in the last recount`,
          'runbook: Drift; tollgate rebuild shows them',
        );
      const ageMs = nowMs - recountedAtMs;
      return ageMs > RECOUNT_OLD_MS
        ? problem(`the last recount is ${span(ageMs)} old`, 'look at the function drift: it runs every night')
        : ok(`agreed with the records ${span(ageMs)} ago`);
    }),

  sweep: ({ scope, nowMs }) =>
    known(scope, (read) => {
      if (read === undefined)
        return unknown(
          'the sweep was not told the controller: gitlab.controllerId in cdk/tollgate.config.ts',
        );
      const ageMs = nowMs - read.readAtMs;
      return ageMs > SCOPE_OLD_MS
        ? problem(
            `the sweep last asked GitLab ${span(ageMs)} ago: what no webhook reported stays held`,
            'runbook: SweepFailing',
          )
        : ok(`asked GitLab ${span(ageMs)} ago`);
    }),

  controller: ({ controller }) =>
    known(controller, ({ state, hasScope }) => {
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
    }),

  canary: ({ canary, beats, controller, nowMs }) =>
    known(canary, (outcome) =>
      judgeCanary({
        ...{ outcome, nowMs },
        descriptors: beats.known
          ? heardAmong(beats.value, nowMs).flatMap(({ schema }) => schema?.hash ?? [])
          : [],
        gitlabVersion: controller.known ? controller.value.version : undefined,
      }),
    ),

  'clock of GitLab': ({ controller }) =>
    known(controller, ({ clockAheadMs }) => {
      if (clockAheadMs === undefined) return unknown('its answers have no date');
      const off = Math.abs(clockAheadMs);
      return off <= CLOCK_OFF_MS_MAX
        ? ok('agrees with this machine')
        : problem(
            `${span(off)} ${clockAheadMs > 0 ? 'ahead of' : 'behind'} this machine: from five minutes on webhooks are refused`,
            'set the clock of the one that is wrong',
          );
    }),
};

export const judgeHealth = (evidence: HealthEvidence): readonly HealthFinding[] =>
  Object.entries(CHECKS).map(([about, check]) => ({ about, ...check(evidence) }));

const known = <T>(read: ReadResult<T>, judge: (value: T) => Judged): Judged =>
  read.known ? judge(read.value) : unknown(read.why);

/** As long as the watchdog would wait. */
const heardAmong = (beats: readonly RelayBeat[], nowMs: number): readonly RelayBeat[] =>
  beats.filter(({ atMs }) => nowMs - atMs <= SILENT_MS);

const ok = (text: string): Judged => ({ severity: 'ok', text });
const unknown = (text: string): Judged => ({ severity: 'unknown', text });
const warning = (text: string, remedy: string): Judged => ({ severity: 'warning', text, remedy });
const problem = (text: string, remedy: string): Judged => ({ severity: 'problem', text, remedy });

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;
const namesOf = (relays: readonly { readonly relayId: string }[]): string =>
  relays.map(({ relayId }) => relayId).join(', ');

function span(ms: number): string {
  if (ms < 2 * MINUTE_MS) return count(Math.max(0, Math.round(ms / 1_000)), 'second');
  if (ms < 2 * HOUR_MS) return count(Math.round(ms / MINUTE_MS), 'minute');
  return ms < 2 * DAY_MS ? count(Math.round(ms / HOUR_MS), 'hour') : count(Math.round(ms / DAY_MS), 'day');
}
