import { expect } from 'vitest';
import type { Change } from './change.ts';
import { rejection } from './rejection.ts';

export const aUnit: Change = {
  what: 'a unit: minutes on GPUs',
  filesMax: 3,
  patches: [
    {
      file: 'policies/units/unit.ts',
      before: '} as const satisfies',
      insert: `  gpuSeconds: {
    kind: 'gpu_minutes',
    letter: 'g',
    askedBy: 'budget',
    guessed: true,
    asked: (terms) => terms?.estimateSeconds,
    settled: (seconds) => seconds,
    perWhole: 60,
  },
`,
    },
    {
      file: 'policies/units/unit-texts.ts',
      before: '  starts: {',
      insert: `  gpuSeconds: {
    amount: (amount, _currency, rounding) => \`\${timeText(amount, rounding)} of GPU\`,
    bare: (amount, rounding) => timeText(amount, rounding).replace(/ min$/, ''),
    name: 'GPU minutes',
    wholly: 'all',
    lower: 'Give the job a shorter timeout, or',
    budget: { unnamed: 'A GPU budget', saver: 'a shorter timeout' },
    heading: 'GPU minutes',
    hint: () => 'In minutes on a GPU.',
    words: ['gpumin'],
  },
`,
    },
  ],
  shows: async (load) => {
    const { reason, text } = await rejection(load, {
      rules: [{ id: 'budgets', kind: 'budget', mode: 'enforce' }],
      limits: [{ on: 'instance', gpu_minutes: 100, per: 'month' }],
      committed: 95 * 60,
      timeoutSeconds: 3_600,
    });
    expect(reason).toMatchObject({ code: 'BUDGET_EXHAUSTED', unit: 'gpuSeconds', asked: 600 });
    expect(text).toMatch(/^GPU minutes of the whole GitLab have 5 of 100 min of GPU left/);
    const { encodeClaims, decodeClaims } = await load('functions/core/ledger/record-lines.ts');
    const counter = { subject: 'instance', limit: 'gpu_minutes-month', period: '2026-11' };
    const claim = {
      counter,
      unit: 'gpuSeconds',
      held: 600,
      counted: 0,
      corrected: 0,
      fitted: true,
      checked: true,
    };
    expect(decodeClaims(encodeClaims([claim]))).toEqual([claim]);
  },
};
