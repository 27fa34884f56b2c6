/** An alarm as data: nothing here loads the CDK. Rule 14: name, severity, breach, and why silence is good or bad. */

/** `page` wakes somebody; `ticket` is for the next morning. */
export type AlarmSeverity = 'page' | 'ticket';

export interface AlarmSpec {
  /** Heading of its section in cdk/RUNBOOK.md. */
  readonly name: string;
  readonly severity: AlarmSeverity;
  /** One sentence: what is wrong, for whoever is told. */
  readonly says: string;
  /** Arithmetic on series, as CloudWatch writes it. */
  readonly formula: string;
  /** What the formula's value is, on the graph. */
  readonly label: string;
  readonly periodMinutes: number;
  readonly breach: readonly ['above' | 'below', number];
  /** Looks at so many periods, */
  readonly periods: number;
  /** of which so many must breach. @default all */
  readonly breaching?: number;
  /** What a period without a value is. Each spec says why beside it. */
  readonly missing: 'breaching' | 'notBreaching';
  /** Tells nobody by itself: the composite does, so that one outage is one page. */
  readonly toldBy?: typeof COMPOSITE.name;
  /** Title of its own graph, in the row of the alarms it is listed with. Absent: it shares a graph of dashboard/rows.ts. */
  readonly graph?: string;
}

/** What of the settings alarms depend on. */
export interface AlarmInput {
  readonly relays: number;
  readonly deadlineMs: number;
  readonly failurePolicy: 'admit' | 'reject';
  readonly watchdog: boolean;
  readonly console: boolean;
  readonly notices: boolean;
  /** Whether jobs are retried for lack of slots. */
  readonly requeue?: boolean;
  /** From one telling of owners to the next. @default 15 */
  readonly noticesMinutes?: number;
  /** Whether there are metrics of ours. */
  readonly metrics: boolean;
}

/** The page: whichever of its alarms is on. */
export const COMPOSITE = {
  name: 'AdmissionsNotAnswered',
  severity: 'page',
  says: 'Nobody answers GitLab, or nobody who can read and count: jobs fail, or run without a limit.',
} as const;
