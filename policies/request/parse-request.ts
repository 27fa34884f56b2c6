import type { ParseResult } from '../document/parsed.ts';
import { isRecord } from '../document/reading.ts';
import type { AdmissionRequest, ServiceRequest } from './request.ts';
import { FieldReader } from './request-fields.ts';

type Writable<Shape> = { -readonly [Key in keyof Shape]: Shape[Key] };

const TEXTS = [
  'jobName',
  'jobStage',
  'pipelineSource',
  'projectPath',
  'projectVisibility',
  'ref',
  'refType',
  'environment',
  'image',
  'dockerUser',
  'kubernetesUser',
  'runnerUuid',
] as const;

const IDS = [
  'pipelineId',
  'projectId',
  'namespaceId',
  'rootNamespaceId',
  'organizationId',
  'userId',
  'runnerId',
] as const;

/** GitLab's longest job timeout is a month; beyond a year the number is not one. */
const TIMEOUT_SECONDS_MAX = 366 * 86_400;
const TAGS_MAX = 200;
const SUSPICIOUS_MAX = 50;
/** More than a policy may compare. */
const HIDDEN_VARIABLES_MAX = 200;
const SERVICES_MAX = 100;
/** GitLab knows three; the relay passes on no longer list. */
const PULL_POLICIES_MAX = 100;

/**
 * Reads one admission request as it comes in JSON. Absent and `null` are the same; fields that are not ours are passed
 * over, so that a newer relay can talk to an older function. Problems begin with the field and never quote text, which
 * could be a secret that went astray.
 */
export function parseAdmissionRequest(input: unknown): ParseResult<AdmissionRequest> {
  if (!isRecord(input)) return { ok: false, problems: ['request: not an object; expected {"jobId": …}'] };
  const read = new FieldReader(input);
  const request: Writable<AdmissionRequest> = { jobId: read.required('jobId') };
  for (const name of TEXTS) {
    const text = read.text(name);
    if (text !== undefined) request[name] = text;
  }
  for (const name of IDS) {
    const id = read.id(name);
    if (id !== undefined) request[name] = id;
  }
  const timeoutSeconds = read.integer('timeoutSeconds', 0, TIMEOUT_SECONDS_MAX);
  if (timeoutSeconds !== undefined) request.timeoutSeconds = timeoutSeconds;
  const refProtected = read.boolean('refProtected');
  if (refProtected !== undefined) request.refProtected = refProtected;
  const pullPolicies = readPullPolicies(read);
  if (pullPolicies !== undefined) request.pullPolicies = pullPolicies;
  const services = read.records('services', SERVICES_MAX, '{"name": …}', readService);
  if (services !== undefined) request.services = services;
  const jobTags = read.texts('jobTags', TAGS_MAX);
  if (jobTags !== undefined) request.jobTags = jobTags;
  const runnerTags = read.texts('runnerTags', TAGS_MAX);
  if (runnerTags !== undefined) request.runnerTags = runnerTags;
  const suspicious = read.texts('suspicious', SUSPICIOUS_MAX);
  if (suspicious !== undefined) request.suspicious = suspicious;
  const variables = read.variables('variables');
  if (variables !== undefined) request.variables = variables;
  const hiddenVariables = read.texts('hiddenVariables', HIDDEN_VARIABLES_MAX);
  if (hiddenVariables !== undefined) request.hiddenVariables = hiddenVariables;
  return read.problems.length > 0 ? { ok: false, problems: read.problems } : { ok: true, value: request };
}

function readService(read: FieldReader): ServiceRequest | undefined {
  const name = read.requiredText('name', 'an image');
  const alias = read.text('alias');
  const pullPolicies = readPullPolicies(read);
  const dockerUser = read.text('dockerUser');
  const kubernetesUser = read.text('kubernetesUser');
  const variables = read.variables('variables');
  if (name === undefined) return undefined;
  return {
    name,
    ...(alias !== undefined && { alias }),
    ...(pullPolicies !== undefined && { pullPolicies }),
    ...(dockerUser !== undefined && { dockerUser }),
    ...(kubernetesUser !== undefined && { kubernetesUser }),
    ...(variables !== undefined && { variables }),
  };
}

/** An empty list names none, which is what an absent one says. */
function readPullPolicies(read: FieldReader): readonly string[] | undefined {
  const pullPolicies = read.texts('pullPolicies', PULL_POLICIES_MAX);
  return pullPolicies?.length === 0 ? undefined : pullPolicies;
}
