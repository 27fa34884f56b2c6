/** An alarm as data: nothing here loads the CDK. Rule 14: name, severity, breach, and why silence is good or bad. */

/** `page` alerts on-call; `ticket` can wait for the next morning. */
export type AlarmSeverity = 'page' | 'ticket';

export interface AlarmSpec {
  /** Heading of its section in cdk/RUNBOOK.md. */
  readonly name: string;
  readonly severity: AlarmSeverity;
  /** The problem in one sentence. */
  readonly says: string;
  /** Arithmetic on series, as CloudWatch writes it. */
  readonly formula: string;
  /** Label of the value on the graph. */
  readonly label: string;
  readonly periodMinutes: number;
  readonly breach: readonly ['above' | 'below', number];
  /** Number of periods to look at, */
  readonly periods: number;
  /** Number of periods that must breach. @default all */
  readonly breaching?: number;
  /** Treatment of a period without a value. Each spec explains its own. */
  readonly missing: 'breaching' | 'notBreaching';
  /** Sent by the composite only, so that one outage is one page. */
  readonly toldBy?: typeof COMPOSITE.name;
  /** Title of its own graph, in the row of the alarms it is listed with. Absent: it shares a graph of dashboard-rows.ts. */
  readonly graph?: string;
}

/** Settings that alarms depend on. */
export interface AlarmInput {
  readonly relays: number;
  readonly deadlineMs: number;
  readonly failurePolicy: 'admit' | 'reject';
  readonly watchdog: boolean;
  readonly console: boolean;
  readonly notices: boolean;
  /** True if jobs are retried for lack of slots. */
  readonly requeue?: boolean;
  /** Minutes between notices to owners. @default 15 */
  readonly noticesMinutes?: number;
  /** True if our own metrics exist. */
  readonly metrics: boolean;
}

/** The page: whichever of its alarms is on. */
export const COMPOSITE = {
  name: 'AdmissionsNotAnswered',
  severity: 'page',
  says: 'Nobody answers GitLab, or nobody who can read and count: jobs fail, or run without a limit.',
} as const;
