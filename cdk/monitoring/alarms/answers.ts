import { type AlarmInput, type AlarmSpec, COMPOSITE } from './alarm-spec.ts';

/** A share of the deadline: what takes longer leaves no room for one bad moment. */
const LATENCY_SHARE_MAX = 0.75;
/** Per cent. One cold start a minute stays below it, a ledger that is down does not. */
const FALLBACK_SHARE_MAX = 10;

const relayDisconnected: AlarmSpec = {
  name: 'RelayDisconnected',
  severity: 'page',
  says: 'No relay has a stream at the job router: GitLab fails every job it would ask about while the controller is enabled.',
  formula: 'streamsMost',
  label: 'Streams of the relay with the most',
  periodMinutes: 1,
  breach: ['below', 1],
  periods: 3,
  // Every relay says how many it has each minute: one that says nothing is one that is gone.
  missing: 'breaching',
  toldBy: COMPOSITE.name,
};

const relayMissing = ({ relays }: AlarmInput): AlarmSpec => ({
  name: 'RelayMissing',
  severity: 'ticket',
  says: `Fewer than ${relays} relays hold streams: the next one that fails takes admissions with it.`,
  // A relay without a stream is none, however alive. One value a relay and minute, so five for each in a period.
  // None with a stream anywhere is RelayDisconnected alone.
  formula: `IF(streamsMost < 1, ${relays}, IF(streamsFewest < 1, relayMinutes / 5 - 1, relayMinutes / 5))`,
  label: 'Relays with streams',
  graph: 'Relays with streams',
  periodMinutes: 5,
  // A minute's value may fall into the next period; half a relay is no relay too few.
  breach: ['below', relays - 0.5],
  periods: 3,
  // No relay at all is RelayDisconnected, which pages.
  missing: 'notBreaching',
});

const fallbackShare = ({ failurePolicy }: AlarmInput): AlarmSpec => ({
  name: 'FallbackShare',
  severity: 'page',
  says:
    failurePolicy === 'admit'
      ? `More than ${FALLBACK_SHARE_MAX} % of the answers came without the ledger: jobs run past their limits.`
      : `More than ${FALLBACK_SHARE_MAX} % of the answers came without the ledger: jobs fail by our own fault.`,
  formula: 'IF(questions > 0, 100 * fallbacks / questions, 0)',
  label: 'Answers without the ledger, % of questions',
  periodMinutes: 1,
  breach: ['above', FALLBACK_SHARE_MAX],
  periods: 5,
  breaching: 3,
  // Relays write zeros, too; without any value there is no relay, which is RelayDisconnected.
  missing: 'notBreaching',
  toldBy: COMPOSITE.name,
});

const latencyNearDeadline = ({ deadlineMs }: AlarmInput): AlarmSpec => ({
  name: 'LatencyNearDeadline',
  severity: 'ticket',
  says: `One answer in a hundred takes more than ${LATENCY_SHARE_MAX * 100} % of the ${deadlineMs} ms it may take.`,
  formula: 'latencyP99',
  label: 'p99',
  periodMinutes: 5,
  breach: ['above', deadlineMs * LATENCY_SHARE_MAX],
  periods: 3,
  // Without requests nothing waited.
  missing: 'notBreaching',
});

const fallbackAnswersLost: AlarmSpec = {
  name: 'FallbackAnswersLost',
  severity: 'ticket',
  says: 'Answers that a relay gave without the ledger never reached it: those jobs are charged only when they end, as bypass.',
  formula: 'unmeteredDropped',
  label: 'Fallback answers lost',
  periodMinutes: 5,
  breach: ['above', 0],
  periods: 1,
  // Relays write zeros, too; without any value there is no relay, which is RelayDisconnected.
  missing: 'notBreaching',
};

/** GitLab's requests get correct decisions in time. */
export const answerAlarms = (watched: AlarmInput): readonly AlarmSpec[] => [
  relayDisconnected,
  fallbackShare(watched),
  ...(watched.relays > 1 ? [relayMissing(watched)] : []),
  latencyNearDeadline(watched),
  fallbackAnswersLost,
];
