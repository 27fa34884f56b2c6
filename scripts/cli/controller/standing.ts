/** Facts about a controller before it is armed, and objections. Pure. */

import type { ReadResult } from '../../../functions/answers/health/evidence.ts';
import type { CanaryFinding } from '../../../functions/answers/health/judge-gitlab.ts';
import type { ControllerScopes } from '../../../functions/core/gitlab/index.ts';
import { type RelayBeat, SILENT_MS } from '../../../functions/core/store/index.ts';
import type { ArmedReport } from '../report/shadow-words.ts';
import type { RunnerController } from './runner-controllers.ts';

export interface ControllerStanding {
  readonly controller: RunnerController;
  readonly scopes: ReadResult<ControllerScopes>;
  /** Heartbeats in the table, newest first; none may be recent. */
  readonly beats: ReadResult<readonly RelayBeat[]>;
  /** Made from the recorded jobs of the last hours. */
  readonly forecast: ReadResult<ArmedReport>;
  /** True if both decisions were proven at the current GitLab. */
  readonly canary: ReadResult<CanaryFinding>;
  /** Unix ms, for the age of beats. */
  readonly nowMs: number;
}

/** Relays heard within the last two minutes: as long as the watchdog would wait. */
export const heardBeats = ({
  beats,
  nowMs,
}: Pick<ControllerStanding, 'beats' | 'nowMs'>): readonly RelayBeat[] =>
  beats.known ? beats.value.filter(({ atMs }) => nowMs - atMs <= SILENT_MS) : [];

export const hasScope = ({ instance, runnerIds }: ControllerScopes): boolean =>
  instance || runnerIds.length > 0;

/** A certain harm of arming, with its remedy. Undefined: none. */
export function refusal(standing: ControllerStanding): 'no_scope' | 'no_relay' | undefined {
  const { scopes, controller, beats } = standing;
  if (scopes.known && !hasScope(scopes.value)) return 'no_scope';
  if (heardBeats(standing).length > 0) return undefined;
  // A token that was used within the hour says nothing of a relay that has written that it is there, and stopped.
  const silent = beats.known && beats.value.length > 0;
  return silent || controller.connected === false ? 'no_relay' : undefined;
}

/** Risks to confirm before arming: jobs that would fail, and unknown facts. */
export function doubts(
  standing: ControllerStanding,
  about: { readonly relay: boolean } = { relay: true },
): readonly string[] {
  const { forecast, scopes, beats, controller } = standing;
  const fresh = heardBeats(standing);
  const unproven = fresh.filter(
    ({ schema }) => schema?.placeholder === true || schema?.standing !== 'proven',
  );
  return [
    ...(scopes.known ? [] : [`the scopes are not known (${scopes.why})`]),
    ...(fresh.length > 0 || !about.relay
      ? []
      : [
          controller.connected === true
            ? `whether a relay is connected now is not known (${whyUnheard(beats)}); its token was used within the last hour`
            : `whether a relay is connected is not known (${whyUnheard(beats)})`,
        ]),
    ...(fresh.length > 0 && unproven.length > 0 ? [unprovenText(unproven)] : []),
    ...(standing.canary.known && standing.canary.value.severity === 'problem'
      ? [standing.canary.value.text]
      : []),
    ...(forecast.known
      ? forecast.value.wouldFail > 0
        ? [`${forecast.value.wouldFail} of the last ${forecast.value.jobs} jobs would have failed`]
        : []
      : [`how many jobs would fail is not known (${forecast.why})`]),
  ];
}

const whyUnheard = (beats: ControllerStanding['beats']): string =>
  beats.known ? 'no relay writes heartbeats beside these books' : beats.why;

const unprovenText = (unproven: readonly RelayBeat[]): string =>
  unproven.some(({ schema }) => schema?.placeholder === true)
    ? "a relay reads questions with the descriptors that come along, which are no GitLab's"
    : 'no relay says that its descriptors were proven by real questions';
