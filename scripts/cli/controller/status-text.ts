import { waitingLines, waitingText } from '../../../functions/answers/health/judge-relays.ts';
import type { ControllerState } from '../../../functions/core/gitlab/controller.ts';
import { type Paint, printable } from '../../terminal/paint.ts';
import { armedRowsText } from '../report/shadow.ts';
import { armedSentence, retrySentence } from '../report/shadow-words.ts';
import { type ControllerStatus, hasScope, heardBeats, refusalOf, risksOf } from './controller-status.ts';

/** Effect of each state on jobs, with and without a relay. */
export const MEANS: Readonly<Record<ControllerState, string>> = {
  enabled: 'GitLab asks and obeys. Without a relay it fails every job it would ask about',
  dry_run: 'GitLab asks and follows no answer: every job runs, with or without a relay',
  disabled: 'GitLab does not ask: every job runs',
};

const RUNNERS_SHOWN = 10;

/** Output of `--json`; unknown values are null, with the reason in `doubts`. */
export function statusJson(status: ControllerStatus): object {
  const { controller, scopes, beats, forecast, canary } = status;
  const { id, description, state, connected } = controller;
  return {
    id,
    description,
    state,
    connected: connected ?? null,
    armed: state === 'enabled' && scopes.known ? hasScope(scopes.value) : state === 'enabled' ? null : false,
    scopes: scopes.known ? scopes.value : null,
    relays: beats.known ? beats.value : null,
    relaysHeard: beats.known ? heardBeats(status).length : null,
    waiting: beats.known ? waitingLines(beats.value, status.nowMs) : null,
    ifArmed: forecast.known ? forecast.value : null,
    canary: canary.known ? canary.value : null,
    refusal: refusalOf(status) ?? null,
    doubts: risksOf(status),
  };
}

export function statusText(status: ControllerStatus, paint: Paint, columns: number): string {
  const { controller, scopes, forecast } = status;
  const { id, description, state } = controller;
  const named = description === '' ? '' : ` "${printable(description)}"`;
  const scoped = !scopes.known || hasScope(scopes.value);
  const means = scoped ? MEANS[state] : 'it has no scope, so GitLab asks about no job, and every job runs';
  const lines = [
    `Runner controller ${id}${named} is ${state}: ${means}.`,
    `scope    ${scopeText(status)}`,
    `relays   ${relaysText(status)}`,
    `schema   ${schemaText(status)}`,
    `waiting  ${waitersText(status)}`,
    `answers  ${canaryText(status)}`,
    `jobs     ${forecast.known ? armedSentence(forecast.value) : `not known: ${forecast.why}`}`,
  ];
  const retries = forecast.known ? retrySentence(forecast.value) : undefined;
  const rows =
    forecast.known && forecast.value.rows.length > 0 ? armedRowsText(forecast.value, paint, columns) : '';
  return `${lines.join('\n')}\n${retries === undefined ? '' : `         ${retries}\n`}${rows}`;
}

function scopeText({ scopes }: ControllerStatus): string {
  if (!scopes.known) return `not known: ${scopes.why}`;
  const { instance, runnerIds } = scopes.value;
  if (instance) return 'the whole instance';
  if (runnerIds.length === 0) return 'none: GitLab asks about no job';
  const shown = runnerIds.slice(0, RUNNERS_SHOWN).join(', ');
  const more = runnerIds.length - RUNNERS_SHOWN;
  return `runners ${shown}${more > 0 ? ` and ${more} more` : ''}; jobs of all others are out of scope`;
}

export function canaryText({ canary }: Pick<ControllerStatus, 'canary'>): string {
  if (!canary.known) return `whether both were proven is not known: ${canary.why}`;
  const { text, remedy } = canary.value;
  return remedy === undefined ? text : `${text}; ${remedy}`;
}

function relaysText(status: ControllerStatus): string {
  const { controller, beats, nowMs } = status;
  const token =
    controller.connected === undefined
      ? 'this GitLab does not say when the token was used'
      : controller.connected
        ? 'its token was used within the last hour'
        : 'its token was not used within the last hour';
  const fresh = heardBeats(status);
  const [last] = beats.known ? beats.value : [];
  if (fresh.length > 0) {
    const streams = fresh.reduce((sum, { openStreams }) => sum + openStreams, 0);
    return `${fresh.length} heard within two minutes, ${streams} streams; ${token}`;
  }
  if (last !== undefined) return `none heard for ${Math.floor((nowMs - last.atMs) / 60_000)} min; ${token}`;
  return `not known (${beats.known ? 'no relay writes heartbeats beside these books' : beats.why}); ${token}`;
}

function waitersText({ beats, nowMs }: ControllerStatus): string {
  if (!beats.known) return `not known: ${beats.why}`;
  const lines = waitingLines(beats.value, nowMs);
  if (lines.length === 0) return 'no job waits for room';
  return lines.map((line) => printable(waitingText(line, `group ${line.root}`))).join('\n         ');
}

function schemaText(status: ControllerStatus): string {
  const told = new Set(
    heardBeats(status).flatMap(({ schema }) =>
      schema === undefined
        ? []
        : [
            `${printable(schema.source)}${schema.hash === undefined ? '' : ` ${schema.hash.slice(0, 12)}`}, ${schema.placeholder === true ? 'a placeholder: nothing is rejected by it' : (schema.standing ?? 'not said whether proven')}`,
          ],
    ),
  );
  return told.size === 0 ? 'not known: no relay tells' : [...told].join('; ');
}
