import type { ReadResult } from '../../../functions/answers/health/evidence.ts';
import type { ControllerState } from '../../../functions/core/gitlab/controller.ts';
import { paintWhen, printable } from '../../terminal/paint.ts';
import { armedRowsText } from '../report/shadow.ts';
import { armedSentence } from '../report/shadow-words.ts';
import { type ControllerStatus, hasScope, NO_BEATS, refusalOf, risksOf } from './controller-status.ts';
import type { RunnerController } from './runner-controllers.ts';

export const MEANS: Readonly<Record<ControllerState, string>> = {
  enabled: 'GitLab asks and obeys. Without a relay it fails every job it would ask about',
  dry_run: 'GitLab asks and follows no answer: every job runs, with or without a relay',
  disabled: 'GitLab does not ask: every job runs',
};

/** Output of `--json`; unknown values are null, with the reason in `doubts`. */
export function statusJson(status: ControllerStatus): object {
  const { controller, scopes, beats, heard, forecast, canary } = status;
  const { id, description, state, connected } = controller;
  const orNull = <T>(read: ReadResult<T>): T | null => (read.known ? read.value : null);
  return {
    ...{ id, description, state, connected: connected ?? null },
    armed: state === 'enabled' ? (scopes.known ? hasScope(scopes.value) : null) : false,
    scopes: orNull(scopes),
    relays: orNull(beats),
    relaysHeard: beats.known ? heard.length : null,
    ifArmed: orNull(forecast),
    canary: orNull(canary),
    refusal: refusalOf(status) ?? null,
    doubts: risksOf(status),
  };
}

export function stateText({ id, description, state }: RunnerController, means = MEANS[state]): string {
  const named = description === '' ? '' : ` "${printable(description)}"`;
  return `Runner controller ${id}${named} is ${state}: ${means}.\n`;
}

const orWhy = <T>(read: ReadResult<T>, text: (value: T) => string): string =>
  read.known ? text(read.value) : `not known: ${read.why}`;

export function statusText(status: ControllerStatus, colours: boolean, columns: number): string {
  const { controller, scopes, heard, forecast } = status;
  const scoped = !scopes.known || hasScope(scopes.value);
  const means = scoped ? undefined : 'it has no scope, so GitLab asks about no job, and every job runs';
  const schemas = heard.flatMap(({ schema }) => {
    if (schema === undefined) return [];
    const proof = schema.placeholder === true ? 'a placeholder: nothing is rejected by it' : schema.standing;
    return `${printable(schema.source)} ${schema.hash?.slice(0, 12) ?? ''}, ${proof ?? 'not said whether proven'}`;
  });
  const rows = [
    ['scope', orWhy(scopes, scopeText)],
    ['relays', relaysText(status)],
    ['schema', [...new Set(schemas)].join('; ') || 'not known: no relay tells'],
    ['answers', canaryText(status)],
    ['jobs', orWhy(forecast, armedSentence)],
  ] as const;
  const report = forecast.known && forecast.value.rows.length > 0 ? forecast.value : undefined;
  const failing = report && armedRowsText(report, paintWhen(colours), columns);
  return `${stateText(controller, means)}${rows.map(([name, text]) => `${name.padEnd(9)}${text}\n`).join('')}${failing ?? ''}`;
}

function scopeText({ instance, runnerIds }: Extract<ControllerStatus['scopes'], { known: true }>['value']) {
  if (instance) return 'the whole instance';
  if (runnerIds.length === 0) return 'none: GitLab asks about no job';
  return `runners ${runnerIds.join(', ')}; jobs of all others are out of scope`;
}

export const canaryText = ({ canary }: ControllerStatus): string =>
  orWhy(canary, ({ text, remedy }) => (remedy === undefined ? text : `${text}; ${remedy}`));

function relaysText({ controller: { connected }, beats, heard, nowMs }: ControllerStatus): string {
  const streams = heard.reduce((sum, { openStreams }) => sum + openStreams, 0);
  const used =
    connected === undefined
      ? 'this GitLab does not say when the token was used'
      : `its token was ${connected ? '' : 'not '}used within the last hour`;
  const relays = orWhy(beats, ([last]) => {
    if (heard.length > 0) return `${heard.length} heard within two minutes, ${streams} streams`;
    if (last === undefined) return `not known: ${NO_BEATS}`;
    return `none heard for ${Math.floor((nowMs - last.atMs) / 60_000)} min`;
  });
  return `${relays}; ${used}`;
}
