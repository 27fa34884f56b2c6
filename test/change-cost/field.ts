import { expect } from 'vitest';
import { descOf, messageFrom } from '../support/relay/desc-of.ts';
import type { Change } from './change.ts';

export const aField: Change = {
  what: 'a field from GitLab, recorded for later questions: the kind of runner',
  filesMax: 5,
  patches: [
    {
      file: 'relay/translate/aliases.ts',
      before: "  {\n    field: 'runnerUuid'",
      insert:
        "  { field: 'runnerType', kind: 'text', paths: ['runner_info.type', 'runner_type'], variables: [] },\n",
    },
    {
      file: 'policies/request/request.ts',
      before: '  readonly runnerUuid?',
      insert: '  readonly runnerType?: string;\n',
    },
    { file: 'policies/request/parse-request.ts', before: "  'runnerUuid',\n", insert: "  'runnerType',\n" },
    { file: 'policies/request/recorded.ts', before: "  'suspicious',\n", insert: "  'runnerType',\n" },
    {
      file: 'functions/core/ledger/record-lines.ts',
      before: "  variables: 'va',",
      insert: "  runnerType: 'rt',\n",
    },
    {
      file: 'functions/core/ledger/record-lines.ts',
      before: '  variables: (value) =>',
      insert: '  runnerType: readText,\n',
    },
  ],
  shows: async (load) => {
    const { compileTranslator } = await load('relay/translate/translator.ts');
    const { parseAdmissionRequest } = await load('policies/request/parse-request.ts');
    const { recordedRequestOf, requestOfRecord } = await load('policies/request/recorded.ts');
    const { encodeRequest, decodeRequest } = await load('functions/core/ledger/record-lines.ts');
    const desc = descOf({ job_id: 'int64', runner_info: { type: 'string' } });
    const translate = compileTranslator(desc, {
      variables: { names: [], prefixes: [] },
      trustVariables: false,
    });
    const translated = translate(messageFrom(desc, { job_id: '7', runner_info: { type: 'project_type' } }));
    const asked = { jobId: 7, runnerType: 'project_type' };
    expect(translated).toMatchObject({ ok: true, request: asked });
    const parsed = parseAdmissionRequest(JSON.parse(JSON.stringify(translated.request)));
    expect(parsed).toMatchObject({ ok: true, value: asked });
    const recorded = decodeRequest(encodeRequest(recordedRequestOf(parsed.value, { ancestors: [] }, {})));
    expect(requestOfRecord(7, {}, recorded)).toMatchObject(asked);
  },
};
