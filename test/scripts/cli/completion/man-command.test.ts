import { expect, test } from 'vitest';
import { COMMANDS } from '../../../../scripts/cli/commands.ts';
import { runDesk } from '../desk-run.ts';

test('the manual page has the whole help of every command, and no line of it is taken for a request', async () => {
  const { code, out } = await runDesk(['man'], '/project/');
  expect(code).toBe(0);
  const shown = out.replace(/^\\&/gm, '').replaceAll('\\-', '-').replaceAll('\\e', '\\');
  for (const { name, load } of COMMANDS) {
    expect(shown).toContain(`\n.SS ${name}\n`);
    expect(shown).toContain(`\n${(await load()).help}\n`);
  }
  const requests = new Set(out.match(/^[.'][^ \n]*/gm));
  expect([...requests].toSorted()).toEqual(['.B', '.PP', '.SH', '.SS', '.TH', '.fi', '.nf']);
});
