import type { ReadResult } from '../../../functions/answers/health/evidence.ts';
import { waitingLines, waitingText } from '../../../functions/answers/health/judge-relays.ts';
import type { ControllerState } from '../../../functions/core/gitlab/controller.ts';
import { type Paint, printable } from '../../terminal/paint.ts';
import { armedRowsText } from '../report/shadow.ts';
import { armedSentence } from '../report/shadow-words.ts';
import { type ControllerStatus, hasScope, NO_BEATS, refusalOf, risksOf } from './controller-status.ts';
import type { RunnerController } from './runner-controllers.ts';

/** Effect of each state on jobs, with and without a relay. */
export const MEANS: Readonly<Record<ControllerState, string>> = {
  enabled: 'GitLab asks and obeys. Without a relay it fails every job it would ask about',
  dry_run: 'GitLab asks and follows no answer: every job runs, with or without a relay',
  disabled: 'GitLab does not ask: every job runs',
};

const RUNNERS_SHOWN = 10;

/** Output of `--json`; unknown values are null, with the reason in `doubts`. */
export function statusJson(status: ControllerStatus): object {
  const { controller, scopes, beats, heard, forecast, canary } = status;
  const { id, description, state, connected } = controller;
  const orNull = <T, Shown>(read: ReadResult<T>, shown: (value: T) => Shown) =>
    read.known ? shown(read.value) : null;
  return {
    ...{ id, description, state, connected: connected ?? null },
    armed: state === 'enabled' ? orNull(scopes, hasScope) : false,
    scopes: orNull(scopes, (all) => all),
    relays: orNull(beats, (all) => all),
    relaysHeard: orNull(beats, () => heard.length),
    waiting: orNull(beats, (all) => waitingLines(all, status.nowMs)),
    ifArmed: orNull(forecast, (report) => report),
    canary: orNull(canary, (finding) => finding),
    refusal: refusalOf(status) ?? null,
    doubts: risksOf(status),
  };
}

/** `Runner controller 7 "tollgate" is enabled: …` */
export function stateText({ id, description, state }: RunnerController, means = MEANS[state]): string {
  const named = description === '' ? '' : ` "${printable(description)}"`;
  return `Runner controller ${id}${named} is ${state}: ${means}.\n`;
}

const orWhy = <T>(read: ReadResult<T>, text: (value: T) => string): string =>
  read.known ? text(read.value) : `not known: ${read.why}`;

export function statusText(status: ControllerStatus, paint: Paint, columns: number): string {
  const { controller, scopes, beats, heard, forecast, nowMs } = status;
  const scoped = !scopes.known || hasScope(scopes.value);
  const means = scoped ? undefined : 'it has no scope, so GitLab asks about no job, and every job runs';
  const schemas = heard.flatMap(({ schema }) =>
    schema === undefined
      ? []
      : `${printable(schema.source)} ${schema.hash?.slice(0, 12) ?? ''}, ${schema.placeholder === true ? 'a placeholder: nothing is rejected by it' : (schema.standing ?? 'not said whether proven')}`,
  );
  const rows: readonly (readonly [string, string])[] = [
    ['scope', orWhy(scopes, scopeText)],
    ['relays', `${relaysText(status)}; ${usedText(controller)}`],
    ['schema', [...new Set(schemas)].join('; ') || 'not known: no relay tells'],
    [
      'waiting',
      orWhy(beats, (all) => {
        const lines = waitingLines(all, nowMs).map((line) => waitingText(line, `group ${line.root}`));
        return lines.map(printable).join('\n         ') || 'no job waits for room';
      }),
    ],
    ['answers', canaryText(status)],
    ['jobs', orWhy(forecast, armedSentence)],
  ];
  const report = forecast.known && forecast.value.rows.length > 0 ? forecast.value : undefined;
  const failing = report && armedRowsText(report, paint, columns);
  return `${stateText(controller, means)}${rows.map(([name, text]) => `${name.padEnd(9)}${text}\n`).join('')}${failing ?? ''}`;
}

function scopeText({ instance, runnerIds }: Extract<ControllerStatus['scopes'], { known: true }>['value']) {
  if (instance) return 'the whole instance';
  if (runnerIds.length === 0) return 'none: GitLab asks about no job';
  const more = runnerIds.length > RUNNERS_SHOWN ? ` and ${runnerIds.length - RUNNERS_SHOWN} more` : '';
  return `runners ${runnerIds.slice(0, RUNNERS_SHOWN).join(', ')}${more}; jobs of all others are out of scope`;
}

export const canaryText = ({ canary }: ControllerStatus): string =>
  orWhy(canary, ({ text, remedy }) => (remedy === undefined ? text : `${text}; ${remedy}`));

function relaysText({ beats, heard, nowMs }: ControllerStatus): string {
  if (!beats.known) return `not known (${beats.why})`;
  const streams = heard.reduce((sum, { openStreams }) => sum + openStreams, 0);
  if (heard.length > 0) return `${heard.length} heard within two minutes, ${streams} streams`;
  const [last] = beats.value;
  return last === undefined
    ? `not known (${NO_BEATS})`
    : `none heard for ${Math.floor((nowMs - last.atMs) / 60_000)} min`;
}

function usedText({ connected }: RunnerController): string {
  if (connected === undefined) return 'this GitLab does not say when the token was used';
  return `its token was ${connected ? '' : 'not '}used within the last hour`;
}
