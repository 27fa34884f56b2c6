import { ReasonLineSchema, RuleNowSchema, waitSeconds } from '../job/model.ts';
import {
  amount,
  count,
  instantMs,
  list,
  maybe,
  micros,
  mode,
  subject,
  text,
  unit,
  z,
} from '../reading/schema.ts';

/** More than any pipeline GitLab makes by default has. */
const CHECKED_JOBS_MAX = 1_000;

const NAME_CHARACTERS_MAX = 255;
const IMAGE_CHARACTERS_MAX = 1_024;
const LIST_MAX = 50;
const ID_MAX = 999_999_999_999_999;

const name = z.string().min(1).max(NAME_CHARACTERS_MAX);
const image = z.string().max(IMAGE_CHARACTERS_MAX);
const user = z.string().max(NAME_CHARACTERS_MAX);
const few = <Schema extends z.ZodType>(schema: Schema) => z.array(schema).max(LIST_MAX).readonly();
const variables = z.record(name, image).refine((all) => Object.keys(all).length <= LIST_MAX, 'too many');
const containers = {
  pullPolicies: maybe(few(name)),
  dockerUser: maybe(user),
  kubernetesUser: maybe(user),
};

const AskedPipelineJobSchema = z
  .strictObject({
    name,
    stage: maybe(name).openapi({ description: 'Stages follow each other: what is given back counts once.' }),
    parallel: maybe(z.int().min(1).max(CHECKED_JOBS_MAX)).openapi({ description: 'So many jobs like this.' }),
    tags: few(name).openapi({ description: 'Of its runner; empty: untagged.' }),
    image: maybe(image).openapi({ description: 'With its variables put in.' }),
    ...containers,
    services: maybe(
      few(z.strictObject({ name: image, alias: maybe(name), ...containers, variables: maybe(variables) })),
    ),
    environment: maybe(name),
    timeoutSeconds: maybe(z.int().positive().max(ID_MAX)),
    estimateSeconds: maybe(z.int().positive().max(ID_MAX)).openapi({
      description: 'How long it will run. Absent: as its last runs and the policy say.',
    }),
    variables: maybe(variables).openapi({ description: 'Those that rules may read.' }),
    hiddenVariables: maybe(few(name)).openapi({ description: 'Names that are set to what nobody can tell.' }),
  })
  .openapi('AskedPipelineJob');

export type AskedPipelineJob = z.infer<typeof AskedPipelineJobSchema>;

export const AskedPipelineSchema = z
  .strictObject({
    project: maybe(z.union([z.int().positive().max(ID_MAX), name])).openapi({
      description: 'Id or full path. A job asks about its own, and names none.',
      example: 'acme/payments/checkout',
    }),
    group: maybe(z.union([z.int().positive().max(ID_MAX), name])).openapi({
      description: 'In place of a project, where the project itself does not matter.',
    }),
    ref: maybe(name),
    refProtected: maybe(z.boolean()),
    pipelineSource: maybe(name),
    userId: maybe(z.int().positive().max(ID_MAX)),
    rerun: maybe(z.int().positive().max(ID_MAX)).openapi({
      description: 'In place of all else: this job once more, as it was asked about last.',
    }),
    jobs: maybe(
      z
        .array(AskedPipelineJobSchema)
        .min(1)
        .max(CHECKED_JOBS_MAX)
        .readonly()
        .refine(
          (jobs) => jobs.reduce((sum, { parallel = 1 }) => sum + parallel, 0) <= CHECKED_JOBS_MAX,
          `more than ${CHECKED_JOBS_MAX} jobs in all`,
        ),
    ),
  })
  .refine(({ jobs, rerun }) => (jobs === undefined) !== (rerun === undefined), 'expected jobs or rerun')
  .openapi('AskedPipeline', { description: 'Jobs as their file expands to, and of which ref.' });

export type AskedPipeline = z.infer<typeof AskedPipelineSchema>;

const CheckedJobSchema = z
  .object({
    name: text(),
    parallel: count('So many alike.'),
    outcome: z.enum(['admitted', 'rejected', 'not sure']).openapi({
      description: 'Each as if it came alone. Not sure: a rule needs what was not said of it.',
    }),
    waitSeconds,
    runnerClass: text(),
    estimateSeconds: amount(),
    costMicros: micros('Of one of them, at the prices of now.'),
    reasons: list(ReasonLineSchema).openapi({
      description: 'What is against it, also where it only watches.',
    }),
    rules: maybe(list(RuleNowSchema)).openapi({
      description: 'Every rule of the policy. Only where one job is asked about.',
    }),
    text: maybe(
      text('As its page in GitLab would say. Only of one job that is asked about, if it is rejected.'),
    ),
  })
  .openapi('CheckedJob');

export type CheckedJobRow = z.infer<typeof CheckedJobSchema>;

const LimitLeftSchema = z
  .object({
    subject: subject(),
    label: text('Path of the group or project.'),
    limit: text('Its id.'),
    unit,
    mode,
    asked: amount('By the whole pipeline, as estimated; of what is used at once, by its largest stage.'),
    jobs: count('That ask it.'),
    amount: amount('What is in force.'),
    left: amount('Now. Below 0: passed.'),
    fits: z.boolean().openapi({ description: 'Whether as much is left as is asked.' }),
    periodLabel: maybe(text('For people: `November 2026`. Absent: of what is used at once.')),
    renewsAtMs: maybe(instantMs('Unix ms: when it starts anew.')),
  })
  .openapi('LimitLeft');

export type LimitLeftRow = z.infer<typeof LimitLeftSchema>;

export const CheckedPipelineSchema = z
  .object({
    currency: text('ISO 4217.'),
    nowMs: instantMs(),
    place: z.object({ subject: subject(), path: text() }),
    jobs: list(CheckedJobSchema).openapi({ description: 'In the order they were asked.' }),
    total: z.object({ jobs: count(), costMicros: micros(), rejected: count(), notSure: count() }),
    limits: list(LimitLeftSchema).openapi({ description: 'The closest first, as far as they may be told.' }),
    limitsHidden: count('Others that these jobs would take of.'),
  })
  .openapi('CheckedPipeline');

export type CheckedPipeline = z.infer<typeof CheckedPipelineSchema>;

export type PipelineAnswer =
  | { readonly outcome: 'checked'; readonly pipeline: CheckedPipeline }
  /** No such project, group or job, or it is not theirs to see. */
  | { readonly outcome: 'unknown' }
  /** The recorded job has no stored request. */
  | { readonly outcome: 'unrecorded' };
