import { expect } from 'vitest';
import type { Change } from './change.ts';

export const aCommand: Change = {
  what: 'a command: in what limits may count',
  filesMax: 2,
  patches: [
    {
      file: 'scripts/cli/limits/units-command.ts',
      text: `import { UNIT_OF } from '../../../policies/units/unit.ts';
import { type Command, EXIT } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';

export const unitsCommand: Command = {
  name: 'limits units',
  summary: 'In what may a limit count?',
  help: 'tollgate limits units\\n\\nLists what a limit may count in, one a line.',
  async run(args, io) {
    readFlags(args, {}, { max: 0, what: 'nothing' });
    for (const name of Object.keys(UNIT_OF)) io.out(\`\${name}\\n\`);
    return EXIT.ok;
  },
};
`,
    },
    {
      file: 'scripts/cli/commands.ts',
      before: `  {
    name: 'completion',`,
      insert: `  {
    name: 'limits units',
    summary: 'In what may a limit count?',
    load: async () => (await import('./limits/units-command.ts')).unitsCommand,
  },
`,
    },
  ],
  shows: async (load) => {
    const { runTollgate } = await load('scripts/cli/run-tollgate.ts');
    const { COMMANDS } = await load('scripts/cli/commands.ts');
    const says = async (...args: readonly string[]): Promise<string> => {
      let said = '';
      const out = (text: string): void => {
        said += text;
      };
      const io = {
        out,
        err: out,
        colours: false,
        progress: false,
        columns: 120,
        cwd: '/',
        root: '/',
        env: {},
      };
      const code = await runTollgate(args, { ...io, nowMs: () => 0 }, COMMANDS);
      expect([code, said]).toEqual([0, said]);
      return said;
    };
    expect(await says('limits', 'units', '--help')).toMatch(/^tollgate limits units\n/);
    expect(await says('limits', 'units')).toContain('money\n');
    expect(await says('limits', '--help')).toContain('In what may a limit count?');
  },
};
