/** Evaluates one admission request: if the schema explains it, and which fields rules will miss. Values are never shown. */
import type { DescMessage } from '@bufbuild/protobuf';
import { sentTimeoutSeconds } from '../../../policies/estimate.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { describeAliases, fieldsWithoutSource } from '../../../relay/translate/alias-sources.ts';
import { compileReader } from '../../../relay/translate/question-reader.ts';
import { resolvePath } from '../../../relay/translate/variables.ts';
import { explain } from '../../../relay/wire/inspect.ts';
import type { WireSchema } from '../../../relay/wire/schema.ts';

/** `note`: worth knowing, nothing to mend; `skipped`: could not be checked. */
export interface DoctorFinding {
  readonly check: string;
  readonly outcome: 'ok' | 'problem' | 'note' | 'skipped';
  readonly detail: string;
  readonly remedy?: string;
}

const finding =
  (outcome: DoctorFinding['outcome']) =>
  (check: string, detail: string, remedy?: string): DoctorFinding => ({
    ...{ check, outcome, detail, ...withoutAbsent({ remedy }) },
  });
export const ok = finding('ok');
export const note = finding('note');
export const problem = finding('problem');
export const skipped = finding('skipped');

export const SYNC = 'get the schema of your GitLab: npm run proto:sync -- --ref <tag>, then --proto';

function fieldsNeverFilled(question: DescMessage): readonly string[] {
  const services = resolvePath(question, 'services')?.leaf.fieldKind === 'list' ? [] : ['services'];
  return [...fieldsWithoutSource(question), ...services];
}

/** Before any question. A job without a timeout is held for the policy's, and may hold too little for as long as it runs. */
export function checkSchemaFields({ question }: WireSchema): readonly DoctorFinding[] {
  const never = fieldsNeverFilled(question);
  return [
    never.length === 0
      ? ok('fields', 'every field of an admission request has a source in the schema')
      : note('fields', `the schema has no source for ${never.join(', ')}; rules that need them never fire`),
    never.includes('timeoutSeconds')
      ? problem('timeout', 'the schema has no source for it: every job gets that of the policy', SYNC)
      : ok('timeout', 'has a source in the schema'),
  ];
}

export function checkQuestion(schema: WireSchema, bytes: Uint8Array): readonly DoctorFinding[] {
  const explained = checkExplained(schema, bytes);
  const options = { variables: { names: [], prefixes: [] }, trustVariables: false };
  const read = compileReader(schema, options)(bytes);
  if (!read.ok) return [explained, problem('decoded', read.problem, SYNC)];
  const { request } = read;
  const fields = describeAliases(schema.question, { trustVariables: false }).map((source) => source.field);
  const absent = fields.filter((field) => request[field] === undefined);
  return [
    explained,
    request.jobId > 0
      ? ok('job id', 'a positive number')
      : problem('job id', 'not positive, so another field is read in its place', SYNC),
    sentTimeoutSeconds(request) === undefined
      ? problem('timeout', 'none came: the job is taken to have the timeout of the policy', SYNC)
      : ok('timeout', 'came'),
    absent.length === 0
      ? ok('presence', 'every field came')
      : note(
          'presence',
          `did not come: ${absent.join(', ')}`,
          'rules follow their on_missing where a field does not come',
        ),
  ];
}

function checkExplained(schema: WireSchema, bytes: Uint8Array): DoctorFinding {
  try {
    const { unknown, contradicted, knownBytes, totalBytes } = explain(schema.question, bytes);
    const detail = `${knownBytes} of ${totalBytes} bytes are known`;
    if (contradicted.length > 0) return problem('explained', `${detail}; ${contradicted.join('; ')}`, SYNC);
    if (unknown.length === 0) return ok('explained', detail);
    return note('explained', `${detail}; unknown: ${unknown.join(', ')}`, SYNC);
  } catch (error) {
    return problem('explained', error instanceof Error ? error.message : String(error), SYNC);
  }
}
