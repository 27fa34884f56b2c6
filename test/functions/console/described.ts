/** Holds every answer that a test sees against its model: no field that is not described, none that is missing. */

import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Hono } from 'hono';
import { expect } from 'vitest';
import type { ConsoleReader } from '../../../functions/answers/create-console-read.ts';
import { MeSchema } from '../../../functions/answers/groups/me.ts';
import {
  CoverageViewSchema,
  OverviewSchema,
  SubjectViewSchema,
  UsageDaysViewSchema,
} from '../../../functions/answers/groups/model.ts';
import { CheckedPipelineSchema, ExplainedSchema } from '../../../functions/answers/job/model.ts';
import { ReconciliationSchema } from '../../../functions/answers/limits/budgets-model.ts';
import {
  BacktestAnswerSchema,
  BreakGlassStateSchema,
  HistoryPageSchema,
  LogEntrySchema,
  PreviewSchema,
  RequestRowSchema,
} from '../../../functions/answers/limits/edit-models.ts';
import { list, z } from '../../../functions/answers/reading/schema.ts';
import { SpendReportSchema } from '../../../functions/answers/report/model.ts';
import {
  RolloutForecastSchema,
  RolloutViewSchema,
  ShadowViewSchema,
} from '../../../functions/answers/rollout/model.ts';
import {
  ClosedMonthsSchema,
  DeployedPricesSchema,
  StatementNumbersSchema,
  StatementSchema,
} from '../../../functions/answers/statement/model.ts';
import { API_PATH } from '../../../functions/console/api/create-api.ts';

/** What the schema leaves out is not described. */
function hold(schema: z.ZodType, answer: unknown): void {
  const json: unknown = JSON.parse(JSON.stringify(answer));
  expect(schema.parse(json)).toEqual(json);
}

const MODELS: { readonly [Name in keyof ConsoleReader]?: z.ZodType } = {
  me: MeSchema,
  overview: OverviewSchema,
  subject: SubjectViewSchema,
  job: z.object({ outcome: z.literal('found'), explanation: ExplainedSchema }),
  check: z.object({ outcome: z.literal('checked'), pipeline: CheckedPipelineSchema }),
  shadow: ShadowViewSchema,
  rollout: RolloutViewSchema,
  rolloutForecast: RolloutForecastSchema,
  statement: z.object({ outcome: z.literal('stated'), statement: StatementSchema }),
  closedMonths: ClosedMonthsSchema,
  statementNumbers: StatementNumbersSchema,
  deployedPrices: DeployedPricesSchema,
  reconciliation: ReconciliationSchema,
  preview: PreviewSchema,
  backtest: BacktestAnswerSchema,
  history: HistoryPageSchema,
  edit: LogEntrySchema,
  requests: list(RequestRowSchema),
  breakGlasses: list(BreakGlassStateSchema),
  usage: UsageDaysViewSchema,
  coverage: CoverageViewSchema,
  spend: z.object({ outcome: z.literal('reported'), report: SpendReportSchema }),
};
const ELSEWISE: ReadonlySet<unknown> = new Set([
  'unknown',
  'unreadable',
  'unrecorded',
  'unknown_subject',
  'unknown_group',
  'only_days',
]);

type Method = (...args: readonly unknown[]) => Promise<unknown>;

/** The same readers. */
export function describedRead(read: ConsoleReader): ConsoleReader {
  const checked = Object.entries(MODELS).map(([name, schema]) => {
    const method = read[name as keyof ConsoleReader] as Method;
    const holding: Method = async (...args) => {
      const answer = await method(...args);
      const { outcome } = (answer ?? {}) as { readonly outcome?: string };
      if (answer !== undefined && !ELSEWISE.has(outcome)) hold(schema, answer);
      return answer;
    };
    return [name, holding] as const;
  });
  return { ...read, ...Object.fromEntries(checked) };
}

interface Described {
  readonly route: string;
  readonly asked: RegExp;
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { schema: unknown }>> }>
  >;
}

const routesOf = ({ openAPIRegistry }: Pick<OpenAPIHono, 'openAPIRegistry'>): readonly Described[] =>
  openAPIRegistry.definitions.flatMap((each): Described[] =>
    each.type !== 'route'
      ? []
      : [
          {
            route: `${each.route.method.toUpperCase()} ${each.route.path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
            asked: new RegExp(
              `^${each.route.method.toUpperCase()} ${API_PATH}${each.route.path.replaceAll(/\{\w+\}/g, '[^/]+').replaceAll('.', '\\.')}$`,
            ),
            responses: each.route.responses as Described['responses'],
          },
        ],
  );

/** They are the same for every user. */
let known: readonly Described[] | undefined;

/** @param told - routes that answered with a success are added. */
export function describedApp<App extends Hono>(
  app: App,
  api: () => Pick<OpenAPIHono, 'openAPIRegistry'>,
  told: Set<string> = new Set(),
): App {
  known ??= routesOf(api());
  const routes = known;
  const { request } = app;
  app.request = async (...args: Parameters<typeof request>) => {
    const answer = await request(...args);
    const [input, init] = args;
    const { pathname } = new URL(input instanceof Request ? input.url : String(input), 'http://localhost');
    const asked = `${init?.method ?? 'GET'} ${pathname}`;
    const route = routes.find((each) => each.asked.test(asked));
    const schema = route?.responses[answer.status]?.content?.['application/json']?.schema;
    if (schema !== undefined) hold(schema as z.ZodType, await answer.clone().json());
    if (route !== undefined && answer.ok) told.add(route.route);
    return answer;
  };
  return app;
}
