import type { Deployment } from '../../cdk/settings/props.ts';
import { A_CONSOLE, DEFAULTS, type Resource, type Synthesized } from './synthesized.ts';

export const RUNBOOK_URL = 'https://gitlab.corp.test/ci/tollgate/-/blob/main/cdk/RUNBOOK.md';
export const PAGER = 'arn:aws:sns:eu-central-1:111122223333:pager';

/** As the file stands, with everything that can be watched besides. */
export const WATCHED: readonly Deployment[] = DEFAULTS.map((each) => ({
  ...each,
  gitlab: { ...each.gitlab, controllerId: 7 },
  watchdog: true,
  console: A_CONSOLE,
  notices: { everyMinutes: 60 },
  parameters: { requeueTokens: '/tollgate/prod/requeue' },
  alarms: { topicArns: [PAGER], runbookUrl: RUNBOOK_URL },
}));

/** The same without metrics of ours. */
export const UNMEASURED: readonly Deployment[] = WATCHED.map((each) => ({ ...each, metrics: false }));

export interface Widget {
  readonly type: 'text' | 'alarm' | 'metric' | 'log';
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  // biome-ignore lint/suspicious/noExplicitAny: each type of widget has its own
  readonly properties: any;
}

/** What CloudWatch will be given, with `<…>` where CloudFormation fills in a name. */
export function dashboardOf(synthesized: Synthesized): {
  readonly text: string;
  readonly widgets: readonly Widget[];
} {
  const [found, ...others] = synthesized.resources('AWS::CloudWatch::Dashboard');
  if (found === undefined || others.length > 0) throw new Error(`${others.length + 1} dashboards`);
  const text = joined(found[1].Properties.DashboardBody);
  return { text, widgets: (JSON.parse(text) as { readonly widgets: readonly Widget[] }).widgets };
}

/** A text of a template, with `<logical id>` where a reference stands. */
function joined(value: unknown): string {
  if (typeof value === 'string') return value;
  const { 'Fn::Join': join, ...reference } = value as { 'Fn::Join'?: [string, readonly unknown[]] };
  if (join !== undefined) return join[1].map(joined).join(join[0]);
  return `<${JSON.stringify(Object.values(reference)[0]).replaceAll(/["[\]\\]/g, '')}>`;
}

export const alarmsOf = (synthesized: Synthesized): readonly Resource['Properties'][] =>
  synthesized.resources('AWS::CloudWatch::Alarm').map(([, { Properties }]) => Properties);
