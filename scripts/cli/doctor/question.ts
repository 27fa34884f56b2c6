/**
 * Evaluates one admission request: if the schema explains it, and which fields rules will miss. Values are
 * never shown.
 */

import type { DescField, DescMessage } from '@bufbuild/protobuf';
import { sentTimeoutSeconds } from '../../../policies/estimate.ts';
import { neededFields } from '../../../policies/needed-fields.ts';
import type { Policy } from '../../../policies/policy.ts';
import type { AdmissionRequest, ServiceRequest } from '../../../policies/request/request.ts';
import type { MissingFieldPolicy } from '../../../policies/rule.ts';
import { describeAliases, fieldsWithoutSource } from '../../../relay/translate/alias-sources.ts';
import { DOCKER_USER, KUBERNETES_USER, PULL_POLICY } from '../../../relay/translate/aliases.ts';
import { compileReader } from '../../../relay/translate/question-reader.ts';
import { isTextField, isTexts } from '../../../relay/translate/value-reader.ts';
import { findVariables, resolvePath } from '../../../relay/translate/variables.ts';
import { explain } from '../../../relay/wire/inspect.ts';
import type { WireSchema } from '../../../relay/wire/schema.ts';
import { type DoctorFinding, note, ok, problem } from './finding.ts';

const SYNC = 'get the schema of your GitLab: npm run proto:sync -- --ref <tag>, then --proto';
/** `name`, `name:tag`, `registry:5000/path/name@sha256:…`. */
const IMAGE = /^[a-z0-9][\w.-]*(:\d+)?(\/[\w.-]+)*(:[\w.-]+)?(@sha256:[0-9a-f]{64})?$/i;

/** Before any question: fields this schema can never fill. */
export function checkSchemaFields(schema: WireSchema): DoctorFinding {
  const never = fieldsWithoutSource(schema.question);
  if (never.length === 0)
    return ok('fields', 'every field of an admission request has a source in the schema');
  return note('fields', `the schema has no source for ${never.join(', ')}; rules that need them never fire`);
}

/** Before any question: a job without a timeout is held for the policy's, and may hold too little for as long as it runs. */
export function checkTimeoutSource(schema: WireSchema): DoctorFinding {
  return fieldsWithoutSource(schema.question).includes('timeoutSeconds')
    ? problem(
        'timeout',
        'the schema has no source for it: every job is taken to have the timeout of the policy',
        SYNC,
      )
    : ok('timeout', 'has a source in the schema');
}

const checkTimeout = (request: AdmissionRequest): DoctorFinding =>
  sentTimeoutSeconds(request) === undefined
    ? problem('timeout', 'none came: the job is taken to have the timeout of the policy', SYNC)
    : ok('timeout', 'came');

/** Before any question: where the fields of a job's services come from. */
export function checkServiceFields(schema: WireSchema): DoctorFinding {
  const fields = serviceFields(schema.question);
  if (fields.length === 0) return note('services', 'the schema has no services; rules on them never fire');
  const known = fields.flatMap(({ field, path }) => (path === undefined ? [] : [`${field} from ${path}`]));
  const never = fields.flatMap(({ field, path }) => (path === undefined ? [field] : []));
  return never.length === 0
    ? ok('services', known.join(', '))
    : note('services', `${known.join(', ')}; no source for ${never.join(', ')}`);
}

export function checkQuestion(schema: WireSchema, bytes: Uint8Array): readonly DoctorFinding[] {
  const explained = checkExplained(schema, bytes);
  const read = compileReader(schema, { variables: { names: [], prefixes: [] }, trustVariables: false })(
    bytes,
  );
  if (!read.ok) return [...explained, problem('decoded', read.problem, SYNC)];
  return [
    ...explained,
    checkJobId(read.request),
    checkTimeout(read.request),
    checkImage(read.request),
    checkPresence(read.request, schema),
  ];
}

function checkExplained(schema: WireSchema, bytes: Uint8Array): DoctorFinding[] {
  try {
    const { unknown, contradicted, knownBytes, totalBytes } = explain(schema.question, bytes);
    const percent = totalBytes === 0 ? 0 : Math.round((knownBytes / totalBytes) * 100);
    const detail = `${percent} % of ${totalBytes} bytes are known`;
    if (contradicted.length > 0) return [problem('explained', `${detail}; ${contradicted.join('; ')}`, SYNC)];
    if (unknown.length === 0) return [ok('explained', detail)];
    return [note('explained', `${detail}; unknown: ${unknown.join(', ')}`, SYNC)];
  } catch (error) {
    return [problem('explained', error instanceof Error ? error.message : String(error), SYNC)];
  }
}

const checkJobId = ({ jobId }: AdmissionRequest): DoctorFinding =>
  jobId > 0
    ? ok('job id', 'a positive number')
    : problem('job id', 'not positive, so another field is read in its place', SYNC);

function checkImage({ image }: AdmissionRequest): DoctorFinding {
  if (image === undefined) return note('image', 'none came; was the job without an image?');
  return IMAGE.test(image)
    ? ok('image', 'looks like an image')
    : problem('image', 'does not look like an image, so another field is read in its place', SYNC);
}

function checkPresence(request: AdmissionRequest, schema: WireSchema): DoctorFinding {
  const fields = describeAliases(schema.question, { trustVariables: false }).map((source) => source.field);
  const ofServices = cameWithServices(request, schema);
  const came = [...fields.filter((field) => request[field] !== undefined), ...ofServices.came];
  const absent = [...fields.filter((field) => request[field] === undefined), ...ofServices.absent];
  const detail = `came: ${came.join(', ')}; did not: ${absent.join(', ') || 'nothing'}`;
  return absent.length === 0
    ? ok('presence', detail)
    : note('presence', detail, 'rules follow their on_missing where a field does not come');
}

/** `services[].pullPolicies` was sent if any service has it. A job without services shows nothing. */
function cameWithServices(
  { services }: AdmissionRequest,
  schema: WireSchema,
): { readonly came: readonly string[]; readonly absent: readonly string[] } {
  if (services === undefined || services.length === 0) return { came: [], absent: [] };
  const fields = serviceFields(schema.question).map(({ field }) => field);
  const isThere = (field: (typeof fields)[number]): boolean =>
    services.some((service) => service[field] !== undefined);
  const named = (field: string): string => `services[].${field}`;
  return {
    came: fields.filter(isThere).map(named),
    absent: fields.filter((field) => !isThere(field)).map(named),
  };
}

/** Effect on every job that such a rule matches. */
const WITHOUT_IT: Readonly<Record<MissingFieldPolicy, string>> = {
  admit: 'never rejects',
  skip: 'never applies',
  reject: 'rejects every job it may be about',
};

/** Before any question: rules that never apply, because a field they need has no source in the schema. */
export function checkRules(policy: Policy, question: DescMessage, nowMs: number): readonly DoctorFinding[] {
  const never = new Set(fieldsWithoutSource(question));
  if (serviceFields(question).length === 0) never.add('services');
  const blind = policy.rules
    .filter((rule) => rule.mode !== 'off')
    .flatMap((rule) => {
      const fields = neededFields(rule, policy, nowMs).filter((field) => never.has(field));
      return fields.length === 0 ? [] : [{ rule, fields }];
    });
  if (blind.length === 0) return [ok('rules', 'every rule has the fields it needs')];
  return blind.map(({ rule: { id, onMissing, mode }, fields }) => {
    const detail = `${id} ${WITHOUT_IT[onMissing]}: the schema has no source for ${fields.join(', ')}`;
    const remedy = `on_missing of the rule is ${onMissing}, its mode ${mode}`;
    return onMissing === 'reject' ? problem('rules', detail, remedy) : note('rules', detail, remedy);
  });
}

// Lists fields of services in this schema: rules on pull policies and users also read `services[]`.

interface ServiceField {
  readonly field: keyof ServiceRequest;
  /** As the schema spells it, from the question on: `services[].pull_policies`. Undefined: the schema has none. */
  readonly path: string | undefined;
}

const PATHS: readonly (readonly [keyof ServiceRequest, readonly string[], (field: DescField) => boolean])[] =
  [
    ['name', ['name', 'image'], isTextField],
    ['alias', ['alias'], isTextField],
    ['pullPolicies', PULL_POLICY, isTexts],
    ['dockerUser', DOCKER_USER, isTextField],
    ['kubernetesUser', KUBERNETES_USER, isTextField],
  ];

/** Every field of a service with its path; empty where the schema has no services. */
export function serviceFields(question: DescMessage): readonly ServiceField[] {
  const services = resolvePath(question, 'services');
  if (services?.leaf.fieldKind !== 'list') return [];
  const at = `${services.path}[]`;
  if (services.leaf.listKind !== 'message') return [{ field: 'name', path: at }];
  const { message } = services.leaf;
  const variables = findVariables(message);
  return [
    ...PATHS.map(([field, paths, fits]): ServiceField => {
      const [found] = paths
        .flatMap((path) => resolvePath(message, path) ?? [])
        .filter(({ leaf }) => fits(leaf));
      return { field, path: found && `${at}.${found.path}` };
    }),
    { field: 'variables', path: variables && `${at}.${variables.path}` },
  ];
}
