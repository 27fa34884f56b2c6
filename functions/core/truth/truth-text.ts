/** A webhook's hint about a job, as it waits in the inbox: JSON of a few hundred bytes. */
import { isRecord } from '../../../policies/document/reading.ts';
import { JOB_STATUSES, type JobTruth } from '../gitlab/index.ts';
import type { WebhookHint } from './webhook-hints.ts';

/** A write unit is 1 KB. Long labels must not make an item that the table refuses. */
const TEXT_CHARACTERS_MAX = 8_192;

/** Labels to drop from a text that is too long, least important first. Ids, status and times stay. */
const LABELS = ['ref', 'environment', 'jobStage', 'runnerTags', 'jobName', 'projectPath'] as const;

export function hintText({ groupId, truth }: WebhookHint): string {
  const shortened: { -readonly [Name in keyof JobTruth]: JobTruth[Name] } = { ...truth };
  let text = JSON.stringify({ groupId, ...shortened });
  for (const label of LABELS) {
    if (text.length <= TEXT_CHARACTERS_MAX) break;
    delete shortened[label];
    text = JSON.stringify({ groupId, ...shortened });
  }
  return text;
}

/** Returns undefined for a text that `hintText` has not written. */
export function parseHintText(text: string): WebhookHint | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(value)) return undefined;
  const { groupId, ...truth } = value;
  return isId(groupId) && isTruth(truth) ? { groupId, truth } : undefined;
}

const TEXTS = ['projectPath', 'jobName', 'jobStage', 'ref', 'environment', 'failureReason'];
const IDS = ['pipelineId', 'userId', 'runnerId'];
const NUMBERS = [
  'createdAtMs',
  'startedAtMs',
  'finishedAtMs',
  'durationSeconds',
  'retryCount',
  'queuedSeconds',
];

function isTruth(value: unknown): value is JobTruth {
  if (typeof value !== 'object' || value === null) return false;
  const fields = new Map(Object.entries(value));
  const each = (names: readonly string[], holds: (field: unknown) => boolean): boolean =>
    names.every((name) => fields.get(name) === undefined || holds(fields.get(name)));
  const tags = fields.get('runnerTags');
  return (
    isId(fields.get('jobId')) &&
    isId(fields.get('projectId')) &&
    JOB_STATUSES.some((status) => status === fields.get('status')) &&
    each(TEXTS, (field) => typeof field === 'string') &&
    each(IDS, isId) &&
    each(NUMBERS, Number.isFinite) &&
    (tags === undefined || (Array.isArray(tags) && tags.every((tag) => typeof tag === 'string')))
  );
}

const isId = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) > 0;
