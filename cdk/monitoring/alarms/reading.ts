import { type AlarmSpec, COMPOSITE } from './alarm-spec.ts';

/** Per cent. An odd job stays below it; a field that GitLab moved does not. */
const UNREADABLE_SHARE_MAX = 5;
/** Fewer per hour are exceptions, whatever their share, on a site with few requests. */
const UNREADABLE_MIN = 3;

const schemaSuspect: AlarmSpec = {
  name: 'SchemaSuspect',
  severity: 'page',
  says: 'The job router seems to speak another schema than the descriptors of the relays: nothing is rejected.',
  formula: 'schemaSuspect',
  label: 'Schema is suspect, 1 or 0',
  graph: 'Schema',
  periodMinutes: 1,
  breach: ['above', 0],
  periods: 2,
  // Relays write zeros, too; without any value there is no relay, which is RelayDisconnected.
  missing: 'notBreaching',
  toldBy: COMPOSITE.name,
};

const ownFaults: AlarmSpec = {
  name: 'OwnFaults',
  severity: 'page',
  says: 'A part of a relay fails by its own mistake: the jobs it concerns run past their limits.',
  formula: 'ownFaults',
  label: 'Mistakes of the relays themselves',
  graph: 'Mistakes of the relays themselves',
  periodMinutes: 5,
  breach: ['above', 0],
  periods: 1,
  // Relays write zeros, too; without any value there is no relay, which is RelayDisconnected.
  missing: 'notBreaching',
  toldBy: COMPOSITE.name,
};

const unreadableQuestions: AlarmSpec = {
  name: 'UnreadableQuestions',
  severity: 'ticket',
  says: `More than ${UNREADABLE_SHARE_MAX} % of the questions of an hour could not be read: their jobs run unjudged and unrecorded.`,
  // SchemaSuspect already reports a bad schema, which makes most requests unreadable.
  formula: `IF(schemaSuspect < 1 && unreadable >= ${UNREADABLE_MIN}, 100 * unreadable / questions, 0)`,
  label: `Unreadable questions, %, from ${UNREADABLE_MIN} on`,
  periodMinutes: 60,
  breach: ['above', UNREADABLE_SHARE_MAX],
  periods: 1,
  // No requests.
  missing: 'notBreaching',
};

const rejectionsWithheld: AlarmSpec = {
  name: 'RejectionsWithheld',
  severity: 'ticket',
  says: 'For longer than a start takes, jobs are admitted that would be rejected if the schema of the relays were proven.',
  // SchemaSuspect already reports a bad schema, which withholds all rejections.
  formula: 'IF(schemaSuspect > 0, 0, withheld)',
  label: 'Rejections withheld',
  graph: 'Rejections withheld',
  periodMinutes: 15,
  breach: ['above', 0],
  periods: 2,
  // Relays write zeros, too; without any value nothing was asked of a relay.
  missing: 'notBreaching',
};

const answersRefused: AlarmSpec = {
  name: 'AnswersRefused',
  severity: 'ticket',
  says: 'The job router does not accept decisions of the relays: what becomes of these jobs is GitLab’s own choice.',
  formula: 'answersRefused',
  label: 'Decisions not accepted',
  graph: 'Decisions not accepted',
  periodMinutes: 15,
  breach: ['above', 0],
  periods: 1,
  // Relays write zeros, too; without any value nothing was answered.
  missing: 'notBreaching',
};

const fieldsMissing: AlarmSpec = {
  name: 'FieldsMissing',
  severity: 'ticket',
  says: 'Rules need fields that GitLab does not send, or not any more: they follow their on_missing for every job.',
  formula: 'fieldsMissing',
  label: 'Fields that rules need and that do not come',
  graph: 'Fields that rules need and that do not come',
  periodMinutes: 15,
  breach: ['above', 0],
  periods: 1,
  // Relays write zeros, too; without any value no relay reads anything.
  missing: 'notBreaching',
};

/** Requests are readable and processing does not fail. */
export const readingAlarms: readonly AlarmSpec[] = [
  schemaSuspect,
  ownFaults,
  unreadableQuestions,
  rejectionsWithheld,
  answersRefused,
  fieldsMissing,
];
