export interface AlarmRow {
  /** Heading of its section in cdk/RUNBOOK.md. */
  readonly name: string;
  /** `page` alerts on-call; `ticket` can wait for the next morning. */
  readonly severity?: 'page' | 'ticket';
  readonly says: string;
  /** Arithmetic on series, as CloudWatch writes it. */
  readonly formula: string;
  readonly label: string;
  readonly periodMinutes: number;
  readonly breach?: readonly ['above' | 'below', number];
  /** Number of periods to look at. @default 1 */
  readonly periods?: number;
  /** Number of periods that must breach. @default all */
  readonly breaching?: number;
  /**
   * Treatment of a period without a value. Most metrics are written only when something happens, or by relays and sweeps, whose
   * silence RelayDisconnected and SweepFailing report. @default 'notBreaching'
   */
  readonly missing?: 'breaching' | 'notBreaching';
  /** Sent by the composite only, so that one outage is one page. */
  readonly toldBy?: typeof COMPOSITE.name;
  /**
   * Title of its own graph, in the row of the alarms it is listed with; true: its label. Absent: it shares a graph of
   * dashboard-rows.ts.
   */
  readonly graph?: string | true;
}

export type AlarmSpec = AlarmRow & Required<Pick<AlarmRow, 'severity' | 'breach' | 'periods' | 'missing'>>;

export const complete = (row: AlarmRow): AlarmSpec => ({
  ...{ severity: 'ticket', breach: ['above', 0], periods: 1, missing: 'notBreaching' },
  ...row,
});

export interface AlarmInput {
  readonly relays: number;
  readonly deadlineMs: number;
  readonly failurePolicy: 'admit' | 'reject';
  readonly watchdog: boolean;
  readonly console: boolean;
  readonly requeue?: boolean;
  /** Minutes between notices to owners; 0: none. */
  readonly noticesMinutes: number;
  readonly metrics: boolean;
}

/** The page: whichever of its alarms is on. */
export const COMPOSITE = {
  name: 'AdmissionsNotAnswered',
  severity: 'page',
  says: 'Nobody answers GitLab, or nobody who can read and count: jobs fail, or run without a limit.',
} as const;
