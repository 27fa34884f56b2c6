import { expect } from 'vitest';
import type { Change } from './change.ts';
import { rejection } from './rejection.ts';

export const aRuleKind: Change = {
  what: 'a kind of rule: jobs that ask for too little time',
  filesMax: 3,
  patches: [
    {
      file: 'policies/kinds/timeout-floor/timeout-floor.ts',
      text: `import { DURATION_EXPECTED, readDurationSeconds } from '../../document/duration.ts';
import type { Reading } from '../../document/reading.ts';
import type { Check, StatelessRuleKind } from '../rule-kind.ts';
import type { TimeoutTooShort } from './timeout-floor-text.ts';

export const timeoutFloor: StatelessRuleKind<TimeoutTooShort> = { class: 'cost', keys: ['min'], read: readFloor };

function readFloor(reading: Reading): Check<TimeoutTooShort> {
  const min = reading.at('min');
  const seconds = typeof min.value === 'string' ? readDurationSeconds(min.value) : undefined;
  if (seconds === undefined) min.expected(DURATION_EXPECTED);
  return ({ request: { timeoutSeconds } }) => {
    if (timeoutSeconds === undefined) return [{ code: 'FIELD_MISSING', field: 'timeoutSeconds' }];
    const floor = seconds ?? 0;
    return timeoutSeconds < floor ? [{ code: 'TIMEOUT_TOO_SHORT', timeoutSecondsMin: floor }] : [];
  };
}
`,
    },
    {
      file: 'policies/kinds/timeout-floor/timeout-floor-text.ts',
      text: `import { durationText } from '../../units/unit-texts.ts';
import type { ReasonText } from '../../text/reason-text.ts';

export interface TimeoutTooShort {
  readonly code: 'TIMEOUT_TOO_SHORT';
  readonly timeoutSecondsMin: number;
}

export const timeoutTooShort: ReasonText<TimeoutTooShort> = {
  headline: ({ timeoutSecondsMin }) => \`This job needs a timeout of \${durationText(timeoutSecondsMin)} at least.\`,
  discreetHeadline: () => 'The timeout of this job is too short.',
  line: ({ timeoutSecondsMin }) => \`timeout, at least \${durationText(timeoutSecondsMin)}\`,
  advice: () => ['Retrying will fail again. Set a longer timeout in the job.'],
  faultless: false,
};
`,
    },
    {
      file: 'policies/kinds/kinds.ts',
      before: 'import { variables } from',
      insert: `import { timeoutFloor } from './timeout-floor/timeout-floor.ts';
import { timeoutTooShort } from './timeout-floor/timeout-floor-text.ts';
`,
    },
    { file: 'policies/kinds/kinds.ts', before: '  timeout,\n', insert: "  'timeout-floor': timeoutFloor,\n" },
    {
      file: 'policies/kinds/kinds.ts',
      before: '  TIMEOUT_TOO_LONG:',
      insert: '  TIMEOUT_TOO_SHORT: timeoutTooShort,\n',
    },
  ],
  shows: async (load) => {
    const { reason, text } = await rejection(load, {
      rules: [{ id: 'floor', kind: 'timeout-floor', mode: 'enforce', min: '5m' }],
      timeoutSeconds: 60,
    });
    expect(reason).toEqual({ code: 'TIMEOUT_TOO_SHORT', timeoutSecondsMin: 300 });
    expect(text).toMatch(/^This job needs a timeout of 5 min at least\./);
  },
};
